#include <utility>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/memory.hpp"
#include "csr/row_lanes.cuh"
#include "kernels/jacobi/settling.hpp"
#include "kernels/jacobi/settling_cuda.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::kElementBlock;
using cuda::kWarpSize;

/// now null: scattered(). change: null, or where ‖next − now‖₁ is added to. Whole warps take part.
template <int Lanes>
__global__ void settling_sweep(CsrView a, const double* now, double* next, double* change) {
  const auto i = static_cast<Index>(element() / Lanes);
  const int rank = static_cast<int>(threadIdx.x) % Lanes;
  const bool inside = i < a.pattern.rows;
  SettlingRow row;
  if (inside) row = settling_share(a, i, now, rank, Lanes);
#pragma unroll
  for (int offset = Lanes / 2; offset > 0; offset /= 2) {
    row.merge(
        {__shfl_xor_sync(cuda::kFullWarp, row.diagonal, offset), __shfl_xor_sync(cuda::kFullWarp, row.beside, offset)});
  }
  double mine = 0.0;
  if (inside && rank == 0) {
    next[i] = row.result();
    mine = fabs(next[i] - (now != nullptr ? now[i] : scattered(i)));
  }
  if (change == nullptr) return;
#pragma unroll
  for (int offset = kWarpSize / 2; offset > 0; offset /= 2) mine += __shfl_xor_sync(cuda::kFullWarp, mine, offset);
  if (threadIdx.x % kWarpSize == 0) atomicAdd(change, mine);
}

}  // namespace

double cuda_settling(const DevicePattern& pattern, const double* values, cudaStream_t stream) {
  cuda::ScratchArray<double> first(static_cast<std::size_t>(pattern.rows), stream);
  cuda::ScratchArray<double> second(first.size(), stream);
  const cuda::ScratchArray<double> change(1, stream);
  cuda::check(cudaMemsetAsync(change.data(), 0, sizeof(double), stream), "clearing a sum");
  const CsrView a{{pattern.rows, pattern.rows, pattern.row_offsets, pattern.col_indices}, values};
  const double* now = nullptr;
  double* next = first.data();
  for (int sweep = 1; sweep <= kSettlingSweeps; ++sweep) {
    double* const sum = sweep == kSettlingSweeps ? change.data() : nullptr;
    with_row_lanes(lanes_of_average_row(pattern.rows, pattern.entries), pattern.rows, [&](auto lanes, int blocks) {
      settling_sweep<decltype(lanes)::value><<<blocks, kElementBlock, 0, stream>>>(a, now, next, sum);
    });
    cuda::check_launch("settling_sweep");
    now = next;
    next = next == first.data() ? second.data() : first.data();
  }
  return cuda::fetch(change.data(), stream);
}

}  // namespace taskdag::kernels

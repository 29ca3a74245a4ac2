#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/memory.hpp"
#include "csr/row_lanes.cuh"
#include "kernels/jacobi/symmetry.hpp"
#include "kernels/jacobi/symmetry_cuda.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::kElementBlock;

/// Sets *differs where an entry has no equal one across the diagonal. What another row has found ends the search of
/// rows that begin later: the race only decides how much is looked at.
template <int Lanes>
__global__ void symmetry_kernel(CsrView a, int* differs) {
  const auto row = static_cast<Index>(element() / Lanes);
  if (row >= a.pattern.rows || *static_cast<volatile const int*>(differs) != 0) return;
  if (!symmetric_share(a, row, static_cast<int>(threadIdx.x) % Lanes, Lanes)) atomicExch(differs, 1);
}

}  // namespace

bool cuda_symmetric(const DevicePattern& pattern, const double* values, cudaStream_t stream) {
  if (pattern.rows == 0) return true;
  const cuda::ScratchArray<int> differs(1, stream);
  cuda::check(cudaMemsetAsync(differs.data(), 0, sizeof(int), stream), "clearing a flag");
  const CsrView a{{pattern.rows, pattern.rows, pattern.row_offsets, pattern.col_indices}, values};
  with_row_lanes(lanes_of_average_row(pattern.rows, pattern.entries), pattern.rows, [&](auto lanes, int blocks) {
    symmetry_kernel<decltype(lanes)::value><<<blocks, kElementBlock, 0, stream>>>(a, differs.data());
  });
  cuda::check_launch("symmetry_kernel");
  return cuda::fetch(differs.data(), stream) == 0;
}

}  // namespace taskdag::kernels

/// \file
/// How much more than rounding inverted supernodes may lose in a row.
#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/raise.cuh"
#include "backends/cuda/seam.cuh"
#include "kernels/sptrsv/schedules/supernodes/invert.hpp"
#include "kernels/sptrsv/schedules/supernodes/order.hpp"

namespace taskdag::kernels::supernodes {
namespace {

using cuda::element;
using cuda::kWarpSize;

/// What a row is made of.
struct Values {
  Blocks b;
  SweepOrder order;
  const double* source;
  const double* pivot;  // null: all 1

  [[nodiscard]] __device__ double entry(Offset e) const { return fabs(source[b.source_entry ? b.source_entry[e] : e]); }
  [[nodiscard]] __device__ double diagonal(Index row) const { return pivot ? 1.0 / fabs(pivot[row]) : 1.0; }
  /// Of `row` and the row t of its supernode.
  [[nodiscard]] __device__ double inner(Index row, Index t) const {
    return t == b.number[row] ? diagonal(row) : entry(inner_entry(order, b.outer_first[row], b.outer_count[row], t));
  }
};

/// Σ_j |a_ij| over the whole row, the diagonal included. A warp a row.
__global__ void sum_rows(const Values v, double* size) {
  const auto row = static_cast<Index>(element() / kWarpSize);
  if (row >= v.b.rows) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  double sum = 0.0;
  for (Index t = lane; t <= v.b.number[row]; t += kWarpSize) sum += v.inner(row, t);
  for (Index k = lane; k < v.b.outer_count[row]; k += kWarpSize) sum += v.entry(v.b.outer_first[row] + k);
  sum = cuda::LaneGroup(lane, kWarpSize).sum(sum);
  if (lane == 0) size[row] = sum;
}

/// (|D| |D⁻¹| size)_i / size_i for row number s of the sweep.
__device__ double loss_of(const Values& v, const double* size, Index s) {
  if (s >= v.b.rows) return 1.0;
  const Index row = v.order(s);
  const Index mine = v.b.number[row];
  double sum = 0.0;
  for (Index t = 0; t <= mine; ++t) {
    const double* const inverse = v.b.inverse + std::int64_t{v.order(s - mine + t)} * v.b.most_rows;
    double through = 0.0;
    for (Index q = 0; q <= t; ++q) through += fabs(inverse[q]) * size[v.order(s - mine + q)];
    sum += v.inner(row, t) * through;
  }
  return sum / size[row];
}

__global__ void compare_rows(const Values v, const double* size, double* most) {
  cuda::raise_to(most, loss_of(v, size, static_cast<Index>(element())));
}

}  // namespace

void measure_loss(const Blocks& blocks, const double* source, const double* pivot, double* size, double* most,
                  cudaStream_t stream) {
  if (blocks.rows == 0) return;
  const Values values{blocks, {blocks.rows, blocks.lower}, source, pivot};
  sum_rows<<<cuda::element_blocks(std::int64_t{blocks.rows} * kWarpSize), cuda::kElementBlock, 0, stream>>>(values,
                                                                                                            size);
  cuda::check_launch("sum_rows");
  compare_rows<<<cuda::element_blocks(blocks.rows), cuda::kElementBlock, 0, stream>>>(values, size, most);
  cuda::check_launch("compare_rows");
}

}  // namespace taskdag::kernels::supernodes

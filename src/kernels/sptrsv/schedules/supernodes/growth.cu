#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/reduce.cuh"
#include "kernels/sptrsv/schedules/supernodes/invert.hpp"
#include "kernels/sptrsv/schedules/supernodes/order.hpp"

namespace taskdag::kernels::supernodes {
namespace {

using cuda::element;

/// What a row is made of.
struct Values {
  Blocks b;
  SweepOrder order;
  const double* source;
  const double* pivot;  // null: all 1

  [[nodiscard]] __device__ double entry(Offset e) const { return fabs(source[b.source_entry ? b.source_entry[e] : e]); }
  [[nodiscard]] __device__ double diagonal(Index row) const { return pivot ? 1.0 / fabs(pivot[row]) : 1.0; }
  /// Of `row` and the row at place t of its supernode.
  [[nodiscard]] __device__ double inner(Index row, Index t) const {
    return t == b.place[row] ? diagonal(row) : entry(inner_entry(order, b.outer_first[row], b.outer_count[row], t));
  }
};

/// Σ_j |a_ij| over the whole row, the diagonal included.
__global__ void sum_rows(const Values v, double* size) {
  const auto row = static_cast<Index>(element());
  if (row >= v.b.rows) return;
  double sum = 0.0;
  for (Index t = 0; t <= v.b.place[row]; ++t) sum += v.inner(row, t);
  for (Index k = 0; k < v.b.outer_count[row]; ++k) sum += v.entry(v.b.outer_first[row] + k);
  size[row] = sum;
}

/// (|D| |D⁻¹| size)_i / size_i.
__global__ void compare_rows(const Values v, const double* size, double* growth) {
  const auto s = static_cast<Index>(element());
  if (s >= v.b.rows) return;
  const Index row = v.order(s);
  const Index mine = v.b.place[row];
  double sum = 0.0;
  for (Index t = 0; t <= mine; ++t) {
    const double* const inverse = v.b.inverse + std::int64_t{v.order(s - mine + t)} * v.b.most_rows;
    double through = 0.0;
    for (Index q = 0; q <= t; ++q) through += fabs(inverse[q]) * size[v.order(s - mine + q)];
    sum += v.inner(row, t) * through;
  }
  growth[row] = sum / size[row];
}

}  // namespace

double growth(const Blocks& blocks, const double* source, const double* pivot, cudaStream_t stream) {
  if (blocks.rows == 0) return 1.0;
  const auto rows = static_cast<std::size_t>(blocks.rows);
  const cuda::ScratchArray<double> size(rows, stream);
  const cuda::ScratchArray<double> of_row(rows, stream);
  const Values values{blocks, {blocks.rows, blocks.lower}, source, pivot};
  const int grid = cuda::element_blocks(blocks.rows);
  sum_rows<<<grid, cuda::kElementBlock, 0, stream>>>(values, size.data());
  cuda::check_launch("sum_rows");
  compare_rows<<<grid, cuda::kElementBlock, 0, stream>>>(values, size.data(), of_row.data());
  cuda::check_launch("compare_rows");
  return cuda::largest(of_row.data(), blocks.rows, stream);
}

}  // namespace taskdag::kernels::supernodes

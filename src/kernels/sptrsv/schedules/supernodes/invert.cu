#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/seam.cuh"
#include "kernels/sptrsv/schedules/supernodes/invert.hpp"
#include "kernels/sptrsv/schedules/supernodes/order.hpp"

namespace taskdag::kernels::supernodes {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::kWarpSize;

__device__ SweepOrder order_of(const Blocks& b) { return {b.rows, b.lower}; }

__device__ double* inverse_of(const Blocks& b, Index row) { return b.inverse + std::int64_t{row} * b.most_rows; }

/// Row `number` of the supernode of the row that is number s of the sweep and row `mine` there.
__device__ Index row_at(const SweepOrder& order, Index s, Index mine, Index number) { return order(s - mine + number); }

/// A thread a supernode: forward substitution with the columns of the unit matrix.
__global__ void invert_blocks(Blocks b, const double* source, const double* pivot) {
  const auto s = static_cast<Index>(element());
  if (s >= b.rows) return;
  const SweepOrder order = order_of(b);
  if (b.number[order(s)] != 0) return;
  for (Index p = 0; s + p < b.rows; ++p) {
    const Index row = order(s + p);
    if (b.number[row] != p) return;
    const double inverse_pivot = pivot ? pivot[row] : 1.0;
    double* const mine = inverse_of(b, row);
    for (Index q = 0; q < p; ++q) {
      double sum = 0.0;
      for (Index t = q; t < p; ++t) {
        const Offset e = inner_entry(order, b.outer_first[row], b.outer_count[row], t);
        sum += source[b.source_entry ? b.source_entry[e] : e] * inverse_of(b, row_at(order, s, 0, t))[q];
      }
      mine[q] = -inverse_pivot * sum;
    }
    mine[p] = inverse_pivot;
  }
}

/// A warp a row.
__global__ void load_outer(Blocks b, const double* source, double* values) {
  const auto s = static_cast<Index>(element() / kWarpSize);
  if (s >= b.rows) return;
  const SweepOrder order = order_of(b);
  const Index row = order(s);
  const Index mine = b.number[row];
  const double* const inverse = inverse_of(b, row);
  for (Index k = static_cast<Index>(threadIdx.x) % kWarpSize; k < b.outer_count[row]; k += kWarpSize) {
    double sum = 0.0;
    for (Index q = 0; q <= mine; ++q) {
      const Offset e = b.outer_first[row_at(order, s, mine, q)] + k;
      sum += inverse[q] * source[b.source_entry ? b.source_entry[e] : e];
    }
    values[b.outer_first[row] + k] = sum;
  }
}

__global__ void scale_rows(Blocks b, const double* rhs, const Index* rhs_index, double* scaled) {
  const auto s = static_cast<Index>(element());
  if (s >= b.rows) return;
  const SweepOrder order = order_of(b);
  const Index row = order(s);
  const Index mine = b.number[row];
  const double* const inverse = inverse_of(b, row);
  double sum = 0.0;
  for (Index q = 0; q <= mine; ++q) {
    const Index other = row_at(order, s, mine, q);
    sum += inverse[q] * rhs[rhs_index ? rhs_index[other] : other];
  }
  scaled[row] = sum;
}

}  // namespace

void load_values(const Blocks& blocks, const double* source, const double* pivot, double* values, cudaStream_t stream) {
  if (blocks.rows == 0) return;
  invert_blocks<<<element_blocks(blocks.rows), kElementBlock, 0, stream>>>(blocks, source, pivot);
  cuda::check_launch("invert_blocks");
  load_outer<<<element_blocks(std::int64_t{blocks.rows} * kWarpSize), kElementBlock, 0, stream>>>(blocks, source,
                                                                                                  values);
  cuda::check_launch("load_outer");
}

void scale(const Blocks& blocks, const double* rhs, const Index* rhs_index, double* scaled, cudaStream_t stream) {
  if (blocks.rows == 0) return;
  scale_rows<<<element_blocks(blocks.rows), kElementBlock, 0, stream>>>(blocks, rhs, rhs_index, scaled);
  cuda::check_launch("scale_rows");
}

}  // namespace taskdag::kernels::supernodes

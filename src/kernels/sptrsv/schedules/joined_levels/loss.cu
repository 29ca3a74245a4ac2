/// \file
/// How much more than rounding joined levels may lose in a row.
#include <algorithm>
#include <bit>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/raise.cuh"
#include "backends/cuda/seam.cuh"
#include "kernels/sptrsv/schedules/joined_levels/join.hpp"

namespace taskdag::kernels::joined {
namespace {

using cuda::kWarpSize;

struct Values {
  Index rows;
  const Offset* row_offsets;
  const double* value;
  const double* pivot;
  const Offset* substituted_begin;
  const Index* substituted_row;
  const double* coefficient;
};

/// weight_i = Σ_j |value_ij|. For a row s that others have substituted, which is not rewritten itself, these are the
/// |p_s a_sj|. Some lanes a row.
__global__ void weigh_rows(const Values v, int lanes, double* weight) {
  const cuda::LaneGroup group(static_cast<int>(threadIdx.x) % kWarpSize, lanes);
  const std::int64_t i = cuda::element() / lanes;
  double sum = 0.0;
  if (i < v.rows) {
    for (Offset e = v.row_offsets[i] + group.rank(); e < v.row_offsets[i + 1]; e += lanes) sum += fabs(v.value[e]);
  }
  sum = group.sum(sum);
  if (i < v.rows && group.rank() == 0) weight[i] = sum;
}

/// Some lanes a row.
__global__ void compare_rows(const Values v, int lanes, const double* weight, double* most) {
  const cuda::LaneGroup group(static_cast<int>(threadIdx.x) % kWarpSize, lanes);
  const std::int64_t i = cuda::element() / lanes;
  double plain = 0.0;  // Σ_s |p_i a_is|
  double moved = 0.0;  // Σ_s |p_i a_is| Σ_j |p_s a_sj|
  if (i < v.rows) {
    for (Offset k = v.substituted_begin[i] + group.rank(); k < v.substituted_begin[i + 1]; k += lanes) {
      const Index s = v.substituted_row[k];
      const double entry = fabs(v.coefficient[k] / v.pivot[s]);
      plain += entry;
      moved += entry * weight[s];
    }
  }
  plain = group.sum(plain);
  moved = group.sum(moved);
  cuda::raise_to(most, 1.0 + moved / (1.0 + plain));
}

int lanes_for(Offset items, Index rows) {
  const auto mean = static_cast<unsigned>(items / rows + 1);
  return static_cast<int>(std::min(std::bit_ceil(mean), static_cast<unsigned>(kWarpSize)));
}

}  // namespace

void measure_loss(const JoinedTriangle& triangle, const JoinedValues& values, double* most, cudaStream_t stream) {
  if (triangle.entries == 0) return;
  const Values v{triangle.rows,
                 triangle.row_offsets.data(),
                 values.value.data(),
                 values.pivot.data(),
                 triangle.substituted_begin.data(),
                 triangle.substituted_row.data(),
                 values.coefficient.data()};
  const int by_entries = lanes_for(triangle.entries, triangle.rows);
  weigh_rows<<<cuda::element_blocks(std::int64_t{triangle.rows} * by_entries), cuda::kElementBlock, 0, stream>>>(
      v, by_entries, values.weight.data());
  cuda::check_launch("weigh_rows");
  const int by_substituted = lanes_for(triangle.substituted, triangle.rows);
  compare_rows<<<cuda::element_blocks(std::int64_t{triangle.rows} * by_substituted), cuda::kElementBlock, 0, stream>>>(
      v, by_substituted, values.weight.data(), most);
  cuda::check_launch("compare_rows");
}

}  // namespace taskdag::kernels::joined

/// \file
/// Rows of the form `sum`.
#pragma once

#include "kernels/factor/cuda/row.cuh"

namespace taskdag::kernels::elimination {

/// Pivot rows that a lane of a row without updates waits for at once.
inline constexpr int kBatch = 4;

/// Up to Batch pivot rows a lane, of rows without updates.
template <FactorKind Kind, int Batch>
struct PivotSum {
  Index index[Batch];
  double factor[Batch];

  /// Adds to this lane's share of the diagonal.
  __device__ void take(const Parameters& p, const LaneGroup& group, const GroupRow& row, Index first, double& off) {
    Index inverse_slot[Batch];
    ValueReference reference[Batch];
    double mirrored[Batch];
    double inverse[Batch];
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      const Index t = first + k * group.size() + group.rank();
      index[k] = -1;
      inverse_slot[k] = reference[k] = kNoValue;
      if (t < row.pivot_count) {
        const PivotRow pivot = load(p.lists.pivots + row.first_pivot + t);
        index[k] = pivot.index;
        inverse_slot[k] = pivot.inverse;
        reference[k] = pivot.mirrored;
      }
    }
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      factor[k] = Kind == FactorKind::ilu && index[k] >= 0 ? p.input.value(row.begin + index[k]) : 0.0;
      mirrored[k] = p.peek_cached(reference[k]);
      inverse[k] = p.peek(inverse_slot[k]);
    }
    for (;;) {
      bool missing = false;
#pragma unroll
      for (int k = 0; k < Batch; ++k) {
        missing = missing | p.missing(reference[k], mirrored[k]) | p.missing(inverse_slot[k], inverse[k]);
      }
      if (!missing) break;
#pragma unroll
      for (int k = 0; k < Batch; ++k) {
        p.look_again(reference[k], mirrored[k]);
        p.look_again(inverse_slot[k], inverse[k]);
      }
    }
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      factor[k] = multiplier<Kind>(factor[k], mirrored[k], inverse[k]);
      off -= factor[k] * mirrored[k];
    }
  }
  __device__ void store(const Parameters& p, const GroupRow& row, double& absolute_sum) const {
    if constexpr (Kind == FactorKind::ilu) {
#pragma unroll
      for (int k = 0; k < Batch; ++k) {
        if (index[k] < 0) continue;
        p.entries[row.begin + index[k]] = factor[k];
        absolute_sum += magnitude(factor[k]);
      }
    }
  }
};

template <FactorKind Kind, int Unchanged, int Batch>
__device__ void finish_sum(const Parameters& p, const LaneGroup& group, int lane, const GroupRow& row, Index first,
                           Index most, double off, double absolute_sum) {
  const double diagonal = load_diagonal(p, group, row);
  const UnchangedEntries<Unchanged> unchanged(p, group, row);
  PivotSum<Kind, Batch> last;
  last.take(p, group, row, first, off);
  const double pivot = publish_pivot(p, group, lane, row, most, diagonal, off);
  last.store(p, row, absolute_sum);  // from here on no other row waits for this one
  unchanged.store(p, group, row, absolute_sum);
  check_row(p, group, row, pivot, absolute_sum);
}

/// Rows without updates: a sum over their pivot rows.
template <FactorKind Kind, int Unchanged>
__device__ void eliminate_sum(const Parameters& p, const LaneGroup& group, int lane, const GroupRow& row) {
  const Index most = group.most(row.pivot_count);
  double off = 0.0;
  double absolute_sum = 0.0;
  Index first = 0;
  for (; most - first > kBatch * group.size(); first += kBatch * group.size()) {
    PivotSum<Kind, kBatch> sum;
    sum.take(p, group, row, first, off);
    sum.store(p, row, absolute_sum);
  }
  switch ((most - first + group.size() - 1) / group.size()) {  // the same for the whole warp
    case 0:
    case 1:
      return finish_sum<Kind, Unchanged, 1>(p, group, lane, row, first, most, off, absolute_sum);
    case 2:
      return finish_sum<Kind, Unchanged, 2>(p, group, lane, row, first, most, off, absolute_sum);
    case 3:
      return finish_sum<Kind, Unchanged, 3>(p, group, lane, row, first, most, off, absolute_sum);
    default:
      return finish_sum<Kind, Unchanged, kBatch>(p, group, lane, row, first, most, off, absolute_sum);
  }
}

}  // namespace taskdag::kernels::elimination

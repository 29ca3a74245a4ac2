/// \file
/// Rows of the form `targets`.
#pragma once

#include "kernels/factor/cuda/row.cuh"
#include "kernels/factor/cuda/search.cuh"

namespace taskdag::kernels::elimination {

/// Pivot rows whose updates a row of the form `targets` waits for at once.
inline constexpr int kUpdateBatch = 2;

/// The updates of the next pivot rows of a row of the form `targets`: for each of them this lane's.
struct UpdateBatch {
  int lane[kUpdateBatch];  // of the pivot row; −1: none
  ValueReference reference[kUpdateBatch];
  double value[kUpdateBatch];

  /// Takes the pivot rows in the bits of `pending`, lowest first. mask, first_update: of the pivot row in this lane.
  __device__ void take(const ValueReference* updates, int rank, int base, unsigned& pending, unsigned mask,
                       Index first_update) {
#pragma unroll
    for (int i = 0; i < kUpdateBatch; ++i) {
      const int from = base + __ffs(static_cast<int>(pending)) - 1;
      lane[i] = pending ? from : -1;
      const unsigned updated = __shfl_sync(kFullWarp, mask, from);
      const unsigned first = static_cast<unsigned>(__shfl_sync(kFullWarp, first_update, from));
      reference[i] = kNoValue;
      if (pending != 0 && ((updated >> rank) & 1U) != 0) {
        reference[i] = __ldg(updates + (first + static_cast<unsigned>(__popc(updated & ((1U << rank) - 1)))));
      }
      pending &= pending - 1;
    }
  }
  __device__ bool any() const { return lane[0] >= 0; }
  __device__ void peek(const Parameters& p) {
#pragma unroll
    for (int i = 0; i < kUpdateBatch; ++i) value[i] = p.peek(reference[i]);
  }
  /// Waits for the values and for the pivot rows up to the last of the batch.
  __device__ void wait(const Parameters& p, HeldPivot& pivot, int my_lane) {
    bool involved = false;
#pragma unroll
    for (int i = 0; i < kUpdateBatch; ++i) involved = involved | (my_lane <= lane[i]);
    for (;;) {
      bool missing = involved & pivot.missing();
#pragma unroll
      for (int i = 0; i < kUpdateBatch; ++i) missing = missing | p.missing(reference[i], value[i]);
      if (!missing) break;
      if (involved) pivot.look_again(p);
#pragma unroll
      for (int i = 0; i < kUpdateBatch; ++i) p.look_again(reference[i], value[i]);
    }
  }
};

/// Rows of the form `targets`. A lane holds a pivot row and a target; pivot rows that update something pass their
/// multipliers on by shuffles. All rows of the warp run in lockstep.
template <FactorKind Kind>
__device__ void eliminate_targets(const Parameters& p, const LaneGroup& group, int lane, const GroupRow& row) {
  const int rank = group.rank();
  const int base = lane - rank;
  const Index multipliers = Kind == FactorKind::ilu ? row.pivot_count : 0;  // of the targets
  const Index changed = rank - multipliers;                                 // which changed entry this lane has
  const bool has_changed = changed >= 0 && changed < row.changed_count;
  HeldPivot pivot(p, row, rank);
  const unsigned mask = rank < row.pivot_count ? __ldg(p.lists.masks + row.first_pivot + rank) : 0;
  Offset entry = -1;
  if (has_changed) entry = __ldg(p.lists.changed + row.first_changed + changed);
  if (rank < multipliers) entry = row.begin + pivot.list.index;

  double target = entry >= 0 ? p.input.value(entry) : 0.0;
  pivot.peek(p);
  unsigned pending = (__ballot_sync(kFullWarp, mask != 0) >> base) & lanes_below(group.size());
  const ValueReference* const updates = p.lists.updates + row.first_update;
  UpdateBatch now;
  UpdateBatch next;
  now.take(updates, rank, base, pending, mask, pivot.list.first_update);
  next.take(updates, rank, base, pending, mask, pivot.list.first_update);
  const double diagonal = load_diagonal(p, group, row);
  const UnchangedEntries<1> unchanged(p, group, row);
  now.peek(p);
  while (__any_sync(kFullWarp, now.any())) {
    next.peek(p);  // by references that were asked for one batch ago
    UpdateBatch after;
    after.take(updates, rank, base, pending, mask, pivot.list.first_update);
    now.wait(p, pivot, lane);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kUpdateBatch; ++i) {
      const double mine = multiplier<Kind>(target, pivot.mirrored, pivot.inverse);
      const double factor = __shfl_sync(kFullWarp, mine, now.lane[i]);
      if (now.reference[i] != kNoValue) target -= factor * now.value[i];
    }
    now = next;
    next = after;
  }
  pivot.wait(p);
  double off = 0.0;
  if (rank < row.pivot_count) {
    const double mine = multiplier<Kind>(target, pivot.mirrored, pivot.inverse);
    off = -mine * pivot.mirrored;
    if (rank < multipliers) target = mine;
  }
  const Index slot = p.lists.tasks.rows + row.first_changed + changed;
  if (has_changed) p.slots.publish(slot, target);
  const double result = publish_pivot(p, group, lane, row, group.most(row.pivot_count), diagonal, off);
  double absolute_sum = 0.0;  // from here on no other row waits for this one
  if (entry >= 0) {
    p.entries[entry] = target;
    absolute_sum = magnitude(target);
  }
  if (has_changed) p.next_slots[slot] = not_yet();
  unchanged.store(p, group, row, absolute_sum);
  check_row(p, group, row, result, absolute_sum);
}

}  // namespace taskdag::kernels::elimination

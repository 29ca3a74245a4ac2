/// \file
/// Rows of the forms `long_row` and `searched`.
#pragma once

#include "kernels/factor/cuda/row.cuh"
#include "kernels/factor/cuda/search.cuh"

namespace taskdag::kernels::elimination {

/// This lane's update in a round of a long row: up to 32 updates by one pivot row.
struct LongUpdate {
  int pivot_lane;  // −1: no round
  ValueReference reference = kNoValue;
  Index target = -1;  // which entry of the row; −1: no update
  double value = 0.0;

  /// u: counted from the row's first update, or (searched rows) an entry of the pivot row.
  __device__ void take(const Parameters& p, const GroupRow& row, Index u) {
    if (row.form != RowForm::searched) {
      reference = __ldg(p.lists.updates + row.first_update + u);
      target = __ldg(p.lists.updates + row.first_update + row.update_count + u);
      return;
    }
    const Index wanted[1] = {__ldg(p.lists.columns + u)};
    Index found[1];
    find_columns(p.lists.columns + row.begin, row.entries, wanted, found);
    if (found[0] < 0 || found[0] == row.diagonal) return;
    target = found[0];
    const Index slot = __ldg(p.lists.slots + u);
    const Offset from = p.input.source ? __ldg(p.input.source + u) : u;
    reference = slot >= 0 ? slot : from >= 0 ? ~from : kNoValue;
  }
  __device__ void peek(const Parameters& p) { value = p.peek(reference); }
};

/// The rounds of the pivot rows in the lanes, in order.
struct LongRounds {
  Index begin;  // updates of the pivot row in this lane: [begin, end)
  Index end;
  unsigned pending = 0;  // pivot rows that have rounds, without the one at work
  int pivot_lane = -1;   // at work, the same in the whole warp
  Index next = 0;
  Index last = 0;

  __device__ LongRounds(const Parameters& p, const GroupRow& row, const PivotRow& pivot, Index t)
      : begin(pivot.first_update), end(pivot.first_update) {
    if (t < row.pivot_count) {
      if (row.form == RowForm::searched) {
        begin = __ldg(p.lists.updates + row.first_update + 2 * t);
        end = __ldg(p.lists.updates + row.first_update + 2 * t + 1);
      } else {
        end = t + 1 < row.pivot_count ? __ldg(&p.lists.pivots[row.first_pivot + t + 1].first_update) : row.update_count;
      }
    }
    pending = __ballot_sync(kFullWarp, end > begin);
    advance();
  }
  __device__ void advance() {
    pivot_lane = __ffs(static_cast<int>(pending)) - 1;
    pending &= pending - 1;
    next = __shfl_sync(kFullWarp, begin, pivot_lane);
    last = __shfl_sync(kFullWarp, end, pivot_lane);
  }
  __device__ LongUpdate take(const Parameters& p, const GroupRow& row, int lane) {
    LongUpdate update;
    update.pivot_lane = pivot_lane;
    if (pivot_lane < 0) return update;
    if (next + lane < last) update.take(p, row, next + lane);
    next += kWarpSize;
    if (next >= last) advance();
    return update;
  }
};

/// Workspace of a long row: its entries, and where its changed ones are.
struct LongWorkspace {
  double* values;
  Index* changed;  // null: not staged
};

/// Waits for what the lane's update needs, and for the multiplier if it is the lane's.
__device__ __forceinline__ void wait_for_update(const Parameters& p, int lane, LongUpdate& update, HeldPivot& pivot) {
  for (;;) {
    const bool pivot_missing = lane <= update.pivot_lane && pivot.missing();
    if (!pivot_missing && !p.missing(update.reference, update.value)) break;
    if (pivot_missing) pivot.look_again(p);
    p.look_again(update.reference, update.value);
  }
}

/// Writes a row to the factor, with `result` as its pivot.
__device__ __forceinline__ void end_long_row(const Parameters& p, const LaneGroup& group, int lane, const GroupRow& row,
                                             const double* values, double result) {
  double absolute_sum = 0.0;  // from here on no other row waits for this one
  for (Index e = lane; e < row.entries; e += kWarpSize) {
    if (e == row.diagonal) continue;
    p.entries[row.begin + e] = values[e];
    absolute_sum += magnitude(values[e]);
  }
  check_row(p, group, row, result, absolute_sum);
  __syncwarp();  // before the next row's values come
}

/// Long rows, one a warp: one pivot row after the other, a lane an update.
template <FactorKind Kind>
__device__ void eliminate_long(const Parameters& p, int lane, const GroupRow& row, const LongWorkspace& work) {
  constexpr bool kIlu = Kind == FactorKind::ilu;
  const LaneGroup group(lane, kWarpSize);
  double* const values = work.values;
  HeldPivot pivot(p, row, lane);
  for (Index e = lane; e < row.entries; e += kWarpSize) {
    const double own = p.input.value(row.begin + e);
    values[e] = e == row.diagonal ? p.input.shift.applied_to(own) : own;
  }
  const Offset* const changed = p.lists.changed + row.first_changed;
  if (work.changed) {
    for (Index c = lane; c < row.changed_count; c += kWarpSize) work.changed[c] = __ldg(changed + c) - row.begin;
  }
  pivot.peek(p);
  __syncwarp();
  double off = 0.0;
  for (Index chunk = 0; chunk < row.pivot_count; chunk += kWarpSize) {
    const Index t = chunk + lane;
    HeldPivot next_pivot(p, row, t + kWarpSize);
    LongRounds rounds(p, row, pivot.list, t);
    LongUpdate now = rounds.take(p, row, lane);
    LongUpdate next = rounds.take(p, row, lane);
    now.peek(p);
    next_pivot.peek(p);
    while (now.pivot_lane >= 0) {
      next.peek(p);  // by references that were asked for one round ago
      const LongUpdate after = rounds.take(p, row, lane);
      wait_for_update(p, lane, now, pivot);
      __syncwarp();
      const double own = kIlu && lane == now.pivot_lane ? values[pivot.list.index] : 0.0;
      const double mine = multiplier<Kind>(own, pivot.mirrored, pivot.inverse);
      const double factor = __shfl_sync(kFullWarp, mine, now.pivot_lane);
      if (now.target >= 0) values[now.target] -= factor * now.value;
      __syncwarp();
      now = next;
      next = after;
    }
    if (t < row.pivot_count) {
      pivot.wait(p);
      const double mine = multiplier<Kind>(kIlu ? values[pivot.list.index] : 0.0, pivot.mirrored, pivot.inverse);
      off -= mine * pivot.mirrored;
      if (kIlu) values[pivot.list.index] = mine;
    }
    __syncwarp();
    pivot = next_pivot;
  }
  const Index first_slot = p.lists.tasks.rows + row.first_changed;
  for (Index c = lane; c < row.changed_count; c += kWarpSize) {
    p.slots.publish(first_slot + c, values[work.changed ? work.changed[c] : __ldg(changed + c) - row.begin]);
  }
  const double diagonal = lane == 0 ? values[row.diagonal] : 0.0;
  const double result = publish_pivot(p, group, lane, row, kWarpSize, diagonal, off);
  for (Index c = lane; c < row.changed_count; c += kWarpSize) p.next_slots[first_slot + c] = not_yet();
  end_long_row(p, group, lane, row, values, result);
}

}  // namespace taskdag::kernels::elimination

/// \file
/// Rows of the form `rounds`.
#pragma once

#include "kernels/factor/cuda/row.cuh"

namespace taskdag::kernels::elimination {

/// Rounds whose updates are fetched together.
inline constexpr int kRoundBatch = 2;
/// Late rounds that a row waits for at once.
inline constexpr int kLateRounds = 3;
/// Changed entries that a lane keeps the indices of.
inline constexpr int kChangedHeld = 2;

/// A row of the form `rounds` in shared memory, by element: entries first; ilu: an entry left of the diagonal is
/// its pivot row's element, too; ic: the pivot rows follow. A multiplier is the product of the two halves of an
/// element.
struct alignas(16) RowElement {
  double value;
  double inverse;  ///< not_yet until the pivot row is there
};
/// What the diagonal gets from a pivot row.
struct alignas(16) MirroredEntry {
  double value;
  Index inverse;  ///< slot
  ValueReference reference;
};
inline constexpr Index kLate = -2;  // instead of the slot of a late pivot row

template <FactorKind Kind>
struct RoundRow {
  const Parameters& p;
  const GroupRow& row;
  RowElement* elements;
  MirroredEntry* mirrored_entries;  ///< by pivot row

  static constexpr bool kIlu = Kind == FactorKind::ilu;
  __device__ RoundRow(const Parameters& parameters, const GroupRow& group_row, RowElement* shared)
      : p(parameters), row(group_row), elements(shared) {
    mirrored_entries = reinterpret_cast<MirroredEntry*>(pivots() + (kIlu ? row.entries : row.pivot_count));
  }
  __device__ RowElement* pivots() const { return elements + (kIlu ? 0 : row.entries); }

  /// Looks again at what a pivot row's multiplier is made of. Lanes that look at the same one write the same, or
  /// nothing.
  __device__ void look_again(Index index) const {
    const MirroredEntry mirrored = mirrored_entries[index];
    const double inverse = p.slots.peek(mirrored.inverse);
    if constexpr (kIlu) {
      if (is_ready(inverse)) pivots()[index].inverse = inverse;
    } else {
      const double value =
          Parameters::missing(mirrored.reference, mirrored.value) ? p.peek_cached(mirrored.reference) : mirrored.value;
      if (is_ready(inverse) && !Parameters::missing(mirrored.reference, value)) pivots()[index] = {value, inverse};
    }
  }
  __device__ double factor(RowElement pivot) const {
    return kIlu ? multiplier<Kind>(pivot.value, 0.0, pivot.inverse) : multiplier<Kind>(0.0, pivot.value, pivot.inverse);
  }
};

/// Some rounds of a lane.
template <int Count>
struct Rounds {
  RoundUpdate update[Count];
  double value[Count];

  /// Fetches rounds first, … of the row's `end`.
  __device__ void fetch(const RoundUpdate* list, int lanes, Index first, Index end) {
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      update[i] = {kNoValue, -1};
      if (first + i >= end) continue;
      const int2 raw = __ldg(reinterpret_cast<const int2*>(list + (first + i) * lanes));
      update[i] = {raw.x, raw.y};
    }
  }
  __device__ void peek(const Parameters& p) {
#pragma unroll
    for (int i = 0; i < Count; ++i) value[i] = p.peek_cached(update[i].value);
  }
  __device__ bool missing(int i) const { return Parameters::missing(update[i].value, value[i]); }
  __device__ void look_again(const Parameters& p) {
#pragma unroll
    for (int i = 0; i < Count; ++i) p.look_again(update[i].value, value[i]);
  }
};

/// Publishes the entries of a row that others need, this lane's. `changed`: the elements of the first ones.
__device__ __forceinline__ void publish_changed(const Parameters& p, const GroupRow& row, const RowElement* elements,
                                                int rank, int lanes, const Index (&changed)[kChangedHeld]) {
  const Index first_slot = p.lists.tasks.rows + row.first_changed;
#pragma unroll
  for (int k = 0; k < kChangedHeld; ++k) {
    if (changed[k] >= 0) p.slots.publish(first_slot + rank + k * lanes, elements[changed[k]].value);
  }
  for (Index c = rank + kChangedHeld * lanes; c < row.changed_count; c += lanes) {
    p.slots.publish(first_slot + c, elements[__ldg(p.lists.changed + row.first_changed + c) - row.begin].value);
  }
}

/// Puts into shared memory what there is already of a row and of its pivot rows. @returns this lane's late pivot row
template <FactorKind Kind>
__device__ __forceinline__ PivotRow begin_row(const Parameters& p, const RoundRow<Kind>& work, int rank, int lanes) {
  const GroupRow& row = work.row;
  const Index early_pivots = row.pivot_count - row.late_pivots;
  for (Index t = rank; t < early_pivots; t += lanes) {
    const PivotRow pivot = load(p.lists.pivots + row.first_pivot + t);
    const double inverse = p.peek(pivot.inverse);
    const double mirrored = p.peek_cached(pivot.mirrored);
    work.mirrored_entries[pivot.index] = {mirrored, pivot.inverse, pivot.mirrored};
    if constexpr (RoundRow<Kind>::kIlu) {
      work.pivots()[pivot.index].inverse = inverse;
    } else {
      work.pivots()[pivot.index] = {mirrored, Parameters::missing(pivot.mirrored, mirrored) ? not_yet() : inverse};
    }
  }
  PivotRow last{kNoValue, kNoValue, -1, 0};
  if (rank < row.late_pivots) {
    last = load(p.lists.pivots + row.first_pivot + early_pivots + rank);
    work.mirrored_entries[last.index].inverse = kLate;
  }
  for (Index e = rank; e < row.entries; e += lanes) {
    work.elements[e].value = p.input.value(row.begin + e);
  }
  return last;
}

/// One early round, number i of `now`: waits for its pivot rows alone.
template <FactorKind Kind>
__device__ __forceinline__ void run_early_round(const Parameters& p, const RoundRow<Kind>& work, int i,
                                                Rounds<kRoundBatch>& now, Rounds<kRoundBatch>& next) {
  const bool busy = now.update[i].elements >= 0;
  const int from = now.update[i].elements & 0xFFFF;
  const int to = now.update[i].elements >> 16;
  RowElement pivot{0.0, 0.0};
  for (;;) {
    if (busy) pivot = work.elements[from];
    const bool missing = !is_ready(pivot.inverse);
    if (!__any_sync(kFullWarp, missing | now.missing(i))) break;
    now.look_again(p);
    if (missing) work.look_again(from - static_cast<int>(work.pivots() - work.elements));
    if (!__any_sync(kFullWarp, missing)) next.look_again(p);
    __syncwarp();
  }
  if (busy) work.elements[to].value -= work.factor(pivot) * now.value[i];
  __syncwarp();
}

/// What the diagonal gets from the early pivot rows, this lane's share. No late pivot row changes a multiplier: those
/// of the early ones are final.
template <FactorKind Kind>
__device__ __forceinline__ double meet_early_pivots(const Parameters& p, const RoundRow<Kind>& work, int rank,
                                                    int lanes) {
  double off = 0.0;
  for (Index t = rank; t < work.row.pivot_count; t += lanes) {
    MirroredEntry mirrored = work.mirrored_entries[t];
    if (mirrored.inverse == kLate) continue;
    RowElement pivot = work.pivots()[t];
    while (!is_ready(pivot.inverse)) {
      work.look_again(t);
      pivot = work.pivots()[t];
    }
    while (Parameters::missing(mirrored.reference, mirrored.value)) p.look_again(mirrored.reference, mirrored.value);
    if (!RoundRow<Kind>::kIlu) pivot.value = mirrored.value;
    const double mine = work.factor(pivot);
    off -= mine * mirrored.value;
    if (RoundRow<Kind>::kIlu) work.elements[t].value = mine;
  }
  return off;
}

/// Waits for all that a lane's late rounds and its late pivot row still miss.
__device__ __forceinline__ void wait_for_late(const Parameters& p, const PivotRow& last, double& inverse,
                                              double& mirrored, Rounds<kLateRounds>& late) {
  for (;;) {
    bool missing = Parameters::missing(last.inverse, inverse) | Parameters::missing(last.mirrored, mirrored);
#pragma unroll
    for (int i = 0; i < kLateRounds; ++i) missing = missing | late.missing(i);
    if (!__any_sync(kFullWarp, missing)) break;
    p.look_again(last.inverse, inverse);
    p.look_again(last.mirrored, mirrored);
    late.look_again(p);
  }
}

/// The late rounds, of which `late` holds the first ones.
__device__ __forceinline__ void run_late_rounds(const Parameters& p, const GroupRow& row, RowElement* elements,
                                                const RoundUpdate* list, int lanes, int late_rounds,
                                                Rounds<kLateRounds>& late) {
  for (int round = 0; round < late_rounds; round += kLateRounds) {
    if (round > 0) {
      late.fetch(list, lanes, row.early_rounds + round, row.rounds);
      late.peek(p);
    }
#pragma unroll
    for (int i = 0; i < kLateRounds; ++i) {
      if (round + i >= late_rounds) break;
      while (late.missing(i)) p.look_again(late.update[i].value, late.value[i]);
      if (late.update[i].elements >= 0) {
        elements[late.update[i].elements >> 16].value -=
            elements[late.update[i].elements & 0xFFFF].value * late.value[i];
      }
      __syncwarp();
    }
  }
}

/// Writes a row to the factor, with `result` as its pivot.
__device__ __forceinline__ void end_row(const Parameters& p, const LaneGroup& group, const GroupRow& row,
                                        const RowElement* elements, double result) {
  double absolute_sum = 0.0;  // from here on no other row waits for this one
  for (Index e = group.rank(); e < row.entries; e += group.size()) {
    if (e == row.diagonal) continue;
    const double entry = elements[e].value;
    p.entries[row.begin + e] = entry;
    absolute_sum += magnitude(entry);
  }
  check_row(p, group, row, result, absolute_sum);
  __syncwarp();  // before the next row's values come
}

/// Rows of the form `rounds`. All rows of the warp run in lockstep. Early rounds wait politely, each for its own pivot
/// rows. When they are over, the row waits once, for all that is still missing: that is when it matters how long it
/// takes.
template <FactorKind Kind>
__device__ void eliminate_in_rounds(const Parameters& p, const LaneGroup& group, int lane, const GroupRow& row,
                                    RowElement* shared) {
  using Row = RoundRow<Kind>;
  const int rank = group.rank();
  const int lanes = group.size();
  const RoundUpdate* const list = reinterpret_cast<const RoundUpdate*>(p.lists.updates + row.first_update) + rank;
  Rounds<kRoundBatch> now;
  Rounds<kRoundBatch> next;
  Rounds<kLateRounds> late;
  now.fetch(list, lanes, 0, row.early_rounds);
  next.fetch(list, lanes, kRoundBatch, row.early_rounds);
  late.fetch(list, lanes, row.early_rounds, row.rounds);
  const Row work(p, row, shared);
  Index changed[kChangedHeld];
#pragma unroll
  for (int k = 0; k < kChangedHeld; ++k) {
    const Index c = rank + k * lanes;
    changed[k] = c < row.changed_count ? __ldg(p.lists.changed + row.first_changed + c) - row.begin : -1;
  }
  const PivotRow last = begin_row(p, work, rank, lanes);
  now.peek(p);
  __syncwarp();
  const Index early_rounds = group.most(row.early_rounds);
  for (Index round = 0; round < early_rounds; round += kRoundBatch) {
    next.peek(p);
    Rounds<kRoundBatch> after;
    after.fetch(list, lanes, round + 2 * kRoundBatch, row.early_rounds);
#pragma unroll
    for (int i = 0; i < kRoundBatch; ++i) {
      if (round + i >= early_rounds) break;
      run_early_round(p, work, i, now, next);
    }
    now = next;
    next = after;
  }
  late.peek(p);
  double inverse = p.peek(last.inverse);
  double mirrored = p.peek_cached(last.mirrored);
  const double off = group.sum(meet_early_pivots(p, work, rank, lanes));
  double diagonal = 0.0;
  if (row.active && rank == 0) diagonal = p.input.shift.applied_to(work.elements[row.diagonal].value) + off;
  double own = 0.0;
  if (Row::kIlu && last.index >= 0) own = work.elements[last.index].value;
  const int late_rounds = group.most(row.rounds - row.early_rounds);
  wait_for_late(p, last, inverse, mirrored, late);
  const double mine = multiplier<Kind>(own, mirrored, inverse);
  if (last.index >= 0) work.pivots()[last.index].value = mine;
  __syncwarp();
  run_late_rounds(p, row, work.elements, list, lanes, late_rounds, late);
  publish_changed(p, row, work.elements, rank, lanes, changed);
  const double result = publish_pivot(p, group, lane, row, group.most(row.late_pivots), diagonal,
                                      last.index >= 0 ? -mine * mirrored : 0.0);
  const Index first_slot = p.lists.tasks.rows + row.first_changed;
  for (Index c = rank; c < row.changed_count; c += lanes) p.next_slots[first_slot + c] = not_yet();
  end_row(p, group, row, work.elements, result);
}

}  // namespace taskdag::kernels::elimination

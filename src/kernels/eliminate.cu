#include <algorithm>
#include <type_traits>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "kernels/eliminate.hpp"
#include "kernels/elimination_search.cuh"

namespace taskdag::kernels {
namespace {

using cuda::kFullWarp;
using cuda::kWarpSize;
using cuda::LaneGroup;
using cuda::Slots;
using cuda::TicketCounter;

constexpr int kBlock = 128;
// Entries of a long row that fit into shared memory.
constexpr int kStaged = 256;
// Levels ahead that rows are fetched where updates are common: their lists take longer to fetch.
constexpr int kLookaheadWithUpdates = 16;
// Pivot rows that a lane of a row without updates waits for at once.
constexpr int kBatch = 4;
// Pivot rows whose updates a row of the form `targets` waits for at once.
constexpr int kUpdateBatch = 2;
// Rounds whose updates are fetched together.
constexpr int kRoundBatch = 2;
// Late rounds that a row waits for at once.
constexpr int kLateRounds = 3;
// Changed entries that a lane keeps the places of.
constexpr int kChangedHeld = 2;
// Unchanged entries that a lane of a row without updates fetches before it waits, if all rows are such: registers are
// few otherwise. More are fetched after the row is published.
constexpr int kUnchangedOfSums = 3;

struct Parameters {
  EliminationView lists;
  FactorInput input;
  PivotRule rule;
  Slots slots;
  double* next_slots;  // to be reset
  double* entries;
  double* inverse_pivots;
  FactorReport* report;
  TicketCounter tickets;

  /// What is there now.
  __device__ double peek(ValueReference v) const {
    if (v == kNoValue) return 0.0;
    const double* const from = v >= 0 ? slots.slot + v : input.values + ~v;
    return Slots{const_cast<double*>(from)}.peek(0);
  }
  /// The same where entries of the matrix are the rule: their cache lines serve more than one row.
  __device__ double peek_cached(ValueReference v) const {
    if (v == kNoValue) return 0.0;
    return v >= 0 ? slots.peek(v) : __ldg(input.values + ~v);
  }
  /// Only slots are waited for: an entry of the matrix may be any NaN.
  __device__ static bool missing(ValueReference v, double value) { return (v >= 0) & !is_ready(value); }
  __device__ void look_again(ValueReference v, double& value) const {
    if (missing(v, value)) value = slots.peek(v);
  }
  // What check_pivot() reports to.
  __device__ void zero_pivot(Index i, double) const {
    atomicMin(&report->first_zero, i);
    atomicMax(&report->last_zero, i);
  }
  __device__ void shifted(Index) const { atomicAdd(&report->shifted, 1); }
  __device__ void non_finite(Index i) const { atomicMin(&report->first_non_finite, i); }
};

__device__ int4 load_words(const WarpTask* task) { return __ldg(reinterpret_cast<const int4*>(task)); }

/// A list element in 16-byte loads.
template <class T>
__device__ T load(const T* from) {
  static_assert(sizeof(T) % sizeof(int4) == 0);
  constexpr unsigned kWords = sizeof(T) / sizeof(int4);
  int4 raw[kWords];
#pragma unroll
  for (unsigned k = 0; k < kWords; ++k) raw[k] = __ldg(reinterpret_cast<const int4*>(from) + k);
  T result;
  memcpy(&result, raw, sizeof(T));
  return result;
}

__device__ double magnitude(double value) { return value < 0 ? -value : value; }

/// The multiplier of a pivot row. ilu0: from the row's own entry; exactly zero stays so, whatever the pivot. ic0: from
/// the pivot row's entry.
template <FactorKind Kind>
__device__ double multiplier(double own, double meeting, double inverse) {
  if constexpr (Kind == FactorKind::ic0) {
    return meeting * inverse;
  } else {
    return own != 0.0 ? own * inverse : own;
  }
}
/// The row that a group of lanes works on.
struct GroupRow : EliminationRow {
  bool active;
  Index position;
};

/// Entries right of the diagonal that nothing changes: copied to the factor, summed up.
template <int Count>
struct UnchangedEntries {
  double value[Count];
  Index slot[Count];

  __device__ UnchangedEntries(const Parameters& p, const LaneGroup& group, const GroupRow& row) {
#pragma unroll
    for (int k = 0; k < Count; ++k) {
      const Index e = row.diagonal + 1 + group.rank() + k * group.size();
      value[k] = 0.0;
      slot[k] = -1;
      if (e < row.entries) {
        value[k] = p.input.value(row.begin + e);
        if (row.changed_count > 0) slot[k] = __ldg(p.lists.slots + row.begin + e);
      }
    }
  }
  __device__ void store(const Parameters& p, const LaneGroup& group, const GroupRow& row, double& absolute_sum) const {
    Index e = row.diagonal + 1 + group.rank();
#pragma unroll
    for (int k = 0; k < Count; ++k) {
      if (e < row.entries && slot[k] < 0) {
        p.entries[row.begin + e] = value[k];
        absolute_sum += magnitude(value[k]);
      }
      e += group.size();
    }
    for (; e < row.entries; e += group.size()) {
      if (row.changed_count > 0 && __ldg(p.lists.slots + row.begin + e) >= 0) continue;
      const double rest = p.input.value(row.begin + e);
      p.entries[row.begin + e] = rest;
      absolute_sum += magnitude(rest);
    }
  }
};

/// Publishes the row's inverse pivot. off: what is added to the diagonal entry, in parts in the first `parts` lanes
/// (the same number in the whole warp).
__device__ double publish_pivot(const Parameters& p, const LaneGroup& group, int lane, const GroupRow& row, int parts,
                                double diagonal, double off) {
  const int lanes = parts > 1 ? min(1 << (kWarpSize - __clz(parts - 1)), group.size()) : 1;
  const double pivot = diagonal + LaneGroup(lane, lanes).sum(off);
  if (row.active && group.rank() == 0) {
    const double used = shifted_pivot(p.rule, pivot);
    const double inverse = 1.0 / used;
    p.slots.publish(row.position, inverse);
    p.inverse_pivots[row.row] = inverse;
    p.entries[row.begin + row.diagonal] = used;
    p.next_slots[row.position] = not_yet();
  }
  return pivot;
}

/// absolute_sum: this lane's part of that of the row without its diagonal.
__device__ void check_row(const Parameters& p, const LaneGroup& group, const GroupRow& row, double pivot,
                          double absolute_sum) {
  absolute_sum = group.sum(absolute_sum);
  if (row.active && group.rank() == 0) static_cast<void>(check_pivot(p.rule, row.row, pivot, absolute_sum, p));
}

__device__ double load_diagonal(const Parameters& p, const LaneGroup& group, const GroupRow& row) {
  return row.active && group.rank() == 0 ? p.input.value(row.begin + row.diagonal) + p.input.shift : 0.0;
}

/// Up to Batch pivot rows a lane, of rows without updates.
template <FactorKind Kind, int Batch>
struct PivotSum {
  Index place[Batch];
  double factor[Batch];

  /// Adds to this lane's part of the diagonal.
  __device__ void take(const Parameters& p, const LaneGroup& group, const GroupRow& row, Index first, double& off) {
    Index inverse_slot[Batch];
    ValueReference reference[Batch];
    double meeting[Batch];
    double inverse[Batch];
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      const Index t = first + k * group.size() + group.rank();
      place[k] = -1;
      inverse_slot[k] = reference[k] = kNoValue;
      if (t < row.pivot_count) {
        const PivotRow pivot = load(p.lists.pivots + row.first_pivot + t);
        place[k] = pivot.place;
        inverse_slot[k] = pivot.inverse;
        reference[k] = pivot.meeting;
      }
    }
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      factor[k] = Kind == FactorKind::ilu0 && place[k] >= 0 ? p.input.value(row.begin + place[k]) : 0.0;
      meeting[k] = p.peek_cached(reference[k]);
      inverse[k] = p.peek(inverse_slot[k]);
    }
    for (;;) {
      bool missing = false;
#pragma unroll
      for (int k = 0; k < Batch; ++k) {
        missing = missing | p.missing(reference[k], meeting[k]) | p.missing(inverse_slot[k], inverse[k]);
      }
      if (!missing) break;
#pragma unroll
      for (int k = 0; k < Batch; ++k) {
        p.look_again(reference[k], meeting[k]);
        p.look_again(inverse_slot[k], inverse[k]);
      }
    }
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      factor[k] = multiplier<Kind>(factor[k], meeting[k], inverse[k]);
      off -= factor[k] * meeting[k];
    }
  }
  __device__ void store(const Parameters& p, const GroupRow& row, double& absolute_sum) const {
    if constexpr (Kind == FactorKind::ilu0) {
#pragma unroll
      for (int k = 0; k < Batch; ++k) {
        if (place[k] < 0) continue;
        p.entries[row.begin + place[k]] = factor[k];
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
  last.store(p, row, absolute_sum);  // from here on nobody waits
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

/// A pivot row in a lane, with what it is waited for.
struct HeldPivot {
  PivotRow list;
  double inverse;
  double meeting;

  __device__ HeldPivot(const Parameters& p, const GroupRow& row, Index t) {
    list = {kNoValue, kNoValue, -1, row.update_count};
    if (t < row.pivot_count) list = load(p.lists.pivots + row.first_pivot + t);
  }
  __device__ void peek(const Parameters& p) {
    inverse = p.peek(list.inverse);
    meeting = p.peek(list.meeting);
  }
  __device__ bool missing() const {
    return Parameters::missing(list.inverse, inverse) | Parameters::missing(list.meeting, meeting);
  }
  __device__ void look_again(const Parameters& p) {
    p.look_again(list.inverse, inverse);
    p.look_again(list.meeting, meeting);
  }
  __device__ void wait(const Parameters& p) {
    while (missing()) look_again(p);
  }
};

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
  const Index multipliers = Kind == FactorKind::ilu0 ? row.pivot_count : 0;  // of the targets
  const Index changed = rank - multipliers;                                  // which changed entry this lane has
  const bool has_changed = changed >= 0 && changed < row.changed_count;
  HeldPivot pivot(p, row, rank);
  const unsigned mask = rank < row.pivot_count ? __ldg(p.lists.masks + row.first_pivot + rank) : 0;
  Offset entry = -1;
  if (has_changed) entry = __ldg(p.lists.changed + row.first_changed + changed);
  if (rank < multipliers) entry = row.begin + pivot.list.place;

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
      const double mine = multiplier<Kind>(target, pivot.meeting, pivot.inverse);
      const double factor = __shfl_sync(kFullWarp, mine, now.lane[i]);
      if (now.reference[i] != kNoValue) target -= factor * now.value[i];
    }
    now = next;
    next = after;
  }
  pivot.wait(p);
  double off = 0.0;
  if (rank < row.pivot_count) {
    const double mine = multiplier<Kind>(target, pivot.meeting, pivot.inverse);
    off = -mine * pivot.meeting;
    if (rank < multipliers) target = mine;
  }
  const Index slot = p.lists.tasks.rows + row.first_changed + changed;
  if (has_changed) p.slots.publish(slot, target);
  const double result = publish_pivot(p, group, lane, row, group.most(row.pivot_count), diagonal, off);
  double absolute_sum = 0.0;  // from here on nobody waits
  if (entry >= 0) {
    p.entries[entry] = target;
    absolute_sum = magnitude(target);
  }
  if (has_changed) p.next_slots[slot] = not_yet();
  unchanged.store(p, group, row, absolute_sum);
  check_row(p, group, row, result, absolute_sum);
}

/// A row of the form `rounds` in shared memory, by place: entries first; ilu0: an entry left of the diagonal is also
/// the pivot row's place; ic0: the pivot rows follow. A multiplier is the product of the two halves of its place.
struct alignas(16) Place {
  double value;
  double inverse;  ///< not_yet until the pivot row is there
};
/// What the diagonal gets from a pivot row.
struct alignas(16) Meeting {
  double value;
  Index inverse;  ///< slot
  ValueReference reference;
};
constexpr Index kLate = -2;  // in place of the slot of a late pivot row

template <FactorKind Kind>
struct RoundRow {
  const Parameters& p;
  const GroupRow& row;
  Place* places;
  Meeting* meetings;  ///< by pivot row

  static constexpr bool kIlu = Kind == FactorKind::ilu0;
  __device__ RoundRow(const Parameters& parameters, const GroupRow& group_row, Place* shared)
      : p(parameters), row(group_row), places(shared) {
    meetings = reinterpret_cast<Meeting*>(pivots() + (kIlu ? row.entries : row.pivot_count));
  }
  __device__ Place* pivots() const { return places + (kIlu ? 0 : row.entries); }

  /// Looks again at what a pivot row's multiplier is made of. Lanes that look at the same one write the same, or
  /// nothing.
  __device__ void look_again(Index place) const {
    const Meeting meeting = meetings[place];
    const double inverse = p.slots.peek(meeting.inverse);
    if constexpr (kIlu) {
      if (is_ready(inverse)) pivots()[place].inverse = inverse;
    } else {
      const double value =
          Parameters::missing(meeting.reference, meeting.value) ? p.peek_cached(meeting.reference) : meeting.value;
      if (is_ready(inverse) && !Parameters::missing(meeting.reference, value)) pivots()[place] = {value, inverse};
    }
  }
  __device__ double factor(Place pivot) const {
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

/// Rows of the form `rounds`. All rows of the warp run in lockstep. Early rounds wait politely, each for its own pivot
/// rows. When they are over, the row waits once, for all that is still missing: that is when it matters how long it
/// takes.
template <FactorKind Kind>
__device__ void eliminate_in_rounds(const Parameters& p, const LaneGroup& group, int lane, const GroupRow& row,
                                    Place* shared) {
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
  const Index early_pivots = row.pivot_count - row.late_pivots;
  for (Index t = rank; t < early_pivots; t += lanes) {
    const PivotRow pivot = load(p.lists.pivots + row.first_pivot + t);
    const double inverse = p.peek(pivot.inverse);
    const double meeting = p.peek_cached(pivot.meeting);
    work.meetings[pivot.place] = {meeting, pivot.inverse, pivot.meeting};
    if constexpr (Row::kIlu) {
      work.pivots()[pivot.place].inverse = inverse;
    } else {
      work.pivots()[pivot.place] = {meeting, Parameters::missing(pivot.meeting, meeting) ? not_yet() : inverse};
    }
  }
  PivotRow last{kNoValue, kNoValue, -1, 0};  // this lane's late pivot row
  if (rank < row.late_pivots) {
    last = load(p.lists.pivots + row.first_pivot + early_pivots + rank);
    work.meetings[last.place].inverse = kLate;
  }
  for (Index e = rank; e < row.entries; e += lanes) {
    work.places[e].value = p.input.value(row.begin + e);
  }
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
      const bool busy = now.update[i].places >= 0;
      const int from = now.update[i].places & 0xFFFF;
      const int to = now.update[i].places >> 16;
      Place pivot{0.0, 0.0};
      for (;;) {
        if (busy) pivot = work.places[from];
        const bool missing = !is_ready(pivot.inverse);
        if (!__any_sync(kFullWarp, missing | now.missing(i))) break;
        now.look_again(p);
        if (missing) work.look_again(from - static_cast<int>(work.pivots() - work.places));
        if (!__any_sync(kFullWarp, missing)) next.look_again(p);
        __syncwarp();
      }
      if (busy) work.places[to].value -= work.factor(pivot) * now.value[i];
      __syncwarp();
    }
    now = next;
    next = after;
  }
  late.peek(p);
  double inverse = p.peek(last.inverse);
  double meeting = p.peek_cached(last.meeting);
  // No late pivot row changes a multiplier: those of the early ones are final.
  double off = 0.0;
  for (Index t = rank; t < row.pivot_count; t += lanes) {
    Meeting meeting = work.meetings[t];
    if (meeting.inverse == kLate) continue;
    Place pivot = work.pivots()[t];
    while (!is_ready(pivot.inverse)) {
      work.look_again(t);
      pivot = work.pivots()[t];
    }
    while (Parameters::missing(meeting.reference, meeting.value)) p.look_again(meeting.reference, meeting.value);
    if (!Row::kIlu) pivot.value = meeting.value;
    const double mine = work.factor(pivot);
    off -= mine * meeting.value;
    if (Row::kIlu) work.places[t].value = mine;
  }
  off = group.sum(off);
  double diagonal = 0.0;
  if (row.active && rank == 0) diagonal = work.places[row.diagonal].value + p.input.shift + off;
  double own = 0.0;
  if (Row::kIlu && last.place >= 0) own = work.places[last.place].value;
  const int late_rounds = group.most(row.rounds - row.early_rounds);
  for (;;) {
    bool missing = Parameters::missing(last.inverse, inverse) | Parameters::missing(last.meeting, meeting);
#pragma unroll
    for (int i = 0; i < kLateRounds; ++i) missing = missing | late.missing(i);
    if (!__any_sync(kFullWarp, missing)) break;
    p.look_again(last.inverse, inverse);
    p.look_again(last.meeting, meeting);
    late.look_again(p);
  }
  const double mine = multiplier<Kind>(own, meeting, inverse);
  if (last.place >= 0) work.pivots()[last.place].value = mine;
  __syncwarp();
  for (int round = 0; round < late_rounds; round += kLateRounds) {
    if (round > 0) {
      late.fetch(list, lanes, row.early_rounds + round, row.rounds);
      late.peek(p);
    }
#pragma unroll
    for (int i = 0; i < kLateRounds; ++i) {
      if (round + i >= late_rounds) break;
      while (late.missing(i)) p.look_again(late.update[i].value, late.value[i]);
      if (late.update[i].places >= 0) {
        work.places[late.update[i].places >> 16].value -=
            work.places[late.update[i].places & 0xFFFF].value * late.value[i];
      }
      __syncwarp();
    }
  }
  const Index first_slot = p.lists.tasks.rows + row.first_changed;
#pragma unroll
  for (int k = 0; k < kChangedHeld; ++k) {
    if (changed[k] >= 0) p.slots.publish(first_slot + rank + k * lanes, work.places[changed[k]].value);
  }
  for (Index c = rank + kChangedHeld * lanes; c < row.changed_count; c += lanes) {
    p.slots.publish(first_slot + c, work.places[__ldg(p.lists.changed + row.first_changed + c) - row.begin].value);
  }
  const double result = publish_pivot(p, group, lane, row, group.most(row.late_pivots), diagonal,
                                      last.place >= 0 ? -mine * meeting : 0.0);
  for (Index c = rank; c < row.changed_count; c += lanes) p.next_slots[first_slot + c] = not_yet();
  double absolute_sum = 0.0;  // from here on nobody waits
  for (Index e = rank; e < row.entries; e += lanes) {
    if (e == row.diagonal) continue;
    const double entry = work.places[e].value;
    p.entries[row.begin + e] = entry;
    absolute_sum += magnitude(entry);
  }
  check_row(p, group, row, result, absolute_sum);
  __syncwarp();  // before the next row's values come
}

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

/// Long rows, one a warp: one pivot row after the other, a lane an update.
template <FactorKind Kind>
__device__ void eliminate_long(const Parameters& p, int lane, const GroupRow& row, const LongWorkspace& work) {
  constexpr bool kIlu = Kind == FactorKind::ilu0;
  const LaneGroup group(lane, kWarpSize);
  double* const values = work.values;
  HeldPivot pivot(p, row, lane);
  for (Index e = lane; e < row.entries; e += kWarpSize) {
    const double own = p.input.value(row.begin + e);
    values[e] = e == row.diagonal ? own + p.input.shift : own;
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
      for (;;) {
        const bool pivot_missing = lane <= now.pivot_lane && pivot.missing();
        if (!pivot_missing && !p.missing(now.reference, now.value)) break;
        if (pivot_missing) pivot.look_again(p);
        p.look_again(now.reference, now.value);
      }
      __syncwarp();
      const double own = kIlu && lane == now.pivot_lane ? values[pivot.list.place] : 0.0;
      const double mine = multiplier<Kind>(own, pivot.meeting, pivot.inverse);
      const double factor = __shfl_sync(kFullWarp, mine, now.pivot_lane);
      if (now.target >= 0) values[now.target] -= factor * now.value;
      __syncwarp();
      now = next;
      next = after;
    }
    if (t < row.pivot_count) {
      pivot.wait(p);
      const double mine = multiplier<Kind>(kIlu ? values[pivot.list.place] : 0.0, pivot.meeting, pivot.inverse);
      off -= mine * pivot.meeting;
      if (kIlu) values[pivot.list.place] = mine;
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
  double absolute_sum = 0.0;  // from here on nobody waits
  for (Index e = lane; e < row.entries; e += kWarpSize) {
    if (e == row.diagonal) continue;
    p.entries[row.begin + e] = values[e];
    absolute_sum += magnitude(values[e]);
  }
  check_row(p, group, row, result, absolute_sum);
  __syncwarp();  // before the next row's values come
}

/// What a warp has in shared memory: a row of the form `rounds` for each group of lanes, or a long row.
struct WarpStage {
  Place places[kPlacesPerLane * kWarpSize];
};
static_assert(sizeof(WarpStage) >= kStaged * (sizeof(double) + sizeof(Index)));

/// Kernels by the forms of rows that they know: those with fewer need fewer registers.
template <FactorKind Kind, RowForm Widest>
__device__ void eliminate_rows(const Parameters& p, const LaneGroup& group, int lane, const GroupRow& row,
                               WarpStage& stage) {
  // The lanes of a task's last rows may be idle; its first lane is not.
  const auto form = Widest == RowForm::sum ? RowForm::sum : RowForm{__shfl_sync(kFullWarp, Index(row.form), 0)};
  constexpr int kUnchanged = Widest == RowForm::sum ? kUnchangedOfSums : 1;
  if (form == RowForm::sum) return eliminate_sum<Kind, kUnchanged>(p, group, lane, row);
  if constexpr (Widest >= RowForm::targets) {
    if (form == RowForm::targets) return eliminate_targets<Kind>(p, group, lane, row);
  }
  if constexpr (Widest >= RowForm::rounds) {
    if (form == RowForm::rounds) {
      return eliminate_in_rounds<Kind>(p, group, lane, row, stage.places + kPlacesPerLane * (lane - group.rank()));
    }
  }
  if constexpr (Widest > RowForm::rounds) {
    // A row that does not fit is worked on where the result goes, which no other row reads.
    const bool fits = row.entries <= kStaged;
    auto* const staged = reinterpret_cast<double*>(stage.places);
    auto* const staged_changed = reinterpret_cast<Index*>(staged + kStaged);
    eliminate_long<Kind>(p, lane, row, {fits ? staged : p.entries + row.begin, fits ? staged_changed : nullptr});
  }
}

constexpr int blocks_per_multiprocessor(RowForm widest) { return widest == RowForm::sum ? 5 : 6; }

template <FactorKind Kind, RowForm Widest>
__global__ void __launch_bounds__(kBlock, blocks_per_multiprocessor(Widest))
    eliminate_kernel(const Parameters p, int* next_counter) {
  constexpr int kWarpsStaged = Widest > RowForm::targets ? kBlock / kWarpSize : 1;
  __shared__ WarpStage stages[kWarpsStaged];
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  WarpStage& stage = stages[static_cast<int>(threadIdx.x) / kWarpSize % kWarpsStaged];
  if (blockIdx.x == 0 && threadIdx.x == 0) *next_counter = 0;
  Index ticket = TicketCounter::receive(p.tickets.request(lane));
  int requested = p.tickets.request(lane);
  // The next task travels while this one is worked on, and the ticket after it.
  const auto fetch = [&](Index t) { return t < p.lists.tasks.tasks ? load_words(p.lists.tasks.task + t) : int4{}; };
  int4 words = fetch(ticket);
  while (ticket < p.lists.tasks.tasks) {
    WarpTask task;
    memcpy(&task, &words, sizeof(task));
    const LaneGroup group(lane, 1 << task.log2_lanes);
    const int row_in_task = lane >> task.log2_lanes;
    GroupRow row{{}, row_in_task < task.rows, task.first + row_in_task};
    if (row.active) static_cast<EliminationRow&>(row) = load(p.lists.rows + row.position);
    ticket = TicketCounter::receive(requested);
    requested = p.tickets.request(lane);
    words = fetch(ticket);
    eliminate_rows<Kind, Widest>(p, group, lane, row, stage);
  }
}

__global__ void arm_kernel(Index slots, double* first, double* second, int* counters) {
  const auto i = static_cast<Index>(cuda::element());
  if (i < slots) first[i] = second[i] = not_yet();
  if (i < 2) counters[i] = 0;
}

}  // namespace

Factor::Factor(Elimination&& elimination, FactorKind kind, Offset entries, cudaStream_t stream)
    : elimination_(std::move(elimination)), kind_(kind) {
  const Index rows = elimination_.tasks().rows;
  if (rows == 0) return;
  const Index slots = elimination_.slots();
  entries_ = {static_cast<std::size_t>(entries), stream};
  inverse_pivots_ = {static_cast<std::size_t>(rows), stream};
  counters_ = {2, stream};
  for (auto& set : slots_) set = {static_cast<std::size_t>(slots), stream};
  arm_kernel<<<cuda::element_blocks(slots), cuda::kElementBlock, 0, stream>>>(slots, slots_[0].data(), slots_[1].data(),
                                                                              counters_.data());
  cuda::check_launch("arm_kernel");
}

void Factor::attempt(const FactorInput& input, const PivotRule& rule, cudaStream_t stream) {
  *report_.data() = FactorReport{};
  const TaskList& tasks = elimination_.tasks();
  if (tasks.rows == 0) return;
  SolveTuning tuning;
  if (elimination_.many_updates()) tuning.lookahead_levels_many_lanes = kLookaheadWithUpdates;
  const std::size_t next = current_;
  current_ = 1 - current_;
  const Parameters parameters{elimination_.view(),
                              input,
                              rule,
                              Slots{slots_[current_].data()},
                              slots_[next].data(),
                              entries_.data(),
                              inverse_pivots_.data(),
                              report_.data(),
                              TicketCounter{counters_.data() + current_}};
  const auto launch = [&](auto kernel) {
    kernel<<<persistent_blocks(tasks, tuning, kBlock), kBlock, 0, stream>>>(parameters, counters_.data() + next);
    cuda::check_launch("eliminate_kernel");
  };
  const auto launch_kind = [&](auto kind) {
    if (elimination_.widest() == RowForm::sum) {
      launch(eliminate_kernel<kind(), RowForm::sum>);
    } else if (elimination_.widest() == RowForm::targets) {
      launch(eliminate_kernel<kind(), RowForm::targets>);
    } else if (elimination_.widest() == RowForm::rounds) {
      launch(eliminate_kernel<kind(), RowForm::rounds>);
    } else {
      launch(eliminate_kernel<kind(), RowForm::searched>);
    }
  };
  if (kind_ == FactorKind::ic0) {
    launch_kind(std::integral_constant<FactorKind, FactorKind::ic0>{});
  } else {
    launch_kind(std::integral_constant<FactorKind, FactorKind::ilu0>{});
  }
  finished_.record(stream);
}

FactorReport Factor::report() const {
  if (elimination_.tasks().rows > 0) finished_.wait();
  return *report_.data();
}

std::int64_t Factor::bytes() const {
  return elimination_.bytes() + entries_.bytes() + inverse_pivots_.bytes() + slots_[0].bytes() + slots_[1].bytes() +
         counters_.bytes();
}

}  // namespace taskdag::kernels

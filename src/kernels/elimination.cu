#include <algorithm>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <limits>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "kernels/elimination.hpp"
#include "kernels/elimination_search.cuh"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::kFullWarp;
using cuda::kWarpSize;
using cuda::ScratchArray;

// A lane of a row without updates gets at most this many pivot rows, as long as the row gets at most 32 lanes.
constexpr Index kPivotsPerLane = 4;
// A row whose updates are more than this many times its entries has them searched for in each factorisation.
constexpr std::int64_t kListedPerEntry = 64;
// Where levels have fewer rows than this on average, what counts is how long a row takes: a lane a target is best.
constexpr Index kNarrowLevel = 500;
// Elsewhere, it is the number of instructions: rows of ilu0 with so many updates or more have them dealt out to rounds.
constexpr std::int64_t kUpdatesOfRounds = 64;
// Such a row gets a lane for so many updates, about.
constexpr std::int64_t kUpdatesPerLane = 6;
// No row takes more rounds: a level of pivot rows takes at most one for each of them and one for each `lanes` updates.
// With 32 lanes there are at most 127 pivot rows and 8128 updates, with fewer at most kUpdatesPerLane for each.
constexpr int kMostRounds = 512;
constexpr Index kMostPlaces = kPlacesPerLane * kWarpSize;
// Rows with more pivot rows are not sorted.
constexpr Index kMostSorted = 1024;
// Levels of rows that should have warps at once.
constexpr std::int64_t kLevelsAtOnce = 4;
// Warps per multiprocessor that the elimination can have, about.
constexpr int kWarps = 24;

/// What is known of each row before the lists are made.
struct RowCounts {
  std::int64_t* updates;
  Index* changed;  // entries right of the diagonal that are updated
};

/// One warp a row. slots: per entry, −1 before, 0 where an entry right of the diagonal is changed.
template <class Pattern>
__global__ void count_updates(const Pattern view, Index* slots, RowCounts counts) {
  const auto row = static_cast<Index>(element() / kWarpSize);
  if (row >= view.pattern.rows) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const Offset begin = view.pattern.row_offsets[row];
  const Index entries = view.pattern.row_offsets[row + 1] - begin;
  const Index diagonal = view.diagonal(row);
  const Index count = view.pivot_count(row);
  const Offset first_pivot = view.first_pivot(row);
  std::int64_t updates = 0;
  for (Index first = 0; first < count;) {
    const PivotBatch batch(
        view, first, count, [&](Index t) { return first_pivot + t; }, lane);
    batch.each(view, view.pattern.col_indices + begin, entries, lane, [&](int, int, Offset, Index target) {
      updates += __popc(__ballot_sync(kFullWarp, target >= 0 && target != diagonal));
      if (target > diagonal) slots[begin + target] = 0;
    });
    first += batch.pivots;
  }
  __syncwarp();
  Index changed = 0;
  for (Index e = diagonal + 1 + lane; e < entries; e += kWarpSize) changed += slots[begin + e] >= 0 ? 1 : 0;
  changed = __reduce_add_sync(kFullWarp, changed);
  if (lane == 0) {
    counts.updates[row] = updates;
    counts.changed[row] = changed;
  }
}

/// The form of each row, and its lanes. room: with so many lanes a row with updates the rows of a level still run side
/// by side; more lanes than needed keep rows apart, which share a warp wait for each other.
template <class Pattern>
__global__ void choose_forms(const Pattern view, RowCounts counts, std::int64_t listed_per_entry, Index room,
                             Index* lanes, RowForm* form, Index* kind, bool narrow) {
  const auto row = static_cast<Index>(element());
  if (row >= view.pattern.rows) return;
  const Index pivots = view.pivot_count(row);
  const Index entries = view.pattern.row_offsets[row + 1] - view.pattern.row_offsets[row];
  const Index changed = counts.changed[row];
  const Index targets = Pattern::kMultipliersAreTargets ? pivots + changed : max(pivots, changed);
  const Index places = entries + (Pattern::kMultipliersAreTargets ? pivots : 2 * pivots);
  Index wanted = kWarpSize;
  if (counts.updates[row] == 0) {
    form[row] = RowForm::sum;
    wanted = (pivots + kPivotsPerLane - 1) / kPivotsPerLane;
  } else if (counts.updates[row] > listed_per_entry * entries) {
    form[row] = RowForm::searched;
  } else if (targets <= kWarpSize &&
             (narrow || !Pattern::kMultipliersAreTargets || counts.updates[row] < kUpdatesOfRounds)) {
    form[row] = RowForm::targets;
    wanted = max(targets, room);
  } else if (places > kMostPlaces) {
    form[row] = RowForm::long_row;
  } else {
    form[row] = RowForm::rounds;
    wanted = max(room, max((places + kPlacesPerLane - 1) / kPlacesPerLane,
                           static_cast<Index>((counts.updates[row] + kUpdatesPerLane - 1) / kUpdatesPerLane)));
  }
  kind[row] = form[row] == RowForm::sum ? 0 : form[row] == RowForm::targets ? 1 : 2;
  Index power = 1;
  while (power < wanted && power < kWarpSize) power *= 2;
  lanes[row] = power;
}

/// Sizes by position, later where each row's lists begin; one more for the total.
struct RowOffsets {
  Index* pivots;
  std::int64_t* updates;
  Index* changed;
};

template <class Pattern>
__global__ void sizes_by_position(const Pattern view, const Index* order, RowCounts counts, const RowForm* form,
                                  RowOffsets sizes) {
  const auto p = static_cast<Index>(element());
  if (p > view.pattern.rows) return;
  sizes.pivots[p] = sizes.changed[p] = 0;
  sizes.updates[p] = 0;
  if (p == view.pattern.rows) return;
  const Index row = order[p];
  sizes.pivots[p] = view.pivot_count(row);
  sizes.changed[p] = counts.changed[row];
  switch (form[row]) {
    case RowForm::sum:
      break;
    case RowForm::targets:
      sizes.updates[p] = counts.updates[row] + counts.updates[row] % 2;
      break;
    case RowForm::rounds:
    case RowForm::long_row:
      sizes.updates[p] = 2 * counts.updates[row];
      break;
    case RowForm::searched:
      sizes.updates[p] = 2 * std::int64_t{sizes.pivots[p]};
      break;
  }
}

/// One warp a position: the row's header, the numbers of its slots in place of their marks, and what they belong to.
template <class Pattern>
__global__ void fill_rows(const Pattern view, TaskList::View tasks, RowCounts counts, const RowForm* form,
                          RowOffsets offsets, EliminationRow* rows, Index* slots, Offset* changed) {
  const auto p = static_cast<Index>(element() / kWarpSize);
  if (p >= tasks.rows) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const Index row = tasks.order[p];
  const Offset begin = view.pattern.row_offsets[row];
  const Index entries = view.pattern.row_offsets[row + 1] - begin;
  if (lane == 0) {
    rows[p] = {row,
               entries,
               view.diagonal(row),
               view.pivot_count(row),
               begin,
               offsets.pivots[p],
               static_cast<Offset>(offsets.updates[p]),
               form[row] == RowForm::searched ? 0 : static_cast<Index>(counts.updates[row]),
               offsets.changed[p],
               counts.changed[row],
               form[row],
               0,
               0,
               0};
  }
  Offset next = offsets.changed[p];
  for (Index base = view.diagonal(row) + 1; base < entries; base += kWarpSize) {
    const Index e = base + lane;
    const bool is_changed = e < entries && slots[begin + e] >= 0;
    const unsigned all = __ballot_sync(kFullWarp, is_changed);
    if (is_changed) {
      const Offset at = next + __popc(all & lanes_below(lane));
      slots[begin + e] = tasks.rows + at;
      changed[at] = begin + e;
    }
    next += __popc(all);
  }
}

/// Writes the lists of one row with one warp.
template <class Pattern>
struct RowLists {
  const Pattern view;
  EliminationView lists;
  PivotRow* pivots;  // of all rows, as the rest
  unsigned* masks;
  ValueReference* updates;
  Index* order;  // scratch: pivot row of a row in the pattern's order → in the list's
  const Offset* source;

  __device__ ValueReference reference(Offset e) const {
    const Index slot = lists.slots[e];
    if (slot >= 0) return slot;
    const Offset from = source ? source[e] : e;
    return from >= 0 ? ~from : kNoValue;
  }

  __device__ void list_pivots(const EliminationRow& row, int lane) const {
    const Offset first = view.first_pivot(row.row);
    const bool sorted = row.form != RowForm::sum && row.pivot_count <= kMostSorted;
    for (Index t = lane; t < row.pivot_count; t += kWarpSize) {
      const Index position = lists.tasks.position[view.pivot_row(first + t)];
      Index at = t;
      if (sorted) {
        at = 0;
        for (Index k = 0; k < row.pivot_count; ++k) {
          at += lists.tasks.position[view.pivot_row(first + k)] < position ? 1 : 0;
        }
      }
      order[row.first_pivot + t] = at;
      pivots[row.first_pivot + at] = {position, kNoValue, t, 0};
    }
    __syncwarp();
  }

  /// Which target an entry of the row is.
  __device__ Index target_of(const EliminationRow& row, Index entry) const {
    if (entry < row.diagonal) return order[row.first_pivot + entry];
    const Index changed = lists.slots[row.begin + entry] - lists.tasks.rows - row.first_changed;
    return (Pattern::kMultipliersAreTargets ? row.pivot_count : 0) + changed;
  }

  __device__ void list_updates(const EliminationRow& row, int lane) const {
    const Offset first_pivot = view.first_pivot(row.row);
    PivotRow* const mine = pivots + row.first_pivot;
    Index listed = 0;
    for (Index first = 0; first < row.pivot_count;) {
      const PivotBatch batch(
          view, first, row.pivot_count, [&](Index t) { return first_pivot + mine[t].place; }, lane);
      const auto each = [&](const auto& visit) {
        batch.each(view, view.pattern.col_indices + row.begin, row.entries, lane, visit);
      };
      int count = 0;  // updates by this lane's pivot row
      each([&](int base, int owner, Offset e, Index entry) {
        const bool is_update = entry >= 0 && entry != row.diagonal;
        if (entry == row.diagonal) mine[first + owner].meeting = reference(e);
        count += __popc(batch.mine(__ballot_sync(kFullWarp, is_update), base));
        if (is_update && row.form == RowForm::targets) {
          atomicOr(masks + row.first_pivot + first + owner, 1U << target_of(row, entry));
        }
      });
      if (lane >= batch.pivots) count = 0;
      const int through = inclusive_sum(count, lane);
      if (lane < batch.pivots) mine[first + lane].first_update = listed + through - count;
      __syncwarp();
      if (row.form == RowForm::searched && lane < batch.pivots) {
        ValueReference* const range = updates + row.first_update + 2 * (first + lane);
        range[0] = batch.first;
        range[1] = batch.first + batch.through - batch.before;
      }
      Index next = row.first_update + listed;
      if (row.update_count > 0) {
        each([&](int, int owner, Offset e, Index entry) {
          const bool is_update = entry >= 0 && entry != row.diagonal;
          const unsigned all = __ballot_sync(kFullWarp, is_update);
          if (is_update && row.form == RowForm::targets) {
            // Past the first-level cache, which atomic operations leave as it is.
            const unsigned mask = __ldcg(masks + row.first_pivot + first + owner);
            const Index at = row.first_update + mine[first + owner].first_update;
            updates[at + __popc(mask & lanes_below(target_of(row, entry)))] = reference(e);
          } else if (is_update) {
            const Index at = next + __popc(all & lanes_below(lane));
            updates[at] = reference(e);
            updates[at + row.update_count] = entry;
          }
          next += __popc(all);
        });
      }
      listed += __shfl_sync(kFullWarp, through, kWarpSize - 1);
      first += batch.pivots;
    }
  }
};

/// One warp a position.
template <class Pattern>
__global__ void fill_lists(const RowLists<Pattern> lists) {
  const auto p = static_cast<Index>(element() / kWarpSize);
  if (p >= lists.view.pattern.rows) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const EliminationRow row = lists.lists.rows[p];
  lists.list_pivots(row, lane);
  lists.list_updates(row, lane);
}

/// Deals the updates of the rows of the form `rounds` out to rounds.
struct RoundScheduler {
  struct Row {
    std::int16_t last_round[kMostPlaces];  // of each entry's updates so far
    int taken[kMostRounds];                // lanes of each round
  };
  EliminationView lists;
  const Index* level;  // by row
  const Index* lanes;  // by row
  EliminationRow* rows;
  ValueReference* updates;  // the targets become RoundUpdate::places
  std::int32_t* where;      // by update: round · lanes + lane
  std::int64_t* sizes;      // by position, in the end: how much of the list of updates the row needs
  bool multipliers_are_targets;

  __device__ Index level_of(const PivotRow& pivot) const { return level[lists.tasks.order[pivot.inverse]]; }
  __device__ void deal_out(Index p, int lane, Row& state) const {
    const EliminationRow row = lists.rows[p];
    if (row.form != RowForm::rounds) return;
    const Index width = lanes[row.row];
    const Index highest = level_of(lists.pivots[row.first_pivot + row.pivot_count - 1]);
    Index late = 0;
    while (late < min(width, row.pivot_count) &&
           level_of(lists.pivots[row.first_pivot + row.pivot_count - 1 - late]) == highest) {
      ++late;
    }
    const Index early = row.pivot_count - late;
    int early_rounds = -1;
    for (Index e = lane; e < row.entries; e += kWarpSize) state.last_round[e] = -1;
    for (int r = lane; r < kMostRounds; r += kWarpSize) state.taken[r] = 0;
    __syncwarp();
    const std::int32_t first_place = multipliers_are_targets ? 0 : row.entries;
    int earliest = 0;  // round that pivot rows of this level may begin in
    int top = -1;      // last round in use
    Index level_before = -1;
    for (Index chunk = 0; chunk < row.pivot_count; chunk += kWarpSize) {
      const Index mine = chunk + lane;
      PivotRow pivot{};
      Index pivot_level = -1;
      Index end_of_mine = row.update_count;
      if (mine < row.pivot_count) {
        pivot = lists.pivots[row.first_pivot + mine];
        pivot_level = level_of(pivot);
        if (mine + 1 < row.pivot_count) end_of_mine = lists.pivots[row.first_pivot + mine + 1].first_update;
      }
      for (int k = 0; k < min(kWarpSize, row.pivot_count - chunk); ++k) {
        const Index begin = __shfl_sync(kFullWarp, pivot.first_update, k);
        const Index end = __shfl_sync(kFullWarp, end_of_mine, k);
        if (begin == end) continue;
        const Index this_level = __shfl_sync(kFullWarp, pivot_level, k);
        const Index place = __shfl_sync(kFullWarp, pivot.place, k);
        const bool first_late = chunk + k >= early && early_rounds < 0;
        if (first_late) early_rounds = top + 1;
        // Not even where a round has lanes to spare: it would wait for what comes later.
        if (first_late || this_level != level_before) earliest = top + 1;
        level_before = this_level;
        const int ready = multipliers_are_targets ? max(earliest, state.last_round[place] + 1) : earliest;
        __syncwarp();
        int latest = ready;
        for (Index u = begin + lane; u < end; u += kWarpSize) {
          ValueReference* const target = updates + row.first_update + row.update_count + u;
          const Index entry = *target;
          int round = max(ready, state.last_round[entry] + 1);
          int taken = 0;
          while ((taken = atomicAdd(state.taken + round, 1)) >= width) ++round;
          latest = max(latest, round);
          state.last_round[entry] = static_cast<std::int16_t>(round);
          where[row.first_update + u] = round * width + taken;
          *target = (first_place + place) | entry << 16;
        }
        top = max(top, __reduce_max_sync(kFullWarp, latest));
        __syncwarp();
      }
    }
    if (lane != 0) return;
    rows[p].rounds = static_cast<std::uint16_t>(top + 1);
    rows[p].early_rounds = static_cast<std::uint16_t>(early_rounds < 0 ? top + 1 : early_rounds);
    rows[p].late_pivots = static_cast<std::uint8_t>(late);
    sizes[p] = std::int64_t{2} * (top + 1) * width;
  }
};

constexpr int kSchedulerBlock = 128;

__global__ void deal_out_updates(const RoundScheduler scheduler) {
  __shared__ RoundScheduler::Row state[kSchedulerBlock / kWarpSize];
  const auto p = static_cast<Index>((std::int64_t{blockIdx.x} * kSchedulerBlock + threadIdx.x) / kWarpSize);
  if (p >= scheduler.lists.tasks.rows) return;
  scheduler.deal_out(p, static_cast<int>(threadIdx.x) % kWarpSize, state[threadIdx.x / kWarpSize]);
}

/// One warp a position: moves the row's updates to where they stay.
__global__ void place_updates(Index positions, EliminationRow* rows, const std::int64_t* first, const Index* lanes,
                              const ValueReference* dealt, const std::int32_t* where, ValueReference* updates) {
  const auto p = static_cast<Index>(element() / kWarpSize);
  if (p >= positions) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const EliminationRow row = rows[p];
  const ValueReference* const from = dealt + row.first_update;
  ValueReference* const to = updates + first[p];
  if (row.form == RowForm::rounds) {
    auto* const round_updates = reinterpret_cast<RoundUpdate*>(to);
    for (Index k = lane; k < row.rounds * lanes[row.row]; k += kWarpSize) round_updates[k] = {kNoValue, -1};
    __syncwarp();
    for (Index u = lane; u < row.update_count; u += kWarpSize) {
      round_updates[where[row.first_update + u]] = {from[u], from[row.update_count + u]};
    }
  } else {
    const auto size = static_cast<Index>(first[p + 1] - first[p]);
    for (Index k = lane; k < size; k += kWarpSize) to[k] = from[k];
  }
  __syncwarp();
  if (lane == 0) rows[p].first_update = static_cast<Offset>(first[p]);
}

/// In place; one element more than `rows`.
template <class T>
void exclusive_sum(T* sizes, Index rows, cudaStream_t stream) {
  cuda::with_scratch(
      [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceScan::ExclusiveSum(scratch, bytes, sizes, sizes, rows + 1, stream);
      },
      stream);
}

__global__ void widest_form(Index rows, const EliminationRow* row, Index* widest) {
  const auto p = static_cast<Index>(element());
  const Index form = p < rows ? static_cast<Index>(row[p].form) : 0;
  const Index most = __reduce_max_sync(kFullWarp, form);
  if (threadIdx.x % kWarpSize == 0) atomicMax(widest, most);
}

/// The last of RowForm that occurs. Asynchronous.
void find_widest(Index rows, const EliminationRow* row, Index* widest, cudaStream_t stream) {
  cuda::check(cudaMemsetAsync(widest, 0, sizeof(Index), stream), "resetting the widest form");
  widest_form<<<element_blocks(rows), kElementBlock, 0, stream>>>(rows, row, widest);
  cuda::check_launch("widest_form");
}

}  // namespace

template <class Pattern>
Elimination::Elimination(const Pattern& view, const RowLevels& levels, const Offset* source, cudaStream_t stream) {
  const DevicePattern& pattern = view.pattern;
  const auto rows = static_cast<std::size_t>(pattern.rows);
  const auto entries = static_cast<std::size_t>(pattern.entries);
  columns_ = pattern.col_indices;
  if (rows == 0) return;
  const int warp_each = element_blocks(std::int64_t{pattern.rows} * kWarpSize);
  const int thread_each = element_blocks(std::int64_t{pattern.rows} + 1);

  slots_ = {entries, stream};
  ScratchArray<std::int64_t> counted_updates(rows, stream);
  ScratchArray<Index> counted_changed(rows, stream);
  ScratchArray<Index> lanes(rows, stream);
  ScratchArray<RowForm> form(rows, stream);
  ScratchArray<Index> kind(rows, stream);
  cuda::check(cudaMemsetAsync(slots_.data(), 0xFF, entries * sizeof(Index), stream), "resetting slots");
  const RowCounts counts{counted_updates.data(), counted_changed.data()};
  count_updates<<<warp_each, kElementBlock, 0, stream>>>(view, slots_.data(), counts);
  cuda::check_launch("count_updates");

  const std::int64_t lanes_at_once = std::int64_t{cuda::device_limits().multiprocessors} * kWarps * kWarpSize;
  Index room = kWarpSize;
  while (room > 1 && std::int64_t{pattern.rows / levels.levels} * kLevelsAtOnce * room > lanes_at_once) room /= 2;
  rows_ = {rows, stream};
  const bool narrow_levels = pattern.rows / levels.levels < kNarrowLevel;
  ScratchArray<Index> narrow(2 * (rows + 1), stream);
  ScratchArray<std::int64_t> wide(rows + 1, stream);
  const RowOffsets first{narrow.data(), wide.data(), narrow.data() + rows + 1};
  const auto total = [&](std::int64_t* sizes) {
    exclusive_sum(sizes, pattern.rows, stream);
    return cuda::fetch(sizes + rows, stream);
  };
  std::int64_t updates = 0;
  bool searched = false;  // for all updates: lists would need wider offsets
  for (;; searched = true) {
    choose_forms<<<thread_each, kElementBlock, 0, stream>>>(view, counts, searched ? 0 : kListedPerEntry, room,
                                                            lanes.data(), form.data(), kind.data(), narrow_levels);
    cuda::check_launch("choose_forms");
    tasks_ = build_tasks(levels, lanes.data(), Triangle::lower, 1, stream, kind.data());
    sizes_by_position<<<thread_each, kElementBlock, 0, stream>>>(view, tasks_.order.data(), counts, form.data(), first);
    cuda::check_launch("sizes_by_position");
    updates = total(first.updates);
    if (updates > std::numeric_limits<Offset>::max() && !searched) continue;
    static_cast<void>(checked_offset(updates, "the list of updates of a factorisation"));
    break;
  }
  exclusive_sum(first.pivots, pattern.rows, stream);
  exclusive_sum(first.changed, pattern.rows, stream);
  const auto pivots = static_cast<std::size_t>(cuda::fetch(first.pivots + rows, stream));
  const auto changed = static_cast<std::size_t>(cuda::fetch(first.changed + rows, stream));
  slot_count_ = checked_offset(static_cast<std::int64_t>(rows + changed), "the slots of a factorisation");

  pivots_ = {pivots, stream};
  changed_ = {changed, stream};
  fill_rows<<<warp_each, kElementBlock, 0, stream>>>(view, tasks_.view(), counts, form.data(), first, rows_.data(),
                                                     slots_.data(), changed_.data());
  cuda::check_launch("fill_rows");
  updates_ = {static_cast<std::size_t>(updates), stream};
  masks_ = {pivots, stream};
  ScratchArray<Index> order(pivots, stream);
  if (pivots > 0) {
    cuda::check(cudaMemsetAsync(masks_.data(), 0, pivots * sizeof(unsigned), stream), "resetting masks");
  }
  fill_lists<<<warp_each, kElementBlock, 0, stream>>>(
      RowLists<Pattern>{view, this->view(), pivots_.data(), masks_.data(), updates_.data(), order.data(), source});
  cuda::check_launch("fill_lists");
  if (updates > 0) {
    ScratchArray<std::int32_t> where(static_cast<std::size_t>(updates), stream);
    sizes_by_position<<<thread_each, kElementBlock, 0, stream>>>(view, tasks_.order.data(), counts, form.data(), first);
    cuda::check_launch("sizes_by_position");
    const int scheduler_blocks = static_cast<int>((rows * kWarpSize + kSchedulerBlock - 1) / kSchedulerBlock);
    deal_out_updates<<<scheduler_blocks, kSchedulerBlock, 0, stream>>>(
        RoundScheduler{this->view(), levels.level.data(), lanes.data(), rows_.data(), updates_.data(), where.data(),
                       first.updates, Pattern::kMultipliersAreTargets});
    cuda::check_launch("deal_out_updates");
    const std::int64_t dealt = total(first.updates);
    static_cast<void>(checked_offset(dealt, "the list of updates of a factorisation"));
    cuda::DeviceArray<ValueReference> placed(static_cast<std::size_t>(dealt), stream);
    place_updates<<<warp_each, kElementBlock, 0, stream>>>(pattern.rows, rows_.data(), first.updates, lanes.data(),
                                                           updates_.data(), where.data(), placed.data());
    cuda::check_launch("place_updates");
    std::swap(updates_, placed);
  }
  ScratchArray<Index> widest(1, stream);
  find_widest(pattern.rows, rows_.data(), widest.data(), stream);
  widest_ = RowForm{cuda::fetch(widest.data(), stream)};
}

Elimination Elimination::ilu0(const DevicePattern& pattern, const Offset* diagonal, const RowLevels& levels,
                              const Offset* source, cudaStream_t stream) {
  return {Ilu0Pattern{pattern, diagonal}, levels, source, stream};
}

Elimination Elimination::ic0(const DevicePattern& upper, const DeviceCsr& above, const RowLevels& levels,
                             const Offset* source, cudaStream_t stream) {
  return {Ic0Pattern{upper, above.row_offsets.data(), above.col_indices.data(), above.source.data()}, levels, source,
          stream};
}

}  // namespace taskdag::kernels

/// \file
/// Dealing the updates of the rows of the form `rounds` out to rounds.
#pragma once

#include "backends/cuda/seam.cuh"
#include "kernels/factor/cuda/lists.hpp"

namespace taskdag::kernels::elimination {

using cuda::kFullWarp;
using cuda::kWarpSize;

/// No row takes more rounds: a level of pivot rows takes at most one for each of them and one for each `lanes` updates.
/// With 32 lanes there are at most 127 pivot rows and 8128 updates, with fewer at most kUpdatesPerLane for each.
inline constexpr int kMostRounds = 512;
/// In shared memory, of a row of the form `rounds`.
inline constexpr Index kMostElements = kElementsPerLane * kWarpSize;

/// Deals the updates of the rows of the form `rounds` out to rounds.
struct RoundScheduler {
  struct Row {
    std::int16_t last_round[kMostElements];  // of each entry's updates so far
    int taken[kMostRounds];                  // lanes of each round
  };
  EliminationView lists;
  const Index* level;  // by row
  const Index* lanes;  // by row
  EliminationRow* rows;
  ValueReference* updates;  // the targets become RoundUpdate::elements
  std::int32_t* where;      // by update: round · lanes + lane
  std::int64_t* sizes;      // by position, in the end: how much of the list of updates the row needs
  bool multipliers_are_targets;

  __device__ Index level_of(const PivotRow& pivot) const { return level[lists.tasks.order[pivot.inverse]]; }
  /// How many of the row's last pivot rows are late: those of the highest level.
  __device__ __forceinline__ Index late_pivots(const EliminationRow& row, Index width) const {
    const Index highest = level_of(lists.pivots[row.first_pivot + row.pivot_count - 1]);
    Index late = 0;
    while (late < min(width, row.pivot_count) &&
           level_of(lists.pivots[row.first_pivot + row.pivot_count - 1 - late]) == highest) {
      ++late;
    }
    return late;
  }
  __device__ void deal_out(Index p, int lane, Row& state) const {
    const EliminationRow row = lists.rows[p];
    if (row.form != RowForm::rounds) return;
    const Index width = lanes[row.row];
    const Index late = late_pivots(row, width);
    const Index early = row.pivot_count - late;
    int early_rounds = -1;
    for (Index e = lane; e < row.entries; e += kWarpSize) state.last_round[e] = -1;
    for (int r = lane; r < kMostRounds; r += kWarpSize) state.taken[r] = 0;
    __syncwarp();
    const std::int32_t first_element = multipliers_are_targets ? 0 : row.entries;
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
        const Index index = __shfl_sync(kFullWarp, pivot.index, k);
        const bool first_late = chunk + k >= early && early_rounds < 0;
        if (first_late) early_rounds = top + 1;
        // Not even where a round has lanes to spare: it would wait for what comes later.
        if (first_late || this_level != level_before) earliest = top + 1;
        level_before = this_level;
        const int ready = multipliers_are_targets ? max(earliest, state.last_round[index] + 1) : earliest;
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
          *target = (first_element + index) | entry << 16;
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

/// Deals out all `rows` of the scheduler. Asynchronous.
void deal_out(const RoundScheduler& scheduler, Index rows, cudaStream_t stream);

/// Moves the updates of all rows from `dealt` to where they stay: those at position p begin at first[p]. `where`: see
/// RoundScheduler. Asynchronous.
void place(Index positions, EliminationRow* rows, const std::int64_t* first, const Index* lanes,
           const ValueReference* dealt, const std::int32_t* where, ValueReference* updates, cudaStream_t stream);

}  // namespace taskdag::kernels::elimination

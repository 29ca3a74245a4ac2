/// \file
/// Which form a row takes for its updates.
#pragma once

#include "backends/cuda/algorithm.cuh"
#include "kernels/factor/cuda/deal_out.cuh"
#include "kernels/factor/cuda/updates.hpp"

namespace taskdag::kernels::elimination {

using cuda::element;

/// A lane of a row without updates gets at most this many pivot rows, as long as the row gets at most 32 lanes.
inline constexpr Index kPivotsPerLane = 4;
/// Rows with so many updates or more are better off in registers, if most rows are such. An update of ic stands for two
/// of ilu.
template <class Pattern>
inline constexpr std::int64_t kUpdatesOfRegisters = Pattern::kMultipliersAreTargets ? 16 : 8;
/// Where levels have fewer rows than this on average, what counts is how long a row takes: a lane a target is best.
inline constexpr Index kNarrowLevel = 500;
/// Elsewhere, it is the number of instructions: rows of ilu with so many updates or more have them dealt out to
/// rounds.
inline constexpr std::int64_t kUpdatesOfRounds = 64;
/// Such a row gets a lane for so many updates, about.
inline constexpr std::int64_t kUpdatesPerLane = 6;

/// Whether a row may have the form `registers`.
template <class Pattern>
__device__ bool fits_registers(const Pattern& view, Index row) {
  const Index entries = view.pattern.row_offsets[row + 1] - view.pattern.row_offsets[row];
  return registers_of(entries, view.pivot_count(row)) <= kMostRegisters;
}

/// The form of each row, and its lanes. listed_per_entry: more updates than so many times a row's entries are searched
/// for; 0: all are. registers: rows may have that form, all their entries right of the diagonal having slots. room:
/// with so many lanes a row with updates the rows of a level still run side by side; more lanes than needed keep rows
/// apart, which share a warp wait for each other.
template <class Pattern>
__global__ void choose_forms(const Pattern view, RowCounts counts, std::int64_t listed_per_entry, Index room,
                             Index* lanes, RowForm* form, Index* kind, bool narrow, bool registers) {
  const auto row = static_cast<Index>(element());
  if (row >= view.pattern.rows) return;
  const Index pivots = view.pivot_count(row);
  const Index entries = view.pattern.row_offsets[row + 1] - view.pattern.row_offsets[row];
  const Index changed = counts.changed[row];
  const Index targets = Pattern::kMultipliersAreTargets ? pivots + changed : max(pivots, changed);
  const Index elements = entries + (Pattern::kMultipliersAreTargets ? pivots : 2 * pivots);
  Index wanted = kWarpSize;
  if (registers && listed_per_entry > 0 && fits_registers(view, row)) {
    form[row] = form_of_registers(registers_of(entries, pivots));
  } else if (registers && counts.updates[row] == 0) {
    form[row] = RowForm::long_row;  // its entries have slots, too
  } else if (counts.updates[row] == 0) {
    form[row] = RowForm::sum;
    wanted = (pivots + kPivotsPerLane - 1) / kPivotsPerLane;
  } else if (counts.updates[row] > listed_per_entry * entries) {
    form[row] = RowForm::searched;
  } else if (targets <= kWarpSize &&
             (narrow || !Pattern::kMultipliersAreTargets || counts.updates[row] < kUpdatesOfRounds)) {
    form[row] = RowForm::targets;
    wanted = max(targets, room);
  } else if (elements > kMostElements) {
    form[row] = RowForm::long_row;
  } else {
    form[row] = RowForm::rounds;
    wanted = max(room, max((elements + kElementsPerLane - 1) / kElementsPerLane,
                           static_cast<Index>((counts.updates[row] + kUpdatesPerLane - 1) / kUpdatesPerLane)));
  }
  kind[row] = form[row] == RowForm::sum ? 0 : form[row] == RowForm::targets ? 1 : 2;
  Index power = 1;
  while (power < wanted && power < kWarpSize) power *= 2;
  lanes[row] = power;
}

}  // namespace taskdag::kernels::elimination

#include "solver/choice/selector.hpp"

#include <algorithm>

namespace taskdag {

namespace {

/// Microseconds of a solve by the schedule flat, fitted on an H200: a launch, a hop between multiprocessors a level,
/// longer where rows have several entries, and entries streamed through, faster where a row's are side by side.
double flat_microseconds(const kernels::TriangleFeatures& features) {
  constexpr double kLaunch = 9.0;
  constexpr double kHop = 0.275;
  constexpr double kHopByEntries = 0.1075;
  constexpr double kMostEntries = 4.2;
  constexpr double kEntry = 1.9e-5;
  constexpr double kEntryOfLongRow = 1.2e-5;
  constexpr double kLongRow = 16.0;
  const double a_row = features.entries_per_row();
  return kLaunch + features.levels * (kHop + kHopByEntries * std::min(a_row, kMostEntries)) +
         features.entries * (a_row > kLongRow ? kEntryOfLongRow : kEntry);
}

/// Microseconds of a solve by the schedule blocks, fitted on an H200: a superstep each colour, the steps of its cells
/// (a third more than its levels), rows and entries streamed through.
double blocks_microseconds(const kernels::TriangleFeatures& features) {
  constexpr double kLaunch = 6.0;
  constexpr double kSuperstep = 3.0;
  constexpr double kStep = 0.15;
  constexpr double kStepsPerLevel = 1.3;
  constexpr double kRow = 5e-6;
  constexpr double kEntry = 8e-6;
  return kLaunch + features.colours * kSuperstep + features.levels * kStepsPerLevel * kStep + features.rows * kRow +
         features.entries * kEntry;
}

constexpr double kPass = 4.0;  ///< microseconds: over the right-hand side, before the sweep that is left

}  // namespace

ExpectedSchedule choose_schedule(const kernels::TriangleFeatures& features) {
  const double flat = flat_microseconds(features);
  // Estimates err: cells must promise a gain.
  constexpr double kMargin = 0.9;
  const double blocks = features.colours > 0 ? blocks_microseconds(features) : flat;
  const bool cells = features.cells > 0 && features.longest_row <= kLongestRowOfCells &&
                     features.cells_microseconds < kMargin * std::min(flat, blocks);
  if (cells) return {SolveSchedule::cells, features.cells_microseconds};
  if (blocks < flat) return {SolveSchedule::blocks, blocks};
  return {SolveSchedule::flat, flat};
}

bool supernodes_pay(const ExpectedSchedule& usual, const ExpectedSchedule& condensed) {
  return condensed.microseconds + kPass < usual.microseconds;
}

bool joining_pays(const ExpectedSchedule& usual, const ExpectedSchedule& joined) {
  // It costs at each load of values; and the estimate for flat is the coarser one.
  const double margin = joined.schedule == SolveSchedule::flat ? 0.85 : 0.9;
  return joined.microseconds + kPass < margin * usual.microseconds;
}

}  // namespace taskdag

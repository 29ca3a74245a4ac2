#include "solver/selector.hpp"

#include <algorithm>

namespace taskdag {

namespace {

/// Microseconds of a solve by the schedule flat, fitted on an H200: a launch, a hop between multiprocessors a level,
/// longer where rows have several lanes, and rows and entries streamed through.
double flat_microseconds(const kernels::TriangleFeatures& features) {
  constexpr double kLaunch = 6.0;
  constexpr double kHop = 0.4;
  constexpr double kHopByEntries = 0.03;
  constexpr double kMostEntries = 16.0;
  constexpr double kRow = 6e-5;
  constexpr double kEntry = 4e-6;
  return kLaunch + features.levels * (kHop + kHopByEntries * std::min(features.entries_per_row(), kMostEntries)) +
         features.rows * kRow + features.entries * kEntry;
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

}  // namespace

ExpectedSchedule choose_schedule(const kernels::TriangleFeatures& features) {
  // Two levels: the rows of the second look at nothing but the few places of the first, all at once. Two launches wait
  // for nothing.
  constexpr Index kWideLevel = 10000;
  constexpr Index kShortRow = 128;
  constexpr Offset kMostEntries = 1000000;  // that schedule is prepared on the host
  const double flat = flat_microseconds(features);
  if (features.levels == 2 && features.widest_level >= kWideLevel && features.longest_row <= kShortRow &&
      features.entries <= kMostEntries) {
    return {SolveSchedule::level_graph, flat};
  }
  // Above this a row takes all lanes of a fetcher by itself, and waits for one batch of operands after the other.
  constexpr Index kLongestRow = 128;
  // Estimates err: cells must promise a gain.
  constexpr double kMargin = 0.9;
  const double blocks = features.colours > 0 ? blocks_microseconds(features) : flat;
  const bool cells = features.cells > 0 && features.longest_row <= kLongestRow &&
                     features.cells_microseconds < kMargin * std::min(flat, blocks);
  if (cells) return {SolveSchedule::cells, features.cells_microseconds};
  if (blocks < flat) return {SolveSchedule::blocks, blocks};
  return {SolveSchedule::flat, flat};
}

bool supernodes_pay(const ExpectedSchedule& usual, const ExpectedSchedule& condensed) {
  constexpr double kScaling = 4.0;  // microseconds: the pass over the right-hand side
  return condensed.microseconds + kScaling < usual.microseconds;
}

}  // namespace taskdag

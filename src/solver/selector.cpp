#include "solver/selector.hpp"

#include <algorithm>

namespace taskdag {

namespace {

/// Microseconds of a solve by the schedule flat, fitted on an H200: a hop between multiprocessors a level, longer where
/// rows have several lanes, and the entries streamed through.
double flat_microseconds(const kernels::TriangleFeatures& features) {
  constexpr double kHop = 0.4;
  constexpr double kEntryOfRow = 0.045;
  constexpr double kMostEntries = 16.0;
  constexpr double kBytesOfEntry = 12.0;
  constexpr double kBytesAMicrosecond = 3.0e6;
  return features.levels * (kHop + kEntryOfRow * std::min(features.entries_per_row(), kMostEntries)) +
         static_cast<double>(features.entries) * kBytesOfEntry / kBytesAMicrosecond;
}

}  // namespace

SolveSchedule choose_schedule(const kernels::TriangleFeatures& features) {
  // Estimates err: cells must promise a gain.
  constexpr double kMargin = 0.8;
  const bool cells = features.cells > 0 && features.cells_microseconds < kMargin * flat_microseconds(features);
  return cells ? SolveSchedule::cells : SolveSchedule::flat;
}

}  // namespace taskdag

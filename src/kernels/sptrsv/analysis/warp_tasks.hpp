/// \file
/// Rows in level order, grouped into warp tasks of rows that do not depend on each other.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "kernels/sptrsv/analysis/levels.hpp"

namespace taskdag::kernels {

/// A warp task: `rows` consecutive positions from `first`, 2^log2_lanes lanes a row, `width` entries a lane, its
/// entries at 32 · `offset` in the packed arrays, interleaved by lane.
struct alignas(16) WarpTask {
  Index first;
  std::uint16_t rows;
  std::uint16_t log2_lanes;
  Index width;
  Index offset;
};

/// Triangles with more levels have no wide ones worth a launch.
inline constexpr Index kMostLevelsListed = 64;

/// Rows in level order, cut into warp tasks. Tasks are numbered by level, so a task waits only for smaller numbers.
struct TaskList {
  Index rows = 0;
  Index levels = 0;
  Index widest_level = 0;  ///< in rows
  Offset entries = 0;      ///< sum of the counts
  Index tasks = 0;
  Index slots = 0;                    ///< packed storage: 32 · slots entries
  cuda::DeviceArray<Index> order;     ///< position → row
  cuda::DeviceArray<Index> position;  ///< row → position
  cuda::DeviceArray<WarpTask> task;
  /// First task of each level, and their number; empty for more than kMostLevelsListed levels.
  std::vector<Index> level_begin;
  [[nodiscard]] std::int64_t bytes() const { return order.bytes() + position.bytes() + task.bytes(); }

  /// What kernels take by value.
  struct View {
    Index rows;
    Index tasks;
    const Index* order;
    const Index* position;
    const WarpTask* task;
  };
  [[nodiscard]] View view() const { return {rows, tasks, order.data(), position.data(), task.data()}; }
};

/// A lane of a solve gets at most this many entries of a row, as long as a row gets at most 32 lanes.
inline constexpr int kEntriesPerLane = 4;

/// `entries_per_lane`: a row gets the fewest lanes (1, 2, … 32) with which no lane has more than that many of its
/// `count` entries. Inside a level rows with equally many lanes are neighbours. kind (0, 1 or 2 by row; null: all 0):
/// rows of different kinds share no task. Synchronises `stream`.
TaskList build_tasks(const RowLevels& levels, const Index* count, Triangle triangle, int entries_per_lane,
                     cudaStream_t stream, const Index* kind = nullptr);

}  // namespace taskdag::kernels

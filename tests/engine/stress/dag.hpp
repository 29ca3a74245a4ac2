/// \file
/// Random DAGs, and what running one must give: the oracle of the stress tests.
#pragma once

#include <cstdint>
#include <vector>

namespace taskdag::test {

/// Tasks 0 … size - 1; edges go from lower to higher numbers. Compressed: the neighbours of task v are
/// successors[successor_offsets[v]] … successors[successor_offsets[v + 1] - 1], predecessors likewise.
struct Dag {
  static constexpr int kMostSuccessors = 6;

  std::vector<int> successor_offsets, successors;
  std::vector<int> predecessor_offsets, predecessors;
  std::vector<int> level;    ///< 0 without predecessors, else 1 + the largest of theirs
  std::vector<int> creator;  ///< a predecessor on the level before; -1 on level 0
  /// value[v] = v + 1 + the sum over its predecessors p of 3·value[p], modulo 2^64: wrong if a task ran early, twice or
  /// never.
  std::vector<std::uint64_t> value;

  [[nodiscard]] int size() const { return static_cast<int>(level.size()); }
  [[nodiscard]] int levels() const;
  [[nodiscard]] int predecessors_of(int v) const {
    return predecessor_offsets[static_cast<std::size_t>(v) + 1] - predecessor_offsets[static_cast<std::size_t>(v)];
  }
  [[nodiscard]] std::vector<int> in_degrees() const;
  /// Tasks without predecessors.
  [[nodiscard]] std::vector<int> roots() const;
  /// Number of tasks on each level.
  [[nodiscard]] std::vector<int> level_sizes() const;
};

/// Each task draws `edges_per_task` successors among the `reach` tasks after it (fewer where it drew one twice): a
/// small reach gives a deep graph, a large one a wide graph. edges_per_task <= kMostSuccessors.
Dag random_dag(int size, int edges_per_task, int reach, std::uint32_t seed);

}  // namespace taskdag::test

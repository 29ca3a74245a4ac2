/// \file
/// The graph that the schedulers work on.
#pragma once

#include <span>
#include <vector>

#include "taskdag/csr.hpp"
#include "taskdag/schedule.hpp"

namespace taskdag {

/// A directed acyclic graph of weighted tasks, numbered so that 0, 1, 2, … is a topological order: every parent of a
/// task has a smaller number. Parents and children ascend. The lists of children are there after link_children() only,
/// since half of the schedulers need none.
struct TaskGraph {
  std::vector<Offset> parent_offsets{0};  ///< size() + 1
  std::vector<Index> parents;
  std::vector<Offset> child_offsets{0};  ///< size() + 1
  std::vector<Index> children;
  std::vector<Offset> weight;  ///< of each task, at least 1: entries of its rows, their diagonals included

  [[nodiscard]] Index size() const { return static_cast<Index>(parent_offsets.size()) - 1; }
  [[nodiscard]] Offset edges() const { return parent_offsets.back(); }
  [[nodiscard]] std::span<const Index> parents_of(Index task) const {
    const auto t = static_cast<std::size_t>(task);
    return std::span(parents).subspan(static_cast<std::size_t>(parent_offsets[t]),
                                      static_cast<std::size_t>(parent_offsets[t + 1] - parent_offsets[t]));
  }
  [[nodiscard]] std::span<const Index> children_of(Index task) const {
    const auto t = static_cast<std::size_t>(task);
    return std::span(children).subspan(static_cast<std::size_t>(child_offsets[t]),
                                       static_cast<std::size_t>(child_offsets[t + 1] - child_offsets[t]));
  }
  /// Makes the lists of children from those of parents.
  void link_children();
};

/// The row that runs at `step` of a sweep in natural order, and back: ascending rows for a lower triangle, descending
/// ones for an upper triangle.
inline Index row_of_step(Triangle triangle, Index rows, Index step) {
  return triangle == Triangle::lower ? step : rows - 1 - step;
}

/// One task per row, numbered by step; an edge per entry of the strict triangle; no children yet. @pre the pattern is
/// square and valid
TaskGraph make_task_graph(const CsrPattern& pattern, Triangle triangle);

/// Level of each task: 0 without parents, else one more than the highest of its parents.
std::vector<Index> compute_levels(const TaskGraph& graph);

}  // namespace taskdag

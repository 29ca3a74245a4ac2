/// \file
/// The tasks of each level.
#pragma once

#include <numeric>
#include <span>
#include <vector>

#include "dag/supersteps/assignment.hpp"
#include "dag/task_graph.hpp"

namespace taskdag {

/// Tasks grouped by level, ascending in each.
class LevelTasks {
 public:
  explicit LevelTasks(const TaskGraph& graph) : level_(compute_levels(graph)), tasks_(level_.size()) {
    for (const Index level : level_) {
      if (static_cast<std::size_t>(level) + 1 >= first_.size()) first_.resize(static_cast<std::size_t>(level) + 2, 0);
      ++first_[static_cast<std::size_t>(level) + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::vector<std::size_t> next(first_);
    for (std::size_t task = 0; task < level_.size(); ++task) {
      tasks_[next[static_cast<std::size_t>(level_[task])]++] = static_cast<Index>(task);
    }
  }

  [[nodiscard]] Index count() const { return static_cast<Index>(first_.size()) - 1; }
  [[nodiscard]] Index level_of(Index task) const { return level_[static_cast<std::size_t>(task)]; }
  [[nodiscard]] std::span<const Index> operator[](Index level) const { return range(level, level + 1); }
  /// The tasks of the levels [first, last).
  [[nodiscard]] std::span<const Index> range(Index first, Index last) const {
    const auto begin = first_[static_cast<std::size_t>(first)];
    return std::span(tasks_).subspan(begin, first_[static_cast<std::size_t>(last)] - begin);
  }

 private:
  std::vector<Index> level_;
  std::vector<std::size_t> first_{0};  // by level, and the end
  std::vector<Index> tasks_;
};

/// Gives the tasks of one level to `superstep`, each core a run of them of about the same weight.
void cut_level(const TaskGraph& graph, std::span<const Index> tasks, int cores, Index superstep, Assignment& result);

}  // namespace taskdag

/// \file
/// Breadth-first searches over rows that are no hubs.
#pragma once

#include <span>
#include <vector>

#include "base/index.hpp"
#include "kernels/ordering/seeds/seeds.hpp"

namespace taskdag::kernels {

/// Searches, one after the other, that share their memory.
class Search {
 public:
  explicit Search(const GraphView& graph, const std::vector<Role>& role)
      : graph_(graph), role_(role), seen_(at(graph.nodes), -1) {}

  void start(Index row) {
    ++number_;
    queue_.clear();
    add(row);
    level_ = 0;
  }
  /// Goes one step further. @returns the rows that are new
  std::span<const Index> step() {
    const std::size_t end = queue_.size();
    for (std::size_t k = level_; k < end; ++k) {
      const Index row = queue_[k];
      for (EdgeOffset e = graph_.begin(row); e < graph_.end(row); ++e) add(graph_.neighbours[e]);
    }
    level_ = end;
    return std::span<const Index>(queue_).subspan(end);
  }
  void join(Index row) { add(row); }

 private:
  void add(Index row) {
    if (seen_[at(row)] == number_ || role_[at(row)] == Role::hub) return;
    seen_[at(row)] = number_;
    queue_.push_back(row);
  }

  const GraphView& graph_;
  const std::vector<Role>& role_;
  std::vector<Index> seen_;
  std::vector<Index> queue_;
  std::size_t level_ = 0;
  Index number_ = -1;
};

}  // namespace taskdag::kernels

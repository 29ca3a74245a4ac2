/// \file
/// Supersteps by glued levels: connected components of some levels, shared out to cores.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "papers/boehnlein/level_schedulers.hpp"
#include "papers/boehnlein/level_tasks.hpp"

namespace taskdag {

namespace {

/// Connected components of the tasks of some consecutive levels. The number of a component is its smallest task.
class Components {
 public:
  Components(const TaskGraph& graph, const LevelTasks& levels)
      : graph_(&graph), levels_(&levels), above_(static_cast<std::size_t>(graph.size())), weight_(above_.size()) {}

  /// Starts anew with `level` alone.
  void begin(Index level) {
    first_level_ = level;
    list_.clear();
    add(level);
  }

  /// Adds the level after those that are there.
  void add(Index level) {
    for (const Index task : (*levels_)[level]) {
      above_[static_cast<std::size_t>(task)] = task;
      weight_[static_cast<std::size_t>(task)] = graph_->weight[static_cast<std::size_t>(task)];
      list_.push_back(task);
      for (const Index parent : graph_->parents_of(task)) {
        if (levels_->level_of(parent) >= first_level_) unite(task, parent);
      }
    }
  }

  Index find(Index task) {
    while (above_[static_cast<std::size_t>(task)] != task) {
      Index& above = above_[static_cast<std::size_t>(task)];
      above = above_[static_cast<std::size_t>(above)];
      task = above;
    }
    return task;
  }

  /// No fewer than there are.
  [[nodiscard]] std::size_t most() const { return list_.size(); }
  [[nodiscard]] const std::vector<Index>& list() {
    std::erase_if(list_, [&](Index task) { return above_[static_cast<std::size_t>(task)] != task; });
    return list_;
  }
  [[nodiscard]] std::int64_t weight(Index component) const { return weight_[static_cast<std::size_t>(component)]; }

 private:
  void unite(Index a, Index b) {
    a = find(a);
    b = find(b);
    if (a == b) return;
    if (a > b) std::swap(a, b);
    above_[static_cast<std::size_t>(b)] = a;
    weight_[static_cast<std::size_t>(a)] += weight_[static_cast<std::size_t>(b)];
  }

  const TaskGraph* graph_;
  const LevelTasks* levels_;
  Index first_level_ = 0;
  std::vector<Index> list_;  // those, and tasks that were components of their own once
  std::vector<Index> above_;
  std::vector<std::int64_t> weight_;  // of a component
};

/// Components dealt to cores: the heaviest first, each to the core with the least load.
class Deal {
 public:
  Deal(Components& components, int cores) : order_(components.list()), core_(order_.size()) {
    std::ranges::stable_sort(order_, std::greater<>(), [&](Index c) { return components.weight(c); });
    std::priority_queue<std::pair<std::int64_t, Index>, std::vector<std::pair<std::int64_t, Index>>, std::greater<>>
        loads;
    for (Index core = 0; core < cores; ++core) loads.emplace(0, core);
    for (std::size_t k = 0; k < order_.size(); ++k) {
      auto [load, core] = loads.top();
      loads.pop();
      core_[k] = core;
      load += components.weight(order_[k]);
      total_ += components.weight(order_[k]);
      largest_ = std::max(largest_, load);
      loads.emplace(load, core);
    }
  }

  [[nodiscard]] bool balanced(int cores, double imbalance) const {
    return static_cast<double>(total_) >= (1.0 - imbalance) * static_cast<double>(largest_) * cores;
  }

  /// Calls visit(component, core).
  template <class Visit>
  void each(const Visit& visit) const {
    for (std::size_t k = 0; k < order_.size(); ++k) visit(order_[k], core_[k]);
  }

 private:
  std::vector<Index> order_;
  std::vector<Index> core_;
  std::int64_t total_ = 0;
  std::int64_t largest_ = 0;
};

}  // namespace

Assignment schedule_glued_levels(const TaskGraph& graph, int cores, double imbalance) {
  const LevelTasks levels(graph);
  const auto tasks = static_cast<std::size_t>(graph.size());
  Assignment result{0, std::vector<Index>(tasks), std::vector<Index>(tasks)};
  Components components(graph, levels);
  std::vector<Index> core_of(tasks);  // by component
  for (Index first = 0, last = 0; first < levels.count(); first = last) {
    components.begin(first);
    last = first + 1;
    // To deal costs as much as there are components: it is tried once an eighth as many tasks have come since.
    std::size_t added = 0;
    for (Index level = last; level < levels.count(); ++level) {
      components.add(level);
      added += levels[level].size();
      if (8 * added < components.most() && level + 1 < levels.count()) continue;
      if (!Deal(components, cores).balanced(cores, imbalance)) break;
      last = level + 1;
      added = 0;
    }
    if (last == first + 1) {
      cut_level(graph, levels[first], cores, result.supersteps, result);
    } else {
      components.begin(first);
      for (Index level = first + 1; level < last; ++level) components.add(level);
      Deal(components, cores).each([&](Index component, Index core) {
        core_of[static_cast<std::size_t>(component)] = core;
      });
      for (const Index task : levels.range(first, last)) {
        result.core[static_cast<std::size_t>(task)] = core_of[static_cast<std::size_t>(components.find(task))];
        result.superstep[static_cast<std::size_t>(task)] = result.supersteps;
      }
    }
    ++result.supersteps;
  }
  return result;
}

}  // namespace taskdag

/// \file
/// Barrier list scheduling.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "dag/supersteps/assignment.hpp"
#include "dag/supersteps/barrier_schedulers.hpp"
#include "dag/task_graph.hpp"

namespace taskdag {

/// List scheduling with barriers: cores are simulated in time; a core that becomes free takes the ready task of
/// the highest priority among those that it can run before the next barrier. Source: Böhnlein et al. 2025, section 3,
/// algorithm 3.1.
///
/// A superstep is to end once a share `idle_share` (α) of the cores is idle and at least min(1.2 busy, busy + idle / 2)
/// tasks are ready (3.2). From then on cores are filled up: they take only what ends no later than the last task that
/// runs at that time; without filling up they take nothing.
///
/// All tasks that are ready when a superstep begins run in it: a core is idle only where none of them remains. So there
/// are never more supersteps than levels.
///
/// Ready is what holds the ready tasks of the current superstep and the priorities:
///   begin(tasks)         a new superstep, in which every core can run these tasks
///   insert(core, task)   `core` alone can run `task` in this superstep
///   take(core, most)     removes and returns the best task for `core` with a weight of `most` at most, or −1
///   assigned(core, task) taken, and started
/// Cost besides that: tasks · log(cores) + edges.
template <class Ready>
class BarrierList {
 public:
  /// @pre cores >= 1, 0 < end.idle_share <= 1; the graph's children are linked
  BarrierList(const TaskGraph& graph, int cores, const SuperstepEnd& end, Ready& ready)
      : graph_(&graph),
        cores_(cores),
        end_(end),
        ready_(&ready),
        running_(static_cast<std::size_t>(cores)),
        parents_(static_cast<std::size_t>(graph.size())) {}

  Assignment run() {
    const auto tasks = static_cast<std::size_t>(graph_->size());
    result_ = {0, std::vector<Index>(tasks, kNone), std::vector<Index>(tasks, kNone)};
    for (Index task = 0; task < graph_->size(); ++task) {
      Parents& parents = parents_[static_cast<std::size_t>(task)];
      parents.missing = static_cast<Index>(graph_->parents_of(task).size());
      if (parents.missing == 0) pool_.push_back(task);
    }
    waiting_ = static_cast<Index>(pool_.size());
    while (waiting_ > 0) run_superstep();
    return std::move(result_);
  }

 private:
  static constexpr Index kNone = -1;
  static constexpr Index kSeveral = -2;
  static constexpr Offset kAnyWeight = std::numeric_limits<Offset>::max();
  using Event = std::pair<std::int64_t, int>;  // time, core

  /// Of a task.
  struct Parents {
    Index missing = 0;        // those that have not finished
    Index core = kNone;       // where those ran that finished …
    Index superstep = kNone;  // … in this superstep, the last one in which one did
  };

  void run_superstep() {
    std::erase_if(pool_, [&](Index task) { return result_.core[static_cast<std::size_t>(task)] != kNone; });
    ready_->begin(pool_);
    std::int64_t last_end = 0;
    bool ending = false;
    busy_ = 0;
    for (int core = 0; core < cores_; ++core) start(core, 0, kAnyWeight);
    std::vector<int> free;
    while (busy_ > 0) {
      if (!ending && must_end()) {
        ending = true;
        last_end = latest_end_;
      }
      const std::int64_t now = events_.top().first;
      free.clear();
      for (; !events_.empty() && events_.top().first == now; events_.pop()) {
        free.push_back(events_.top().second);
        --busy_;
      }
      for (const int core : free) finish(core);
      // Other cores that are idle found nothing before, and only a core's own results give it something new.
      for (const int core : free) {
        const std::int64_t remaining = end_.fill_up ? last_end - now : 0;
        start(core, now, ending ? static_cast<Offset>(std::min<std::int64_t>(remaining, kAnyWeight)) : kAnyWeight);
      }
    }
    ++result_.supersteps;
    latest_end_ = 0;
  }

  [[nodiscard]] bool must_end() const {
    const double busy = busy_;
    const double idle = cores_ - busy_;
    return idle >= end_.idle_share * cores_ && waiting_ >= std::min(1.2 * busy, busy + 0.5 * idle);
  }

  void start(int core, std::int64_t now, Offset most) {
    const Index task = ready_->take(core, most);
    if (task == kNone) return;
    const auto t = static_cast<std::size_t>(task);
    result_.core[t] = core;
    result_.superstep[t] = result_.supersteps;
    ready_->assigned(core, task);
    --waiting_;
    ++busy_;
    running_[static_cast<std::size_t>(core)] = task;
    const std::int64_t end = now + graph_->weight[t];
    latest_end_ = std::max(latest_end_, end);
    events_.emplace(end, core);
  }

  void finish(int core) {
    for (const Index child : graph_->children_of(running_[static_cast<std::size_t>(core)])) {
      Parents& parents = parents_[static_cast<std::size_t>(child)];
      if (parents.superstep != result_.supersteps) {
        parents.superstep = result_.supersteps;
        parents.core = core;
      } else if (parents.core != core) {
        parents.core = kSeveral;
      }
      if (--parents.missing > 0) continue;
      pool_.push_back(child);
      ++waiting_;
      if (parents.core == core) ready_->insert(core, child);
    }
  }

  const TaskGraph* graph_;
  int cores_;
  SuperstepEnd end_;
  Ready* ready_;
  Assignment result_;
  std::vector<Index> pool_;  // ready in this superstep or a later one; those that have run go when a superstep begins
  Index waiting_ = 0;        // of pool_, not started
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;  // one per busy core
  std::vector<Index> running_;                                             // by core
  int busy_ = 0;
  std::int64_t latest_end_ = 0;
  std::vector<Parents> parents_;  // by task
};

}  // namespace taskdag

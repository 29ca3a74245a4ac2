/// \file
/// The scheduler by p-ivotal paths: ready tasks by a priority that is fixed beforehand.
#include <algorithm>
#include <utility>
#include <vector>

#include "dag/supersteps/barrier_list.hpp"
#include "papers/boehnlein/path_scheduler.hpp"
#include "papers/boehnlein/path_score.hpp"

namespace taskdag {

namespace {

/// Ready tasks in order of a fixed priority; tasks that one core alone can run come first on that core.
class PivotalReady {
 public:
  PivotalReady(const TaskGraph& graph, int cores)
      : weight_(&graph.weight), own_(static_cast<std::size_t>(cores)), priority_(pivotal_path_priorities(graph)) {}

  void begin(const std::vector<Index>& tasks) {
    all_.clear();
    for (const Index task : tasks) all_.push_back(rate(task));
    std::sort(all_.begin(), all_.end(), better);
    next_ = 0;
    for (auto& heap : own_) heap.clear();
  }

  void insert(int core, Index task) {
    auto& heap = own_[static_cast<std::size_t>(core)];
    heap.push_back(rate(task));
    std::push_heap(heap.begin(), heap.end(), worse);
  }

  Index take(int core, Offset most) {
    const auto fits = [&](Index task) { return (*weight_)[static_cast<std::size_t>(task)] <= most; };
    auto& heap = own_[static_cast<std::size_t>(core)];
    while (!heap.empty()) {  // what does not fit now fits no more in this superstep
      std::pop_heap(heap.begin(), heap.end(), worse);
      const Index task = heap.back().second;
      heap.pop_back();
      if (fits(task)) return task;
    }
    return next_ < all_.size() && fits(all_[next_].second) ? all_[next_++].second : -1;
  }

  void assigned(int, Index) {}

 private:
  using Rated = std::pair<double, Index>;

  static bool better(const Rated& a, const Rated& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  }
  static bool worse(const Rated& a, const Rated& b) { return better(b, a); }
  [[nodiscard]] Rated rate(Index task) const { return {priority_[static_cast<std::size_t>(task)], task}; }

  const std::vector<Offset>* weight_;
  std::vector<Rated> all_;  // descending; the first next_ have been taken
  std::size_t next_ = 0;
  std::vector<std::vector<Rated>> own_;  // heaps, by core
  std::vector<double> priority_;
};

}  // namespace

Assignment schedule_pivotal_path(const TaskGraph& graph, int cores, const SuperstepEnd& end) {
  PivotalReady ready(graph, cores);
  return BarrierList(graph, cores, end, ready).run();
}

}  // namespace taskdag

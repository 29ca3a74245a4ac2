#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "dag/barrier_list.hpp"
#include "dag/barrier_schedulers.hpp"
#include "dag/path_priority.hpp"

namespace taskdag {

namespace {

constexpr Index kNone = -1;
constexpr Index kAny = -2;      // every core
constexpr Index kSeveral = -3;  // more than one core

/// Heap of rated tasks. Ratings may be out of date: too high ones are corrected when they come up, too low ones are
/// dropped there, since whatever raises a rating pushes another one.
class RatedHeap {
 public:
  void clear() { heap_.clear(); }
  void append(std::int32_t score, Index task) { heap_.push_back(key(score, task)); }
  void heapify() { std::make_heap(heap_.begin(), heap_.end()); }
  void push(std::int32_t score, Index task) {
    append(score, task);
    std::push_heap(heap_.begin(), heap_.end());
  }
  void pop() {
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
  }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  /// Orders by score, then by smaller task.
  [[nodiscard]] std::int64_t top() const { return heap_.front(); }
  [[nodiscard]] Index top_task() const { return static_cast<Index>(~static_cast<std::uint32_t>(heap_.front())); }
  [[nodiscard]] std::int32_t top_score() const { return static_cast<std::int32_t>(heap_.front() >> 32); }

  /// Brings a rating that holds to the top, or empties the heap. current(task, score) writes the present score and
  /// returns whether the task is still here.
  template <class Current>
  void settle(const Current& current) {
    while (!empty()) {
      const Index task = top_task();
      const std::int32_t stored = top_score();
      std::int32_t score = 0;
      if (!current(task, score)) {
        pop();
      } else if (stored == score) {
        return;
      } else {
        pop();
        if (stored > score) push(score, task);
      }
    }
  }

 private:
  static std::int64_t key(std::int32_t score, Index task) {
    return static_cast<std::int64_t>(score) << 32 | static_cast<std::int64_t>(~static_cast<std::uint32_t>(task));
  }
  std::vector<std::int64_t> heap_;
};

constexpr std::int64_t kPathRange = 20;

/// The heaviest path from each task, scaled to whole numbers of [0, kPathRange]. Finer differences did not pay: where
/// scores are equal the first task is taken, which keeps rows that follow each other together.
std::vector<std::int32_t> normalise_paths(const TaskGraph& graph) {
  const std::vector<std::int64_t> path = heaviest_paths(graph);
  std::int64_t longest = 1;
  for (const std::int64_t p : path) longest = std::max(longest, p);
  std::vector<std::int32_t> result;
  result.reserve(path.size());
  for (const std::int64_t p : path) result.push_back(static_cast<std::int32_t>(p * kPathRange / longest));
  return result;
}

class LockingReady {
 public:
  LockingReady(const TaskGraph& graph, int cores)
      : graph_(&graph),
        own_(static_cast<std::size_t>(cores)),
        better_(static_cast<std::size_t>(cores)),
        base_(normalise_paths(graph)),
        where_(base_.size(), kNone),
        penalty_(base_.size()),
        first_bonus_(base_.size()),
        lock_(base_.size()),
        lock_superstep_(base_.size(), kNone),
        listed_(base_.size(), false),
        ready_parents_(graph.parents.size()),
        ready_count_(base_.size(), 0) {}

  void begin(const std::vector<Index>& tasks) {
    ++superstep_;
    bonuses_.clear();
    for (RatedHeap& heap : own_) heap.clear();
    for (RatedHeap& heap : better_) heap.clear();
    all_.clear();
    for (const Index task : tasks) {
      const auto t = static_cast<std::size_t>(task);
      where_[t] = kAny;
      penalty_[t] = 0;
      first_bonus_[t] = kNone;
      all_.append(base_[t], task);
      if (!listed_[t]) list(task);
    }
    all_.heapify();
  }

  void insert(int core, Index task) {
    const auto t = static_cast<std::size_t>(task);
    where_[t] = core;
    penalty_[t] = 0;
    for (const Index child : graph_->children_of(task)) {
      const Index lock = lock_of(child);
      if (lock >= 0 && lock != core) ++penalty_[t];
    }
    own_[static_cast<std::size_t>(core)].push(common_score(t), task);
    list(task);
  }

  Index take(int core, Offset most) {
    const auto c = static_cast<std::size_t>(core);
    RatedHeap& own = own_[c];
    while (true) {
      own.settle([&](Index task, std::int32_t& rating) {
        rating = common_score(static_cast<std::size_t>(task));
        return where_[static_cast<std::size_t>(task)] == core;
      });
      if (own.empty()) break;
      const Index task = own.top_task();
      own.pop();
      if (graph_->weight[static_cast<std::size_t>(task)] <= most) return task;
      where_[static_cast<std::size_t>(task)] = kNone;  // fits no more in this superstep
    }
    all_.settle([&](Index task, std::int32_t& rating) {
      rating = common_score(static_cast<std::size_t>(task));
      return where_[static_cast<std::size_t>(task)] == kAny;
    });
    if (all_.empty()) return kNone;
    better_[c].settle([&](Index task, std::int32_t& rating) {
      const Index bonus = where_[static_cast<std::size_t>(task)] == kAny ? bonus_of(task, core) : kNone;
      if (bonus == kNone) return false;
      rating = score(static_cast<std::size_t>(task), bonuses_[static_cast<std::size_t>(bonus)].children);
      return true;
    });
    RatedHeap& best = !better_[c].empty() && better_[c].top() > all_.top() ? better_[c] : all_;
    const Index task = best.top_task();
    if (graph_->weight[static_cast<std::size_t>(task)] > most) return kNone;
    best.pop();
    return task;
  }

  void assigned(int core, Index task) {
    where_[static_cast<std::size_t>(task)] = kNone;
    for (const Index child : graph_->children_of(task)) {
      drop(task, child);
      const Index lock = lock_of(child);
      if (lock == kNone) {
        set_lock(child, core);
        for (const Index parent : ready_parents_of(child)) add_lock(parent, core);
      } else if (lock >= 0 && lock != core) {
        set_lock(child, kSeveral);
        for (const Index parent : ready_parents_of(child)) remove_lock(parent, lock);
      }
    }
  }

 private:
  /// How many children of a task `core` has locked.
  struct Bonus {
    Index core;
    std::int32_t children;
    Index next;
  };

  /// Makes a ready task one of the ready parents of its children.
  void list(Index task) {
    listed_[static_cast<std::size_t>(task)] = true;
    for (const Index child : graph_->children_of(task)) {
      const auto c = static_cast<std::size_t>(child);
      const Offset place = graph_->parent_offsets[c] + ready_count_[c]++;
      ready_parents_[static_cast<std::size_t>(place)] = task;
    }
  }

  /// Takes `task` off the ready parents of `child`.
  void drop(Index task, Index child) {
    const auto listed = ready_parents_of(child);
    *std::ranges::find(listed, task) = listed.back();
    --ready_count_[static_cast<std::size_t>(child)];
  }

  [[nodiscard]] std::span<Index> ready_parents_of(Index child) {
    const auto c = static_cast<std::size_t>(child);
    return std::span(ready_parents_)
        .subspan(static_cast<std::size_t>(graph_->parent_offsets[c]), static_cast<std::size_t>(ready_count_[c]));
  }

  [[nodiscard]] Index lock_of(Index task) const {
    const auto t = static_cast<std::size_t>(task);
    return lock_superstep_[t] == superstep_ ? lock_[t] : kNone;
  }
  void set_lock(Index task, Index lock) {
    lock_[static_cast<std::size_t>(task)] = lock;
    lock_superstep_[static_cast<std::size_t>(task)] = superstep_;
  }

  /// Of a task for its own core or, where every core can run it, for a core that has locked none of its children.
  [[nodiscard]] std::int32_t common_score(std::size_t task) const { return score(task, 0); }
  /// Of a task for a core that has locked so many of its children.
  [[nodiscard]] std::int32_t score(std::size_t task, std::int32_t children) const {
    return base_[task] - (penalty_[task] - children);
  }

  [[nodiscard]] Index bonus_of(Index task, Index core) const {
    Index bonus = first_bonus_[static_cast<std::size_t>(task)];
    while (bonus != kNone && bonuses_[static_cast<std::size_t>(bonus)].core != core) {
      bonus = bonuses_[static_cast<std::size_t>(bonus)].next;
    }
    return bonus;
  }

  /// `core` has locked a child of `task`: a penalty for all other cores.
  void add_lock(Index task, Index core) {
    const auto t = static_cast<std::size_t>(task);
    if (where_[t] == kAny) {
      ++penalty_[t];
      Index bonus = bonus_of(task, core);
      if (bonus == kNone) {
        bonus = static_cast<Index>(bonuses_.size());
        bonuses_.push_back({core, 0, first_bonus_[t]});
        first_bonus_[t] = bonus;
      }
      const std::int32_t children = ++bonuses_[static_cast<std::size_t>(bonus)].children;
      if (children == 1) better_[static_cast<std::size_t>(core)].push(score(t, children), task);
    } else if (where_[t] != kNone && where_[t] != core) {
      ++penalty_[t];
    }
  }

  /// A child of `task` that `core` had locked is locked out: no core loses it any more.
  void remove_lock(Index task, Index core) {
    const auto t = static_cast<std::size_t>(task);
    if (where_[t] == kAny) {
      --penalty_[t];
      all_.push(common_score(t), task);
      for (Index b = first_bonus_[t]; b != kNone; b = bonuses_[static_cast<std::size_t>(b)].next) {
        Bonus& bonus = bonuses_[static_cast<std::size_t>(b)];
        if (bonus.core == core) {
          --bonus.children;
        } else {
          better_[static_cast<std::size_t>(bonus.core)].push(score(t, bonus.children), task);
        }
      }
    } else if (where_[t] != kNone && where_[t] != core) {
      --penalty_[t];
      own_[static_cast<std::size_t>(where_[t])].push(common_score(t), task);
    }
  }

  const TaskGraph* graph_;
  Index superstep_ = kNone;
  RatedHeap all_;                      // tasks that every core can run, by the common score
  std::vector<RatedHeap> own_;         // by core: tasks that it alone can run
  std::vector<RatedHeap> better_;      // by core: tasks that every core can run, of which it has locked children
  std::vector<std::int32_t> base_;     // by task: the normalised path
  std::vector<Index> where_;           // by task: the core that can run it, kAny, or kNone
  std::vector<std::int32_t> penalty_;  // by ready task
  std::vector<Index> first_bonus_;     // by task that every core can run: its list in bonuses_
  std::vector<Bonus> bonuses_;
  std::vector<Index> lock_;            // by task: the core where parents have begun, or kSeveral
  std::vector<Index> lock_superstep_;  // in which lock_ was set
  std::vector<bool> listed_;           // by task: among the ready parents of its children
  std::vector<Index> ready_parents_;   // by child, in the place of its parents: those that are ready and not assigned
  std::vector<Index> ready_count_;     // by child: how many those are
};

}  // namespace

Assignment schedule_locking(const TaskGraph& graph, int cores, double idle_share) {
  LockingReady ready(graph, cores);
  return BarrierList(graph, cores, idle_share, ready).run();
}

}  // namespace taskdag

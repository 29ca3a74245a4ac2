/// \file
/// The scheduler Locking: as few tasks as possible are locked out of a superstep.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "dag/supersteps/barrier_list.hpp"
#include "dag/supersteps/barrier_schedulers.hpp"
#include "dag/supersteps/path_priority.hpp"

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
        ready_parents_(graph.parents.size()) {
    states_.reserve(static_cast<std::size_t>(graph.size()));
    for (const std::int32_t path : normalise_paths(graph)) states_.push_back({.path = path});
  }

  void begin(const std::vector<Index>& tasks) {
    ++superstep_;
    bonuses_.clear();
    for (RatedHeap& heap : own_) heap.clear();
    for (RatedHeap& heap : better_) heap.clear();
    all_.clear();
    for (const Index task : tasks) {
      State& state = state_of(task);
      state.where = kAny;
      state.penalty = 0;
      state.first_bonus = kNone;
      all_.append(state.score(0), task);
      if (!state.listed) list(task);
    }
    all_.heapify();
  }

  void insert(int core, Index task) {
    State& state = state_of(task);
    state.where = core;
    state.penalty = 0;
    for (const Index child : graph_->children_of(task)) {
      const Index lock = lock_of(state_of(child));
      if (lock >= 0 && lock != core) ++state.penalty;
    }
    own_[static_cast<std::size_t>(core)].push(state.score(0), task);
    list(task);
  }

  Index take(int core, Offset most) {
    const auto c = static_cast<std::size_t>(core);
    RatedHeap& own = own_[c];
    while (true) {
      own.settle([&](Index task, std::int32_t& score) {
        score = state_of(task).score(0);
        return state_of(task).where == core;
      });
      if (own.empty()) break;
      const Index task = own.top_task();
      own.pop();
      if (graph_->weight[static_cast<std::size_t>(task)] <= most) return task;
      state_of(task).where = kNone;  // fits no more in this superstep
    }
    all_.settle([&](Index task, std::int32_t& score) {
      score = state_of(task).score(0);
      return state_of(task).where == kAny;
    });
    if (all_.empty()) return kNone;
    better_[c].settle([&](Index task, std::int32_t& score) {
      const State& state = state_of(task);
      const Index bonus = state.where == kAny ? bonus_of(state, core) : kNone;
      if (bonus == kNone) return false;
      score = state.score(bonuses_[static_cast<std::size_t>(bonus)].children);
      return true;
    });
    RatedHeap& best = !better_[c].empty() && better_[c].top() > all_.top() ? better_[c] : all_;
    const Index task = best.top_task();
    if (graph_->weight[static_cast<std::size_t>(task)] > most) return kNone;
    best.pop();
    return task;
  }

  void assigned(int core, Index task) {
    state_of(task).where = kNone;
    state_of(task).has_run = true;
    for (const Index child : graph_->children_of(task)) {
      State& state = state_of(child);
      const Index lock = lock_of(state);
      if (lock == kNone) {
        state.lock = core;
        state.lock_superstep = superstep_;
        each_ready_parent(child, [&](Index parent) { add_lock(parent, core); });
      } else if (lock >= 0 && lock != core) {
        state.lock = kSeveral;
        each_ready_parent(child, [&](Index parent) { remove_lock(parent, lock); });
      }
    }
  }

 private:
  /// Of a task. Together, since all of it is looked up at once, in no order.
  struct State {
    std::int32_t path;             // normalised
    Index where = kNone;           // the core that can run it in this superstep, kAny, or kNone
    std::int32_t penalty = 0;      // of a ready task: children that a core has locked, its own core aside
    Index first_bonus = kNone;     // of a task that every core can run: its list in bonuses_
    Index lock = kNone;            // the core where parents have begun, or kSeveral …
    Index lock_superstep = kNone;  // … in this superstep
    Index ready_parents = 0;       // how many are listed
    bool listed = false;           // it is one of the ready parents of its children
    bool has_run = false;

    /// For a core that has locked so many of its children, beside those that the penalty leaves out.
    [[nodiscard]] std::int32_t score(std::int32_t children) const { return path - (penalty - children); }
  };

  /// How many children of a task `core` has locked.
  struct Bonus {
    Index core;
    std::int32_t children;
    Index next;
  };

  [[nodiscard]] State& state_of(Index task) { return states_[static_cast<std::size_t>(task)]; }
  [[nodiscard]] Index lock_of(const State& state) const {
    return state.lock_superstep == superstep_ ? state.lock : kNone;
  }

  /// Makes a ready task one of the ready parents of its children.
  void list(Index task) {
    state_of(task).listed = true;
    for (const Index child : graph_->children_of(task)) {
      const Offset next = graph_->parent_offsets[static_cast<std::size_t>(child)] + state_of(child).ready_parents++;
      ready_parents_[static_cast<std::size_t>(next)] = task;
    }
  }

  /// Calls visit(parent) for the ready parents of `task`. Those that have run meanwhile are taken off the list.
  template <class Visit>
  void each_ready_parent(Index task, const Visit& visit) {
    Index* const parents = ready_parents_.data() + graph_->parent_offsets[static_cast<std::size_t>(task)];
    Index& count = state_of(task).ready_parents;
    for (Index k = 0; k < count;) {
      if (state_of(parents[k]).has_run) {
        parents[k] = parents[--count];
      } else {
        visit(parents[k++]);
      }
    }
  }

  [[nodiscard]] Index bonus_of(const State& state, Index core) const {
    Index bonus = state.first_bonus;
    while (bonus != kNone && bonuses_[static_cast<std::size_t>(bonus)].core != core) {
      bonus = bonuses_[static_cast<std::size_t>(bonus)].next;
    }
    return bonus;
  }

  /// `core` has locked a child of `task`: a penalty for all other cores.
  void add_lock(Index task, Index core) {
    State& state = state_of(task);
    if (state.where == kAny) {
      ++state.penalty;
      Index bonus = bonus_of(state, core);
      if (bonus == kNone) {
        bonus = static_cast<Index>(bonuses_.size());
        bonuses_.push_back({core, 0, state.first_bonus});
        state.first_bonus = bonus;
      }
      const std::int32_t children = ++bonuses_[static_cast<std::size_t>(bonus)].children;
      if (children == 1) better_[static_cast<std::size_t>(core)].push(state.score(children), task);
    } else if (state.where != kNone && state.where != core) {
      ++state.penalty;
    }
  }

  /// A child of `task` that `core` had locked is locked out: no core loses it any more.
  void remove_lock(Index task, Index core) {
    State& state = state_of(task);
    if (state.where == kAny) {
      --state.penalty;
      all_.push(state.score(0), task);
      for (Index b = state.first_bonus; b != kNone; b = bonuses_[static_cast<std::size_t>(b)].next) {
        Bonus& bonus = bonuses_[static_cast<std::size_t>(b)];
        if (bonus.core == core) {
          --bonus.children;
        } else {
          better_[static_cast<std::size_t>(bonus.core)].push(state.score(bonus.children), task);
        }
      }
    } else if (state.where != kNone && state.where != core) {
      --state.penalty;
      own_[static_cast<std::size_t>(state.where)].push(state.score(0), task);
    }
  }

  const TaskGraph* graph_;
  Index superstep_ = kNone;
  RatedHeap all_;                     // tasks that every core can run, rated for cores without a bonus
  std::vector<RatedHeap> own_;        // by core: tasks that it alone can run
  std::vector<RatedHeap> better_;     // by core: tasks that every core can run, of which it has locked children
  std::vector<State> states_;         // by task
  std::vector<Bonus> bonuses_;        // of this superstep
  std::vector<Index> ready_parents_;  // by task, where its parents are listed in the graph: those that are ready
};

}  // namespace

Assignment schedule_locking(const TaskGraph& graph, int cores, const SuperstepEnd& end) {
  LockingReady ready(graph, cores);
  return BarrierList(graph, cores, end, ready).run();
}

}  // namespace taskdag

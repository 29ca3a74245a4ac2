/// \file
/// What a task can do: see its data, its worker and its shared memory, create tasks, declare and resolve dependencies.
#pragma once

#include "taskdag/engine/dependency.hpp"
#include "taskdag/engine/program.hpp"

TASKDAG_ENGINE_BEGIN

/// An item between two tasks of one team.
template <class P, class T>
struct Held {
  typename T::Item item{};
  typename P::Probe::Stamp stamp{};
  bool there = false;
  bool counted = false;  ///< in the ledger
};

/// The first argument of idle() (task_type.hpp).
template <class P, class Group>
class IdleContext {
 public:
  TASKDAG_TASK IdleContext(const ProgramRef<P>& program, const Group& group) : program_(program), group_(group) {}
  [[nodiscard]] TASKDAG_TASK const typename P::Data& data() const { return program_.data; }
  [[nodiscard]] TASKDAG_TASK const Group& group() const { return group_; }

 private:
  const ProgramRef<P>& program_;
  const Group& group_;
};

/// The first argument of execute(). P: the program, T: the type of the running task, Group: its worker.
///
/// Every lane of a worker may call the functions below, and each call counts: a warp whose 32 lanes call enqueue
/// creates 32 tasks (with one turn at the queue's counters). What a lane wrote before it creates a task or resolves a
/// dependency is visible to the task that then runs; for what other lanes of the worker wrote, call group().sync()
/// first. No call blocks or fails: capacities are watched from outside (runner.hpp).
template <class P, class T, class Group>
class TaskContext {
 public:
  using Data = typename P::Data;
  using Probe = typename P::Probe;

  TASKDAG_TASK TaskContext(const ProgramRef<P>& program, const Group& group, std::byte* shared, std::uint32_t team,
                           bool holds, Probe& probe)
      : program_(program), group_(group), shared_(shared), team_(team), holds_(holds), probe_(probe) {}

  [[nodiscard]] TASKDAG_TASK const Data& data() const { return program_.data; }
  [[nodiscard]] TASKDAG_TASK const Group& group() const { return group_; }
  /// The worker's T::shared_bytes of scratch memory, aligned to 16 bytes.
  [[nodiscard]] TASKDAG_TASK std::byte* shared() const { return shared_; }

  /// Creates a task that may run at once.
  template <class U>
  TASKDAG_TASK void enqueue(const typename U::Item& item) {
    static_assert(may_create<U>, "this task type does not say that it creates such tasks (Creates, max_children)");
    if (hold<U>(item, false)) return;
    const Lanes lanes = Lanes::converged();
    if (lanes.leads()) detail::count_created<P, U>(program_, lanes.count(), false, probe_);
    lanes.sync();
    detail::push<P, U>(program_, lanes, item, hint<U>(item), probe_);
  }

  /// Creates `count` tasks that may run at once, with one turn at the queue for all of them. Reached by all lanes of
  /// the worker together; `items`: memory that all of them see (shared(), say), written before the worker's last
  /// sync().
  template <class U>
  TASKDAG_TASK void enqueue_all(const typename U::Item* items, int count) {
    static_assert(may_create<U>, "this task type does not say that it creates such tasks (Creates, max_children)");
    using Queue = typename P::template Queue<U>;
    constexpr bool lone = Group::size() == 1 && !std::is_same_v<Group, HostGroup>;  // enqueue() bundles such workers
    if constexpr (!lone && requires(const Queue& queue, std::uint32_t first) { queue.reserve(1U, first, probe_); }) {
      if (count <= 0) return;
      const auto size = static_cast<std::uint32_t>(count);
      const Queue& queue = program_.template of<U>().queue;
      Reserved reserved{0, true};
      if (group_.rank() == 0) {
        detail::count_created<P, U>(program_, size, false, probe_);
        reserved.room = queue.reserve(size, reserved.first, probe_);
        if (!reserved.room) detail::stop_run(*program_.ledger, Stop::broken_promise, P::template number_of<U>(), 0);
      }
      reserved = group_.broadcast(reserved);
      if (!reserved.room) return;
      for (int k = group_.rank(); k < count; k += group_.size()) {
        queue.write(reserved.first + static_cast<std::uint32_t>(k), items[k], probe_);
      }
      group_.sync();
      if (group_.rank() == 0 && queue.publish(size, probe_) == Pushed::above_capacity) {
        detail::stop_run(*program_.ledger, Stop::suspended, P::template number_of<U>(), 0);
      }
    } else {
      for (int k = group_.rank(); k < count; k += group_.size()) enqueue<U>(items[k]);
    }
  }

  /// Creates a task that runs once `dependency` has been reduced `count` times, counting reductions that came before.
  /// @pre one task per Dependency object at a time
  template <class U>
  TASKDAG_TASK void enqueue_dependent(const typename U::Item& item, Dependency& dependency, int count) {
    static_assert(TaskTraits<U>::waits(), "tasks of this type do not wait (waits = false)");
    AtomicRef<std::int32_t> left(dependency.count);
    if (left.load(acquire) == -count) {  // resolved already: no other task will touch the object
      probe_.load();
      left.store(0, relaxed);
      enqueue<U>(item);
      return;
    }
    const std::uint32_t place = wait<U>(item);
    if (place == kLost) return;
    dependency.place = place;
    probe_.atomic();
    if (left.fetch_add(count, acq_rel) == -count) resolve<U>(place);
  }

  /// Resolves `by` dependencies of a task of type U, which may not have been created yet.
  template <class U>
  TASKDAG_TASK void reduce(Dependency& dependency, int by = 1) {
    probe_.atomic();
    if (AtomicRef<std::int32_t>(dependency.count).fetch_sub(by, acq_rel) == by) resolve<U>(dependency.place);
  }

  /// Creates a task that runs once the group is released.
  template <class U>
  TASKDAG_TASK void enqueue_in_group(const typename U::Item& item, DependencyGroup& group) {
    static_assert(TaskTraits<U>::waits(), "tasks of this type do not wait (waits = false)");
    AtomicRef<std::uint32_t> waiting(group.waiting);
    if (waiting.load(acquire) == DependencyGroup::kReleased) {
      enqueue<U>(item);
      return;
    }
    const std::uint32_t place = wait<U>(item);
    if (place == kLost) return;
    std::uint32_t first = waiting.load(acquire);  // acquire: as above, where the group was released since
    while (first != DependencyGroup::kReleased) {
      program_.template of<U>().storage.next(place) = first;
      probe_.cas();
      // release: the item and the link; acquire on failure: a released group's dependencies.
      if (waiting.compare_exchange_weak(first, place + 1U, release, acquire)) return;
    }
    resolve<U>(place);  // released in between
  }
  /// Declares that a group, whose tasks are all of type U, waits for `count` dependencies. Once per group.
  template <class U>
  TASKDAG_TASK void open_group(DependencyGroup& group, int count) {
    probe_.atomic();
    if (AtomicRef<std::int32_t>(group.count).fetch_add(count, acq_rel) == -count) release_group<U>(group);
  }
  /// Resolves `by` dependencies of a group, opened or not.
  template <class U>
  TASKDAG_TASK void reduce_group(DependencyGroup& group, int by = 1) {
    probe_.atomic();
    if (AtomicRef<std::int32_t>(group.count).fetch_sub(by, acq_rel) == by) release_group<U>(group);
  }

  /// Ends the run: no further task starts, and the report says `code`.
  TASKDAG_TASK void fail(std::uint32_t code) {
    detail::stop_run(*program_.ledger, Stop::task_failed, P::template number_of<T>(), code);
  }

  // For the engine: the children of the task's own type that it holds back, so that they may run next without a queue.
  [[nodiscard]] TASKDAG_TASK const Held<P, T>& first() const { return first_; }
  [[nodiscard]] TASKDAG_TASK const Held<P, T>& second() const { return second_; }

 private:
  template <class U>
  static constexpr bool may_create = (P::template creates<T>() >> static_cast<unsigned>(P::template number_of<U>()) &
                                      1U) != 0;

  static constexpr std::uint32_t kLost = 0xFFFFFFFFU;

  /// What the worker's first lane got from a queue.
  struct Reserved {
    std::uint32_t first;
    bool room;
  };

  /// Holds a child back, if there is room. `counted`: it is in the ledger already.
  template <class U>
  TASKDAG_TASK bool hold(const typename U::Item& item, bool counted) {
    if constexpr (std::is_same_v<U, T>) {
      if (holds_ && group_.rank() == 0) {
        Held<P, T>& held = first_.there ? second_ : first_;
        if (held.there) return false;
        held = {item, Probe::stamp(), true, counted};
        return true;
      }
    }
    return false;
  }

  template <class U>
  TASKDAG_TASK PushHint hint(const typename U::Item& item) {
    return {team_, detail::key_of<U>(item, team_ + child_), child_++};
  }

  /// Stores a waiting item. @returns its place, or kLost: the run is stopped
  template <class U>
  TASKDAG_TASK std::uint32_t wait(const typename U::Item& item) {
    static_assert(may_create<U>, "this task type does not say that it creates such tasks (Creates, max_children)");
    const TypeState<P, U>& state = program_.template of<U>();
    detail::count_created<P, U>(program_, 1, true, probe_);
    const std::uint32_t salt = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(&item)) ^
                               (team_ * 2654435761U) ^ (child_++ * 40503U) ^ detail::key_of<U>(item, 0);
    const std::uint32_t level = state.storage.add_to_level(1, probe_);
    if (level > state.storage.size()) {
      state.storage.add_to_level(-1, probe_);
      detail::stop_run(*program_.ledger, Stop::broken_promise, P::template number_of<U>(), 1);
      return kLost;
    }
    if (level > state.storage_capacity) {
      detail::stop_run(*program_.ledger, Stop::suspended, P::template number_of<U>(), 1);
    }
    return state.storage.insert(item, salt, detail::key_of<U>(item, salt), probe_);
  }

  /// The caller alone has brought a dependency to zero: its task goes from the storage to its queue.
  template <class U>
  TASKDAG_TASK void resolve(std::uint32_t place) {
    const TypeState<P, U>& state = program_.template of<U>();
    const typename U::Item item = state.storage.take(place, probe_);
    state.storage.add_to_level(-1, probe_);
    detail::count_released<P, U>(program_, 1, probe_);
    if (hold<U>(item, true)) return;
    detail::push<P, U>(program_, Lanes::converged(), item, hint<U>(item), probe_);
  }

  template <class U>
  TASKDAG_TASK void release_group(DependencyGroup& group) {
    probe_.atomic();
    std::uint32_t place = AtomicRef<std::uint32_t>(group.waiting).exchange(DependencyGroup::kReleased, acq_rel);
    while (place != 0 && place != DependencyGroup::kReleased) {
      const std::uint32_t next = program_.template of<U>().storage.next(place - 1U);
      resolve<U>(place - 1U);
      place = next;
    }
  }

  const ProgramRef<P>& program_;
  const Group& group_;
  std::byte* shared_;
  std::uint32_t team_;
  std::uint32_t child_ = 0;
  bool holds_;
  Held<P, T> first_;
  Held<P, T> second_;
  Probe& probe_;
};

TASKDAG_ENGINE_END

/// \file
/// A program: its task types in phases, its data, the kind of its queues, what it measures. All fixed at compile time;
/// the scheduler and the sizes are chosen when it runs (runner.hpp).
#pragma once

#include <type_traits>

#include "taskdag/engine/ledger.hpp"
#include "taskdag/engine/phase.hpp"
#include "taskdag/engine/probe.hpp"
#include "taskdag/engine/queue/shared_counter_queue.hpp"
#include "taskdag/engine/task_type.hpp"
#include "taskdag/engine/waiting_storage.hpp"

TASKDAG_ENGINE_BEGIN

/// Data: what all tasks see (pointers into memory of the backend, sizes, parameters); trivially copyable, passed by
/// value.
template <class Data_, class Phases_, template <class Item, class Probe> class Queue_ = SharedCounterQueue,
          class Probe_ = NoProbe>
struct Program {
  using Data = Data_;
  using Phases = Phases_;
  using Probe = Probe_;
  using AllTypes = typename Phases::AllTypes;
  template <class T>
  using Queue = Queue_<typename T::Item, Probe>;
  template <class T>
  using Storage = WaitingStorage<typename T::Item, InsertPolicy<T>, Probe>;

  static_assert(std::is_trivially_copyable_v<Data>, "a program's Data is passed to its tasks by value");

  static constexpr int types = Phases::types;
  static constexpr int phases = Phases::phases;
  /// Number of a task type in the program: Phaseless first, then phase by phase.
  template <class T>
  TASKDAG_TASK static constexpr int number_of() {
    static_assert(Phases::template contains<T>, "this task type is not one of the program's types");
    return Phases::template index_of<T>;
  }
  template <class T>
  TASKDAG_TASK static constexpr int phase_of() {
    return Phases::phase_of(number_of<T>());
  }
  /// Bit i: T may create items of type i.
  template <class T>
  static constexpr std::uint32_t creates() {
    if (TaskTraits<T>::max_children() == 0) return 0;
    std::uint32_t mask = 0;
    detail::ForEach<typename detail::CreatesOf<T, AllTypes>::type>::apply(
        [&mask](auto tag) { mask |= 1U << static_cast<unsigned>(number_of<typename decltype(tag)::type>()); });
    return mask;
  }
};

/// What one task type has in the memory of the backend.
template <class P, class T>
struct TypeState {
  typename P::template Queue<T> queue;
  typename P::template Storage<T> storage;
  std::uint32_t storage_capacity = 0;  ///< waiting items above which the run is suspended
};

namespace detail {
template <class P, class List>
struct TypeStates;
template <class P, class... Ts>
struct TypeStates<P, Types<Ts...>> : TypeState<P, Ts>... {};
}  // namespace detail

/// A program as its workers see it: trivially copyable, passed by value.
template <class P>
struct ProgramRef : detail::TypeStates<P, typename P::AllTypes> {
  typename P::Data data;
  Ledger* ledger = nullptr;
  typename P::Probe::Record record;
  std::uint64_t watchdog_ns = 0;  ///< 0: none
  std::uint32_t continues = 1;    ///< 0: no child stays with its worker

  template <class T>
  [[nodiscard]] TASKDAG_TASK const TypeState<P, T>& of() const {
    return *this;
  }
  template <class T>
  [[nodiscard]] TASKDAG_TASK TypeState<P, T>& of() {
    return *this;
  }
};

namespace detail {

/// Whether type number `type` may run in phase `phase` (-1: none, phaseless types only).
template <class P>
TASKDAG_TASK constexpr bool runs_in(int type, int phase) {
  return type < P::Phases::end(-1) || (phase >= 0 && type >= P::Phases::begin(phase) && type < P::Phases::end(phase));
}

/// The phase that runs next: this one while it has tasks, else the next one in the cycle that has. -1: none has.
/// `pending(p)`: tasks of phase p.
TASKDAG_ENGINE_ANY_SIDE
template <class P, class Pending>
TASKDAG_TASK int next_phase_of([[maybe_unused]] int phase, [[maybe_unused]] const Pending& pending) {
  if constexpr (P::phases > 0) {
    const int first = phase < 0 ? 0 : phase;
    for (int step = 0; step < P::phases; ++step) {
      const int p = (first + step) % P::phases;
      if (pending(p) != 0) return p;
    }
  }
  return -1;
}
/// @pre no task runs, so the ledger does not change
template <class P>
TASKDAG_TASK int next_phase(const Ledger& ledger, int phase) {
  return next_phase_of<P>(phase, [&ledger](int p) { return ledger.phase_pending[p + 1]; });
}

/// How many types may.
template <class P>
TASKDAG_TASK constexpr int types_in(int phase) {
  int types = 0;
  for (int type = 0; type < P::types; ++type) types += runs_in<P>(type, phase) ? 1 : 0;
  return types;
}

/// `items` tasks of T came into being. `waiting`: they go to the waiting storage.
template <class P, class T>
TASKDAG_TASK void count_created(const ProgramRef<P>& program, std::uint32_t items, bool waiting,
                                typename P::Probe& probe) {
  probe.atomic();
  AtomicRef<std::uint64_t>(program.ledger->total).fetch_add(waiting ? items * (kOneWaiting + 1U) : items, relaxed);
  if (P::phases > 0 && !waiting) {
    probe.atomic();
    AtomicRef<std::uint32_t>(program.ledger->phase_pending[P::template phase_of<T>() + 1]).fetch_add(items, relaxed);
  }
}

/// `items` tasks of T came into being whose creator is no task. @returns whether they may be pushed: only while another
/// task runs or is queued, since else the run has ended, or is found to be in a deadlock at the next look.
template <class P, class T>
TASKDAG_TASK bool count_found(const ProgramRef<P>& program, std::uint32_t items, typename P::Probe& probe) {
  AtomicRef<std::uint64_t> total(program.ledger->total);
  std::uint64_t seen = total.load(relaxed);
  // relaxed, as all additions; see ledger.hpp
  do {
    if (pending_of(seen) <= waiting_of(seen)) return false;
    probe.cas();
  } while (!total.compare_exchange_weak(seen, seen + items, relaxed, relaxed));
  if (P::phases > 0) {
    probe.atomic();
    AtomicRef<std::uint32_t>(program.ledger->phase_pending[P::template phase_of<T>() + 1]).fetch_add(items, relaxed);
  }
  AtomicRef<std::uint64_t>(program.ledger->found[P::template number_of<T>()]).fetch_add(items, relaxed);
  return true;
}

/// `items` tasks of T stopped waiting.
template <class P, class T>
TASKDAG_TASK void count_released(const ProgramRef<P>& program, std::uint32_t items, typename P::Probe& probe) {
  if (P::phases > 0) {
    probe.atomic();
    AtomicRef<std::uint32_t>(program.ledger->phase_pending[P::template phase_of<T>() + 1]).fetch_add(items, relaxed);
  }
  probe.atomic();
  AtomicRef<std::uint64_t>(program.ledger->total).fetch_sub(items * kOneWaiting, relaxed);
}

/// `more` tasks of T were created, less those that have ended. Where tasks have ended: release, see ledger.hpp.
template <class P, class T>
TASKDAG_TASK void count_change(const ProgramRef<P>& program, std::int32_t more, typename P::Probe& probe) {
#if defined(__CUDA_ARCH__)
  constexpr MemoryOrder order = relaxed;  // the end of the kernel orders
#else
  constexpr MemoryOrder order = release;
#endif
  if (more == 0) return;
  // Two's complement: adding the sign-extended change leaves the upper half, waiting, as it is, since pending is never
  // negative.
  const auto change = static_cast<std::uint64_t>(static_cast<std::int64_t>(more));
  if (P::phases > 0) {
    probe.atomic();
    AtomicRef<std::uint32_t>(program.ledger->phase_pending[P::template phase_of<T>() + 1])
        .fetch_add(static_cast<std::uint32_t>(more), order);
  }
  probe.atomic();
  AtomicRef<std::uint64_t>(program.ledger->total).fetch_add(change, order);
}

/// Pushes an item that is counted already; stops the run where that is too much.
template <class P, class U>
TASKDAG_TASK void push(const ProgramRef<P>& program, const Lanes& lanes, const typename U::Item& item,
                       const PushHint& hint, typename P::Probe& probe) {
  const Pushed pushed = program.template of<U>().queue.push(lanes, item, hint, probe);
  if (pushed != Pushed::within_capacity) {
    stop_run(*program.ledger, pushed == Pushed::no_room ? Stop::broken_promise : Stop::suspended,
             P::template number_of<U>(), 0);
  }
}

/// The key of an item, for queues and storages that choose a slot by it: T::key(item) where the type has one, the item
/// itself where it is a number, else `otherwise`.
template <class T>
TASKDAG_TASK std::uint32_t key_of(const typename T::Item& item, std::uint32_t otherwise) {
  if constexpr (requires { T::key(item); }) {
    return static_cast<std::uint32_t>(T::key(item));
  } else if constexpr (std::is_integral_v<typename T::Item>) {
    return static_cast<std::uint32_t>(item);
  } else {
    return otherwise;
  }
}

}  // namespace detail

TASKDAG_ENGINE_END

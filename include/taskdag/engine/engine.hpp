/// \file
/// The controller on the host, common to both backends: phases, capacities, the end of a run.
///
/// Between two turns no team works on the queues, so the controller's look at ledger and levels is exact. A turn is a
/// persistent kernel up to the end of its phase (megakernel), a slice (timesliced) or a controller's run.
///
/// Capacity: a push above a queue's capacity succeeds and suspends the run: teams start no further task. What is
/// running then may still create items, and every waiting item may still become ready; the margin has a slot for each
/// of them. So nothing is lost, and no push ever waits for room.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "taskdag/engine/levels.hpp"
#include "taskdag/engine/memory.hpp"
#include "taskdag/engine/phase_gate.hpp"
#include "taskdag/engine/report.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {

/// What a Runner holds.
template <class P>
class EngineBase {
 public:
  EngineBase() = default;
  EngineBase(const EngineBase&) = delete;
  EngineBase& operator=(const EngineBase&) = delete;
  virtual ~EngineBase() = default;
  virtual void enqueue(int type, const void* items, std::size_t size) = 0;
  virtual Report run(const typename P::Data& data, const RunOptions& options) = 0;
  virtual void clear() = 0;
};

template <class P, template <class> class Backend>
class Engine final : public EngineBase<P> {
 public:
  Engine(const Context& context, const RunnerOptions& options)
      : context_(context), options_(options), backend_(context), ledger_memory_(context, sizeof(Ledger)) {
    program_.ledger = static_cast<Ledger*>(ledger_memory_.data());
    if constexpr (P::Probe::counts) {
      record_memory_ = Memory(context, sizeof(OperationCounts));
      program_.record.totals = static_cast<OperationCounts*>(record_memory_.data());
    }
    if constexpr (P::Probe::traces) {
      record_memory_ = Memory(context, sizeof(TraceEvent) * (options.trace_events + std::size_t{1}));
      program_.record.used = static_cast<std::uint32_t*>(record_memory_.data());
      program_.record.events = static_cast<TraceEvent*>(record_memory_.data()) + 1;
      program_.record.capacity = options.trace_events;
    }
    each([&](auto tag) {
      using T = typename decltype(tag)::type;
      TypeMemory& memory = memory_[P::template number_of<T>()];
      memory.queue_capacity = std::max(options_.queue_capacity, 1U);
      memory.storage_capacity = TaskTraits<T>::waits() ? std::max(options_.storage_capacity, 1U) : 0;
      make_storage<T>();
      make_queue<T>();
    });
  }

  void enqueue(int type, const void* items, std::size_t size) override {
    if (size > kMostItems) throw InvalidInput("more items at once than a queue can hold");
    each([&](auto tag) {
      using T = typename decltype(tag)::type;
      if (P::template number_of<T>() != type || size == 0) return;
      const auto count = static_cast<std::uint32_t>(size);
      look();
      const std::uint32_t needed = levels_.queued[type] + count;
      if (needed > memory_[type].queue_capacity) grow_queue<T>(needed);
      typename P::Probe probe(program_.record, 0);
      ledger_.total += count;
      ledger_.phase_pending[P::template phase_of<T>() + 1] += count;
      ledger_memory_.copy_in(0, &ledger_, sizeof(Ledger));
      backend_.template push_all<T>(program_, static_cast<const typename T::Item*>(items), count);
      look();
      if (static_cast<Stop>(ledger_.stop) == Stop::broken_promise) {
        throw InvalidInput("a queue has no room for its first items (scanning: item numbers are below the capacity)");
      }
    });
  }

  Report run(const typename P::Data& data, const RunOptions& options) override {
    Report report;
    program_.data = data;
    program_.watchdog_ns = std::uint64_t{options.watchdog_ms} * 1000000U;
    program_.continues = options.continues ? 1 : 0;
    reset_totals();
    const auto start = std::chrono::steady_clock::now();
    // reset_totals() has looked.
    for (bool looked = true; turn(options, phase_, report, looked); looked = false) ++report.slices;
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report.phase = phase_;
    if (report.finished()) phase_ = -1;
    fill(report);
    return report;
  }

  void clear() override {
    phase_ = -1;
    ledger_memory_.clear();
    each([&](auto tag) {
      using T = typename decltype(tag)::type;
      TypeMemory& memory = memory_[P::template number_of<T>()];
      memory.queue.clear();
      memory.storage.clear();
    });
  }

 private:
  static constexpr std::uint32_t kMostItems = std::uint32_t{1} << 30U;

  struct TypeMemory {
    Memory queue;
    Memory storage;
    std::uint32_t queue_capacity = 0;
    std::uint32_t storage_capacity = 0;
  };

  /// The watchdog over the controller's own turns: they go on, and no task is executed.
  class Standstill {
   public:
    explicit Standstill(std::uint32_t limit_ms) : limit_(limit_ms) {}
    bool lasts(const Ledger& ledger) {
      if (limit_.count() == 0) return false;
      std::uint64_t executed = 0;
      for (const std::uint64_t one : ledger.executed) executed += one;
      const auto now = std::chrono::steady_clock::now();
      if (executed != executed_) {
        executed_ = executed;
        since_ = now;
      }
      return now - since_ > limit_;
    }

   private:
    std::chrono::milliseconds limit_;
    std::uint64_t executed_ = 0;
    std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  };

  template <class F>
  static void each(F&& f) {
    ForEach<typename P::AllTypes>::apply(std::forward<F>(f));
  }
  /// Calls f(std::integral_constant<int, phase>) for a phase known at run time.
  template <int Phase = -1, class F>
  static void with_phase(int phase, F&& f) {
    if constexpr (Phase < P::phases) {
      if (Phase == phase) {
        f(std::integral_constant<int, Phase>{});
      } else {
        with_phase<Phase + 1>(phase, std::forward<F>(f));
      }
    }
  }

  /// Items of T's kind that running tasks may add after the run was suspended.
  template <class T>
  [[nodiscard]] std::uint32_t created_in_flight() const {
    std::uint64_t most = 0;
    each([&](auto tag) {
      using U = typename decltype(tag)::type;
      if ((P::template creates<U>() >> static_cast<unsigned>(P::template number_of<T>()) & 1U) == 0) return;
      most = std::max(most, std::uint64_t{backend_.template in_flight<U>()} *
                                static_cast<std::uint64_t>(TaskTraits<U>::max_children()));
    });
    if (most > kMostItems) throw InvalidInput(std::string(TaskTraits<T>::name()) + ": max_children is too large");
    return static_cast<std::uint32_t>(most);
  }
  template <class T>
  [[nodiscard]] std::uint32_t storage_size(std::uint32_t capacity) const {
    return TaskTraits<T>::waits() ? capacity + created_in_flight<T>() : 0;
  }

  template <class T>
  void make_queue() {
    TypeMemory& memory = memory_[P::template number_of<T>()];
    const std::uint32_t teams = backend_.teams();
    QueueShape shape;
    shape.capacity = memory.queue_capacity;
    shape.margin = created_in_flight<T>() + backend_.template in_flight<T>() + storage_size<T>(memory.storage_capacity);
    shape.rings = std::min(options_.rings != 0 ? options_.rings : 256U, teams);
    using Queue = typename P::template Queue<T>;
    memory.queue = Memory(context_, Queue::bytes(shape));
    program_.template of<T>().queue = Queue::attach(memory.queue.data(), shape);
  }
  template <class T>
  void make_storage() {
    using Storage = typename P::template Storage<T>;
    TypeMemory& memory = memory_[P::template number_of<T>()];
    const std::uint32_t size = storage_size<T>(memory.storage_capacity);
    Memory larger(context_, Storage::bytes(size));
    if (memory.storage.size() != 0) larger.copy_from(memory.storage, memory.storage.size());
    memory.storage = std::move(larger);
    TypeState<P, T>& state = program_.template of<T>();
    state.storage = Storage::attach(memory.storage.data(), size);
    state.storage_capacity = memory.storage_capacity;
  }

  static std::uint32_t doubled(std::uint32_t capacity, std::uint32_t needed) {
    if (needed > kMostItems || capacity > kMostItems / 2) {
      throw OutOfMemory("a queue of the task engine would need more than 2^30 places");
    }
    capacity *= 2;
    while (capacity < needed) capacity *= 2;
    return capacity;
  }
  template <class T>
  void grow_queue(std::uint32_t needed) {
    TypeMemory& memory = memory_[P::template number_of<T>()];
    const Memory old = std::move(memory.queue);
    const auto from = program_.template of<T>().queue;
    memory.queue_capacity = doubled(memory.queue_capacity, needed);
    make_queue<T>();
    backend_.template move_all<T>(from, program_.template of<T>().queue, program_);
  }
  /// The queue too: it has a slot for each waiting item.
  template <class T>
  void grow_storage(std::uint32_t needed) {
    TypeMemory& memory = memory_[P::template number_of<T>()];
    memory.storage_capacity = doubled(memory.storage_capacity, needed);
    make_storage<T>();
    grow_queue<T>(memory.queue_capacity);
  }

  void look() { backend_.look(program_, levels_, ledger_); }
  void reset_totals() {
    look();
    // What an earlier run has left may be above a capacity: its margin is used up then.
    ledger_.stop = static_cast<std::uint32_t>(above_capacity() != 0 ? Stop::suspended : Stop::none);
    ledger_.gate = PhaseGate::begin(next_phase<P>(ledger_, phase_));
    std::fill(std::begin(ledger_.executed), std::end(ledger_.executed), 0);
    std::fill(std::begin(ledger_.found), std::end(ledger_.found), 0);
    ledger_memory_.copy_in(0, &ledger_, sizeof(Ledger));
    if (record_memory_.size() != 0) record_memory_.copy_in(0, &zero_, sizeof(zero_));
  }

  /// The phase with which the workers begin, if they change it. The first turn of a run finds it in the ledger.
  void open_gate(int phase) {
    if (ledger_.gate == PhaseGate::begin(phase)) return;
    ledger_.gate = PhaseGate::begin(phase);
    ledger_memory_.copy_in(0, &ledger_, sizeof(Ledger));
  }

  /// One turn. `looked`: ledger and levels are as a look would find them. @returns false when the run is over
  bool turn(const RunOptions& options, int& phase, Report& report, bool looked) {
    if (!looked) look();
    if (!looked && workers_changed_phase_) phase = PhaseGate::phase(ledger_.gate);
    workers_changed_phase_ = false;
    const auto stop = static_cast<Stop>(ledger_.stop);
    if (stop == Stop::none || stop == Stop::suspended) {
      if (pending_of(ledger_.total) == 0) return end(report, Outcome::finished);
      if (pending_of(ledger_.total) == waiting_of(ledger_.total)) return end(report, Outcome::deadlock);
      phase = next_phase<P>(ledger_, phase);
      // Also without a new suspension: what may run now need not be what fills the queue.
      const std::uint32_t full = options.on_full == FullPolicy::wait ? above_capacity() : 0;
      if (full != 0) return run_slices(options, phase, full) || end(report, Outcome::queue_full);
    }
    switch (stop) {
      case Stop::none:
        break;
      case Stop::suspended:
        if (options.on_full == FullPolicy::report) return end(report, Outcome::queue_full);
        if (options.on_full == FullPolicy::grow) grow_what_is_full(report);
        clear_stop();
        break;
      case Stop::deadlock:
        return end(report, Outcome::deadlock);
      case Stop::watchdog:
        return end(report, Outcome::watchdog);
      case Stop::broken_promise:
        return end(report, Outcome::broken_promise);
      case Stop::task_failed:
        return end(report, Outcome::task_failed);
    }
    switch (options.scheduler) {
      case Scheduler::timesliced:
        run_slices(options, phase, 0);
        break;
      case Scheduler::device_controller:
        backend_.controlled(program_, phase, options);
        break;
      case Scheduler::automatic:
      case Scheduler::megakernel:
        if (backend_.changes_phases(program_, options)) {
          open_gate(phase);
          workers_changed_phase_ = true;
          backend_.all_phases(program_, options);
          break;
        }
        with_phase(phase, [&](auto p) { backend_.template persistent<decltype(p)::value>(program_, options); });
        break;
    }
    return true;  // the next look waits for what was started
  }

  static bool end(Report& report, Outcome outcome) {
    report.outcome = outcome;
    return false;
  }

  /// A slice of every type of the phase that creates nothing for the types in `full`. @returns whether there was one
  bool run_slices(const RunOptions& options, int phase, std::uint32_t full) {
    clear_stop();
    bool any = false;
    each([&](auto tag) {
      using T = typename decltype(tag)::type;
      constexpr int number = P::template number_of<T>();
      if (!runs_in<P>(number, phase) || (P::template creates<T>() & full) != 0) return;
      std::uint32_t items = levels_.queued[number];
      if (options.slice_items != 0) items = std::min(items, options.slice_items);
      if (items == 0) return;
      backend_.template slice<T>(program_, items);
      any = true;
    });
    backend_.synchronize();
    return any;
  }

  /// Types whose queue or storage is above its capacity.
  [[nodiscard]] std::uint32_t above_capacity() const {
    std::uint32_t mask = 0;
    for (int i = 0; i < P::types; ++i) {
      if (levels_.queued[i] > memory_[i].queue_capacity || levels_.waiting[i] > memory_[i].storage_capacity) {
        mask |= 1U << static_cast<unsigned>(i);
      }
    }
    return mask;
  }
  void grow_what_is_full(Report& report) {
    each([&](auto tag) {
      using T = typename decltype(tag)::type;
      constexpr int number = P::template number_of<T>();
      const bool named = static_cast<int>(ledger_.full_type) == number;
      const bool in_storage = ledger_.full_code != 0;
      const TypeMemory& memory = memory_[number];
      if (levels_.waiting[number] > memory.storage_capacity || (named && in_storage)) {
        grow_storage<T>(levels_.waiting[number]);
        ++report.growths;
      }
      if (levels_.queued[number] > memory.queue_capacity || (named && !in_storage)) {
        grow_queue<T>(levels_.queued[number]);
        ++report.growths;
      }
    });
  }
  void clear_stop() {
    if (ledger_.stop == 0) return;
    ledger_.stop = 0;
    ledger_memory_.copy_in(0, &ledger_, sizeof(Ledger));
  }

  void fill(Report& report) {
    look();
    each([&](auto tag) {
      using T = typename decltype(tag)::type;
      constexpr int i = P::template number_of<T>();
      report.types.push_back({TaskTraits<T>::name(), ledger_.executed[i], levels_.queued[i], levels_.waiting[i],
                              memory_[i].queue_capacity, memory_[i].storage_capacity,
                              Backend<P>::template lanes_of<T>(), ledger_.found[i]});
    });
    report.kernels = backend_.kernels();
    if constexpr (P::Probe::counts) record_memory_.copy_out(0, &report.operations, sizeof(OperationCounts));
    if constexpr (P::Probe::traces) {
      std::uint32_t used = 0;
      record_memory_.copy_out(0, &used, sizeof(used));
      const std::uint32_t kept = std::min(used, options_.trace_events);
      report.dropped_events = used - kept;
      report.events.resize(kept);
      if (kept != 0) record_memory_.copy_out(sizeof(TraceEvent), report.events.data(), sizeof(TraceEvent) * kept);
    }
    const bool full = report.outcome == Outcome::queue_full;
    explain(report, static_cast<int>(full ? ledger_.full_type : ledger_.stop_type),
            full ? ledger_.full_code : ledger_.stop_code);
  }

  Context context_;
  RunnerOptions options_;
  Backend<P> backend_;
  Memory ledger_memory_;
  Memory record_memory_;
  TypeMemory memory_[P::types];
  ProgramRef<P> program_{};
  Ledger ledger_{};
  Levels<P> levels_;
  int phase_ = -1;                      ///< that ran last; the next run goes on with it, unless all was done
  bool workers_changed_phase_ = false;  ///< since the last look
  OperationCounts zero_;
};

}  // namespace detail

TASKDAG_ENGINE_END

/// \file
/// The controller among host threads: thread 0 looks at the queues and gives the others a task type to work on (MHive,
/// section 3.4, with threads for kernels).
///
/// An order (one per thread): kIdle, kEnd, or a type's number.
/// | who           | operation                    | order                                                          |
/// |---------------|------------------------------|----------------------------------------------------------------|
/// | controller    | store type or kEnd over kIdle | release (the queues order the items; this orders the end)       |
/// | worker        | load; afterwards store kIdle | acquire / release: the controller sees what the worker has done |
#pragma once

#include <algorithm>
#include <exception>
#include <memory>

#include "taskdag/engine/team.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {

template <class P>
class HostController {
 public:
  HostController(const ProgramRef<P>& program, int phase, int threads)
      : program_(program),
        phase_(phase),
        threads_(threads),
        orders_(std::make_unique<Order[]>(static_cast<std::size_t>(threads))) {
    for (int t = 0; t < threads; ++t) orders_[static_cast<std::size_t>(t)].type = kIdle;
  }

  /// A task's exception stops the run; it leaves here when all threads have seen that.
  template <class Team>
  void run(Team& team) {
    std::exception_ptr failure;
    if (team.number() == 0) {
      control(team, failure);
    } else {
      work(team, failure);
    }
    if (failure) std::rethrow_exception(failure);
  }

 private:
  static constexpr std::int32_t kIdle = -1;
  static constexpr std::int32_t kEnd = -2;
  struct alignas(128) Order {
    std::int32_t type;
  };

  AtomicRef<std::int32_t> order(std::uint32_t thread) const { return AtomicRef<std::int32_t>(orders_[thread].type); }

  template <class Team>
  void work(Team& team, std::exception_ptr& failure) {
    Backoff backoff;
    while (true) {
      const std::int32_t type = order(team.number()).load(acquire);
      if (type == kEnd) return;
      if (type == kIdle) {
        backoff.turn();
        continue;
      }
      backoff.reset();
      run_number(team, type, false, failure);
      order(team.number()).store(kIdle, release);
    }
  }

  /// Gives idle threads work by type while there is some; without an idle thread, does a piece of it.
  template <class Team>
  void control(Team& team, std::exception_ptr& failure) {
    IdleWatch<P> watch(program_);
    Backoff backoff;
    bool over = false;
    while (!over) {
      bool any = false;
      ForEach<typename P::AllTypes>::apply([&](auto tag) {
        using T = typename decltype(tag)::type;
        constexpr int number = P::template number_of<T>();
        if (!runs_in<P>(number, phase_)) return;
        constexpr auto per_claim = static_cast<std::uint32_t>(TaskTraits<T>::fetch());
        std::uint32_t level = program_.template of<T>().queue.level();
        if (level == 0) return;
        any = true;
        std::uint32_t given = 0;
        for (std::uint32_t t = 1; t < static_cast<std::uint32_t>(threads_) && level > 0; ++t) {
          if (order(t).load(acquire) != kIdle) continue;
          order(t).store(number, release);
          level -= std::min(level, per_claim);
          ++given;
        }
        // Items at home with the controller's own thread are found by no other thread where teams do not steal.
        if (given == 0 || !P::template Queue<T>::any_worker_may_claim) run_number(team, number, true, failure);
      });
      if (any) {
        over = AtomicRef<std::uint32_t>(program_.ledger->stop).load(relaxed) != 0;
        backoff.reset();
      } else {
        over = watch.over(phase_);
        backoff.turn();
      }
    }
    for (std::uint32_t t = 1; t < static_cast<std::uint32_t>(threads_); ++t) {
      Backoff wait;
      while (order(t).load(acquire) != kIdle) wait.turn();
      order(t).store(kEnd, release);
    }
  }

  template <class Team>
  void run_number(Team& team, std::int32_t number, bool once, std::exception_ptr& failure) {
    ForEach<typename P::AllTypes>::apply([&](auto tag) {
      using T = typename decltype(tag)::type;
      if (P::template number_of<T>() != number) return;
      try {
        run_slice<P, T>(program_, team, once);
      } catch (...) {
        failure = std::current_exception();
        stop_run(*program_.ledger, Stop::task_failed, number, 0);
      }
    });
  }

  const ProgramRef<P>& program_;
  int phase_;
  int threads_;
  std::unique_ptr<Order[]> orders_;
};

}  // namespace detail

TASKDAG_ENGINE_END

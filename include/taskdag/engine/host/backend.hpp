/// \file
/// The engine on host threads: memory, and the schedulers' three shapes.
#pragma once

#include <algorithm>
#include <vector>

#include "taskdag/engine/host/controller.hpp"
#include "taskdag/engine/host/team.hpp"
#include "taskdag/engine/levels.hpp"
#include "taskdag/engine/memory.hpp"
#include "taskdag/engine/report.hpp"
#include "taskdag/engine/threads.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {

template <class P>
class HostBackend {
 public:
  explicit HostBackend(const Context& context) : context_(context) {
    scratch_.resize(static_cast<std::size_t>(context.threads()));
    for (auto& bytes : scratch_) bytes = Memory(context, LargestScratch<typename P::AllTypes>::value);
  }

  /// Teams that may run at the same time, of any scheduler.
  [[nodiscard]] std::uint32_t teams() const { return static_cast<std::uint32_t>(context_.threads()); }
  /// Items of T that are being executed at the same time at most.
  template <class T>
  [[nodiscard]] std::uint32_t in_flight() const {
    return teams() * static_cast<std::uint32_t>(TaskTraits<T>::fetch());
  }
  /// Of a worker.
  template <class T>
  static constexpr int lanes_of() {
    return 1;
  }
  /// Items that one claim of a team takes.
  template <class T>
  static constexpr std::uint32_t per_team() {
    return static_cast<std::uint32_t>(TaskTraits<T>::fetch());
  }

  /// Fill levels of all queues and storages, and the ledger; no thread works on them.
  static void look(const ProgramRef<P>& program, Levels<P>& levels, Ledger& ledger) {
    ForEach<typename P::AllTypes>::apply([&](auto tag) {
      using T = typename decltype(tag)::type;
      read_levels<P, T>(program, levels);
    });
    ledger = *program.ledger;
  }
  static void synchronize() {}

  /// Pushes items that are already counted.
  template <class T>
  void push_all(const ProgramRef<P>& program, const typename T::Item* items, std::uint32_t size) {
    typename P::Probe probe(program.record, 0);
    for (std::uint32_t i = 0; i < size; ++i) {
      push<P, T>(program, Lanes::converged(), items[i], {i, key_of<T>(items[i], i), 0}, probe);
    }
  }
  /// Moves all items of one queue to another; no other thread works on them.
  template <class T>
  void move_all(const typename P::template Queue<T>& from, const typename P::template Queue<T>& to,
                const ProgramRef<P>& program) {
    typename P::Probe probe(program.record, 0);
    std::uint32_t cursor = 0;
    std::uint32_t moved = 0;
    const std::uint32_t items = from.level();
    for (std::uint32_t worker = 0; moved < items; ++worker) {
      const Claim claim = from.claim(1, from.glance(worker, probe), true, worker, cursor, probe);
      if (claim.count == 0) continue;
      typename P::Probe::Stamp stamp{};
      const typename T::Item item = from.read(claim, 0, stamp, probe);
      from.leave(claim, 0, probe);
      static_cast<void>(to.push(Lanes::converged(), item, {moved, key_of<T>(item, moved), 0}, probe));
      ++moved;
    }
  }

  template <int Phase>
  void persistent(const ProgramRef<P>& program, const RunOptions& /*options*/) {
    if (!threads_are_concurrent(context_)) return in_turn(program, Phase);
    on_threads(program, [&](HostTeam& team) { run_persistent<P, Phase>(program, team); });
  }

  /// Whether one start of workers is good for all phases. Where threads come in turn, none may wait for another.
  [[nodiscard]] bool changes_phases(const ProgramRef<P>& /*program*/, const RunOptions& options) const {
    return P::phases > 0 && options.phases != PhaseChange::on_host && threads_are_concurrent(context_);
  }
  void all_phases(const ProgramRef<P>& program, const RunOptions& /*options*/) {
    on_threads(program, [&](HostTeam& team) { run_all_phases<P>(program, team); });
  }

  /// Starts workers for `items` items of T, one claim each (discrete), now.
  template <class T>
  void slice(const ProgramRef<P>& program, std::uint32_t items) {
    // A turn's number stands for a team's: where teams do not steal, each ring is visited.
    const std::uint32_t claims = std::max((items + per_team<T>() - 1) / per_team<T>(), teams());
    std::uint32_t next = 0;
    on_threads(program, [&](const HostTeam& thread) {
      // relaxed: the numbers order nothing; queues do.
      for (std::uint32_t turn = AtomicRef<std::uint32_t>(next).fetch_add(1U, relaxed); turn < claims;
           turn = AtomicRef<std::uint32_t>(next).fetch_add(1U, relaxed)) {
        HostTeam team = thread.as(turn);
        run_slice<P, T>(program, team, true);
      }
    });
  }
  void controlled(const ProgramRef<P>& program, int phase, const RunOptions& /*options*/) {
    if (!threads_are_concurrent(context_)) return in_turn(program, phase);
    HostController<P> controller(program, phase, context_.threads());
    on_threads(program, [&](HostTeam& team) { controller.run(team); });
  }

  [[nodiscard]] std::vector<KernelInfo> kernels() const { return {}; }

 private:
  /// Where teams come in turn, none may wait for what another one does: what is queued now, as slices.
  void in_turn(const ProgramRef<P>& program, int phase) {
    ForEach<typename P::AllTypes>::apply([&](auto tag) {
      using T = typename decltype(tag)::type;
      if (!runs_in<P>(P::template number_of<T>(), phase)) return;
      if (const std::uint32_t items = program.template of<T>().queue.level(); items != 0) slice<T>(program, items);
    });
  }

  /// A task's exception stops the run, so that the other threads end; the first one is rethrown.
  template <class Body>
  void on_threads(const ProgramRef<P>& program, Body&& body) {
    struct Call {
      HostBackend* self;
      Body* body;
      Ledger* ledger;
    } call{this, &body, program.ledger};
    run_on_threads(
        context_,
        [](void* target, int thread) {
          const Call& c = *static_cast<Call*>(target);
          HostTeam team(static_cast<std::uint32_t>(thread),
                        static_cast<std::byte*>(c.self->scratch_[static_cast<std::size_t>(thread)].data()));
          try {
            (*c.body)(team);
          } catch (...) {
            stop_run(*c.ledger, Stop::task_failed, 0, 0);
            throw;
          }
        },
        &call);
  }

  Context context_;
  std::vector<Memory> scratch_;
};

}  // namespace detail

TASKDAG_ENGINE_END

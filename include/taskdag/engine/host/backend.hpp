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
  /// Items that one claim of a team takes.
  template <class T>
  static constexpr std::uint32_t per_team() {
    return static_cast<std::uint32_t>(TaskTraits<T>::fetch());
  }

  /// Fill levels of all queues and storages.
  static void levels(const ProgramRef<P>& program, Levels<P>& levels) {
    ForEach<typename P::AllTypes>::apply([&](auto tag) {
      using T = typename decltype(tag)::type;
      const TypeState<P, T>& type = program.template of<T>();
      levels.queued[P::template number_of<T>()] = type.queue.level();
      levels.waiting[P::template number_of<T>()] = type.storage.level();
    });
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
  /// Moves all items of one queue to another; nobody else works on them.
  template <class T>
  void move_all(const typename P::template Queue<T>& from, const typename P::template Queue<T>& to,
                const ProgramRef<P>& program) {
    typename P::Probe probe(program.record, 0);
    std::uint32_t cursor = 0;
    std::uint32_t moved = 0;
    const std::uint32_t items = from.level();
    for (std::uint32_t worker = 0; moved < items; ++worker) {
      const Claim claim = from.claim(1, worker, cursor, probe);
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
    on_threads([&](HostTeam& team) { run_persistent<P, Phase>(program, team); });
  }

  /// Starts workers for `items` items of T, one claim each (discrete), now.
  template <class T>
  void slice(const ProgramRef<P>& program, std::uint32_t items) {
    const std::uint32_t claims = (items + per_team<T>() - 1) / per_team<T>();
    std::uint32_t next = 0;
    on_threads([&](HostTeam& team) {
      // relaxed: the numbers order nothing; queues do.
      while (AtomicRef<std::uint32_t>(next).fetch_add(1U, relaxed) < claims) run_slice<P, T>(program, team, true);
    });
  }
  /// The slices of all types have been started; returns when they have ended.
  static void end_slices() {}

  void controlled(const ProgramRef<P>& program, int phase, const RunOptions& /*options*/) {
    HostController<P> controller(program, phase, context_.threads(), threads_are_concurrent(context_));
    on_threads([&](HostTeam& team) { controller.run(team); });
  }

  [[nodiscard]] std::vector<KernelInfo> kernels() const { return {}; }

 private:
  template <class Body>
  void on_threads(Body&& body) {
    struct Call {
      HostBackend* self;
      Body* body;
    } call{this, &body};
    run_on_threads(
        context_,
        [](void* target, int thread) {
          const Call& c = *static_cast<Call*>(target);
          HostTeam team(static_cast<std::uint32_t>(thread),
                        static_cast<std::byte*>(c.self->scratch_[static_cast<std::size_t>(thread)].data()));
          (*c.body)(team);
        },
        &call);
  }

  Context context_;
  std::vector<Memory> scratch_;
};

}  // namespace detail

TASKDAG_ENGINE_END

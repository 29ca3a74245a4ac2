/// \file
/// Static programs on host threads.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "taskdag/engine/host/team.hpp"
#include "taskdag/engine/static/loop.hpp"
#include "taskdag/engine/static/memory.hpp"
#include "taskdag/engine/threads.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {

/// Tasks must not throw: others may wait for what they publish (an exception ends the process).
template <class P>
class HostStatic {
 public:
  HostStatic(const Context& context, const StaticOrder& order, const StaticOptions& options)
      : context_(context), options_(options), memory_(context, order, per_team(), options) {
    scratch_.resize(static_cast<std::size_t>(context.threads()));
    for (auto& bytes : scratch_) bytes = Memory(context, LargestScratch<typename P::AllTypes>::value);
  }

  /// Returns when the run has ended.
  void run(const typename P::Data& data) {
    memory_.program().data = data;
    const bool phases = options_.dependencies == Dependencies::phases;
    // Where threads come in turn, none may wait for what another one does: levels are launches then.
    const bool apart =
        options_.scheduler == Scheduler::timesliced || options_.scheduler == Scheduler::device_controller;
    if (phases && (apart || !threads_are_concurrent(context_))) {
      for (std::uint32_t level = 0; level < memory_.program().levels; ++level) run_phases(level, level + 1);
    } else if (phases) {
      run_phases(0, memory_.program().levels);
    } else if (options_.dependencies == Dependencies::individual) {
      run_launch<typename P::AllTypes, Dependencies::individual>(0, 0, memory_.program().claims);
    } else if (options_.scheduler == Scheduler::timesliced) {
      ForEach<typename P::AllTypes>::apply([&](auto tag) {
        using T = typename decltype(tag)::type;
        constexpr int number = P::template number_of<T>();
        run_launch<Types<T>, Dependencies::ordered>(number, memory_.first_claim(number),
                                                    memory_.program().type_end[number]);
      });
    } else if (options_.scheduler == Scheduler::device_controller) {
      const std::uint32_t slice = kClaimsOfSlice * static_cast<std::uint32_t>(context_.threads());
      for (std::uint32_t first = 0; first < memory_.program().claims;) {
        const std::uint32_t end = first + std::min(slice, memory_.program().claims - first);
        run_launch<typename P::AllTypes, Dependencies::ordered>(0, first, end);
        first = end;
      }
    } else {
      run_launch<typename P::AllTypes, Dependencies::ordered>(0, 0, memory_.program().claims);
    }
    ++runs_;
    memory_.begin(0, runs_);
  }

  [[nodiscard]] Report report() const {
    std::array<int, P::types> lanes{};
    lanes.fill(1);
    return memory_.report(lanes);
  }
  [[nodiscard]] std::size_t bytes() const { return memory_.bytes(); }

 private:
  /// Of the controller, for each thread.
  static constexpr std::uint32_t kClaimsOfSlice = 256;

  static std::array<std::uint32_t, P::types> per_team() {
    std::array<std::uint32_t, P::types> result{};
    ForEach<typename P::AllTypes>::apply([&](auto tag) {
      using T = typename decltype(tag)::type;
      result[static_cast<std::size_t>(P::template number_of<T>())] = static_cast<std::uint32_t>(TaskTraits<T>::fetch());
    });
    return result;
  }

  template <class List, Dependencies Kind>
  void run_launch(int number, std::uint32_t first, std::uint32_t end) {
    if (first == end) return;
    const auto teams = static_cast<std::uint32_t>(context_.threads());
    const StaticLaunch launch{static_cast<std::uint32_t>(number), first, end, end - first + teams, false};
    memory_.begin(launch.number, runs_);
    on_threads([&](HostTeam& team) { run_claims<P, List, Kind>(memory_.program(), team, launch); });
  }
  void run_phases(std::uint32_t first, std::uint32_t end) {
    std::uint64_t arrived = 0;
    const auto teams = static_cast<std::uint32_t>(context_.threads());
    on_threads([&](HostTeam& team) {
      run_levels<P>(memory_.program(), team, first, end, teams, runs_, [&](std::uint32_t level) {
        if (level + 1 == end) return;
        AtomicRef<std::uint64_t> count(arrived);
        // acq_rel: who gets through has read from all who have arrived.
        count.fetch_add(1U, acq_rel);
        const std::uint64_t all = std::uint64_t{level - first + 1U} * teams;
        Backoff backoff;
        while (count.load(acquire) < all) backoff.turn();
      });
    });
  }

  template <class Body>
  void on_threads(Body&& body) {
    struct Call {
      HostStatic* self;
      Body* body;
    } call{this, &body};
    run_on_threads(
        context_,
        [](void* target, int thread) noexcept {
          const Call& c = *static_cast<Call*>(target);
          HostTeam team(static_cast<std::uint32_t>(thread),
                        static_cast<std::byte*>(c.self->scratch_[static_cast<std::size_t>(thread)].data()));
          (*c.body)(team);
        },
        &call);
  }

  Context context_;
  StaticOptions options_;
  StaticMemory<P> memory_;
  std::vector<Memory> scratch_;
  std::uint32_t runs_ = first_run;
};

}  // namespace detail

TASKDAG_ENGINE_END

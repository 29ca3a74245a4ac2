/// \file
/// What a static program has in the memory of its backend, made from its order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "taskdag/engine/memory.hpp"
#include "taskdag/engine/static/program.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {

/// Number of the first run of programs that are made from now on. Runs wrap at 2^32: a test lets them begin before
/// that.
inline std::uint32_t first_run = 0;

template <class P>
class StaticMemory {
 public:
  /// per_team: tasks of each type that a team runs at a time. @throws InvalidInput, OutOfMemory, DeviceError
  StaticMemory(const Context& context, const StaticOrder& order, const std::array<std::uint32_t, P::types>& per_team,
               const StaticOptions& options)
      : claims_(make_claims(order, per_team, options.dependencies)),
        tasks_(order.tasks),
        trace_events_(traced(options) ? options.trace_events : 0U),
        predecessors_of_all_(options.dependencies == Dependencies::individual ? order.successor.size() : 0U),
        level_waits_(
            options.dependencies == Dependencies::phases ? std::max<std::size_t>(claims_.level_end.size(), 1) - 1 : 0U),
        tickets_(context, P::types),
        arrivals_(context, 1),
        ready_end_(context, 1),
        failed_(context, 1),
        claim_(context, claims_.claim),
        level_end_(context, claims_.level_end) {
    if (first_run != 0) {
      tickets_.upload(std::vector<StaticTickets>(tickets_.size(), StaticTickets{std::uint64_t{first_run} << 32U}));
    }
    program_.tickets = tickets_.data();
    program_.claim = claims_.claim.empty() ? nullptr : claim_.data();
    std::copy(claims_.type_end.begin(), claims_.type_end.end(), program_.type_end);
    program_.claims = claims_.type_end.back();
    program_.level_end = level_end_.data();
    program_.levels = static_cast<std::uint32_t>(claims_.level_end.size());
    program_.arrivals = arrivals_.data();
    program_.failed = failed_.data();
    if (options.dependencies == Dependencies::individual) {
      successor_begin_ = Array<std::uint32_t>(context, order.successor_begin);
      successor_ = Array<std::uint32_t>(context, order.successor);
      predecessors_ = Array<std::uint32_t>(context, claims_.missing);
      missing_ = Array<std::uint32_t>(context, claims_.missing);
      ready_ = Array<std::uint32_t>(context, claims_.ready);
      ready_end_.upload(std::array{StaticReadyEnd{claims_.roots}});
      program_.successor_begin = successor_begin_.data();
      program_.successor = successor_.data();
      program_.predecessors = predecessors_.data();
      program_.missing = missing_.data();
      program_.ready = ready_.data();
      program_.ready_end = ready_end_.data();
      program_.roots = claims_.roots;
    }
    claims_.claim = {};
    claims_.missing = {};
    claims_.ready = {};
    if constexpr (P::Probe::counts) {
      record_ = Memory(context, sizeof(OperationCounts));
      program_.record.totals = static_cast<OperationCounts*>(record_.data());
    }
    if constexpr (P::Probe::traces) {
      if (!traced(options)) return;
      record_ = Memory(context, sizeof(TraceEvent) * (trace_events_ + std::size_t{1}));
      program_.record.used = static_cast<std::uint32_t*>(record_.data());
      program_.record.events = static_cast<TraceEvent*>(record_.data()) + 1;
      program_.record.capacity = trace_events_;
    }
  }

  [[nodiscard]] StaticRef<P>& program() { return program_; }
  [[nodiscard]] const StaticRef<P>& program() const { return program_; }
  /// Claims of type k: first and end.
  [[nodiscard]] std::uint32_t first_claim(int type) const { return type == 0 ? 0U : program_.type_end[type - 1]; }
  [[nodiscard]] const std::vector<std::uint32_t>& level_end() const { return claims_.level_end; }
  [[nodiscard]] std::size_t bytes() const {
    return tickets_.size() * sizeof(StaticTickets) + claim_.size() * sizeof(StaticClaim) +
           (level_end_.size() + successor_begin_.size() + successor_.size() + predecessors_.size() + missing_.size() +
            ready_.size()) *
               sizeof(std::uint32_t) +
           record_.size();
  }
  /// On the host: begins a launch of run `run`.
  void begin(std::uint32_t launch, std::uint32_t run) { tickets_.data()[launch].next = std::uint64_t{run} << 32U; }

  /// @pre no task runs. lanes: of a worker of each type.
  [[nodiscard]] Report report(const std::array<int, P::types>& lanes) const {
    Report report;
    std::uint64_t runs = 0;
    const std::vector<StaticTickets> all = tickets_.download();
    // Which launches a run has depends on the scheduler; those that there are have counted alike.
    for (const StaticTickets& one : all) {
      runs = std::max<std::uint64_t>(runs, static_cast<std::uint32_t>(one.next >> 32U) - first_run);
    }
    ForEach<typename P::AllTypes>::apply([&](auto tag) {
      using T = typename decltype(tag)::type;
      constexpr auto number = static_cast<std::size_t>(P::template number_of<T>());
      report.types.push_back({TaskTraits<T>::name(), runs * tasks_[number], 0, 0, 0, 0, lanes[number]});
    });
    report.slices = runs;
    report.predecessor_waits = runs * predecessors_of_all_;
    report.level_waits = runs * level_waits_;
    if (const std::uint32_t failed = failed_.download()[0]; failed != 0) {
      report.outcome = Outcome::task_failed;
      explain(report, 0, failed - 1U);
    }
    if constexpr (P::Probe::counts) record_.copy_out(0, &report.operations, sizeof(OperationCounts));
    if constexpr (P::Probe::traces) {
      if (trace_events_ == 0) return report;
      std::uint32_t used = 0;
      record_.copy_out(0, &used, sizeof(used));
      const std::uint32_t kept = std::min(used, trace_events_);
      report.dropped_events = used - kept;
      report.events.resize(kept);
      if (kept != 0) record_.copy_out(sizeof(TraceEvent), report.events.data(), sizeof(TraceEvent) * kept);
    }
    return report;
  }

 private:
  static bool traced([[maybe_unused]] const StaticOptions& options) {
    if constexpr (requires(const typename P::Probe& probe) { probe.on(); }) return options.trace;
    return P::Probe::traces;
  }

  StaticClaims claims_;
  std::vector<std::uint32_t> tasks_;
  std::uint32_t trace_events_;
  std::size_t predecessors_of_all_;  ///< tasks together
  std::size_t level_waits_;          ///< of all teams, in a run
  Array<StaticTickets> tickets_;
  Array<StaticArrivals> arrivals_;
  Array<StaticReadyEnd> ready_end_;
  Array<std::uint32_t> failed_;
  Array<StaticClaim> claim_;
  Array<std::uint32_t> level_end_;
  Array<std::uint32_t> successor_begin_;
  Array<std::uint32_t> successor_;
  Array<std::uint32_t> predecessors_;
  Array<std::uint32_t> missing_;
  Array<std::uint32_t> ready_;
  Memory record_;
  StaticRef<P> program_{};
};

}  // namespace detail

TASKDAG_ENGINE_END

/// \file
/// A triangular sweep on host threads under a named schedule.
#pragma once

#include <memory>
#include <optional>
#include <variant>

#include "kernels/sptrsv/host/blocks/superstep_sweep.hpp"
#include "kernels/sptrsv/host/engine/engine_sweep.hpp"
#include "kernels/sptrsv/host/plan/planned_sweep.hpp"
#include "taskdag/precision.hpp"
#include "taskdag/solve_schedule.hpp"

namespace taskdag::kernels {

/// HostSweep, SuperstepSweep or HostEngineSweep, whichever runs the schedule. All give the same bits, whatever the
/// number of threads.
class ScheduledSweep {
 public:
  /// Parameters as for HostSweep. `schedule`: one of the host's. Superstep schedules get as many cores as the pool has
  /// threads that can run at the same time. `plan` is used by automatic and plan only, `run` by engine. automatic: the
  /// plan, or locking where that is expected to be faster (find_faster_than_plan()).
  /// @throws InvalidInput for a schedule of CUDA
  ScheduledSweep(const CsrPattern& pattern, const Offset* source, Triangle triangle, host::ThreadPool& pool,
                 SolveSchedule schedule, std::shared_ptr<const ThreadPlan> plan = nullptr,
                 const engine::StaticOptions& run = {}, HostSweepInput input = HostSweepInput::copied,
                 Precision precision = Precision::in_double)
      : sweep_(make(pattern, source, triangle, pool, schedule, std::move(plan), run, input, precision)),
        schedule_(schedule),
        precision_(precision) {
    if (schedule == SolveSchedule::automatic) {
      const bool supersteps = std::holds_alternative<SuperstepSweep>(sweep_);
      schedule_ = supersteps ? SolveSchedule::locking : threads() > 1 ? SolveSchedule::plan : SolveSchedule::serial;
    }
  }

  /// Runs `supersteps`, a schedule as SuperstepSweep takes it, under the name `schedule`.
  ScheduledSweep(const CsrPattern& pattern, const Offset* source, Triangle triangle, host::ThreadPool& pool,
                 SolveSchedule schedule, const SuperstepSchedule& supersteps,
                 Precision precision = Precision::in_double)
      : sweep_(std::in_place_type<SuperstepSweep>, pattern, source, triangle, pool, supersteps, std::nullopt,
               precision),
        schedule_(schedule),
        precision_(precision) {}

  void load(const double* values) {
    std::visit([&](auto& sweep) { sweep.load(values); }, sweep_);
  }

  [[nodiscard]] Index rows() const {
    return std::visit([](const auto& sweep) { return sweep.rows(); }, sweep_);
  }
  [[nodiscard]] Offset entries() const {
    return std::visit([](const auto& sweep) { return sweep.entries(); }, sweep_);
  }
  [[nodiscard]] LevelCount level_count() const {
    return std::visit([](const auto& sweep) { return sweep.level_count(); }, sweep_);
  }
  [[nodiscard]] int threads() const {
    return std::visit([](const auto& sweep) { return sweep.threads(); }, sweep_);
  }
  /// The row at each place (HostSweep: position).
  [[nodiscard]] RowOrder order() const {
    return std::visit([](const auto& sweep) { return sweep.order(); }, sweep_);
  }
  [[nodiscard]] std::int64_t bytes() const {
    return std::visit([](const auto& sweep) { return sweep.bytes(); }, sweep_);
  }
  /// The schedule in use; for automatic the one that was chosen.
  [[nodiscard]] SolveSchedule schedule() const { return schedule_; }

  /// The sweep, where it is a program of the task engine; else null.
  [[nodiscard]] const HostEngineSweep* by_engine() const { return std::get_if<HostEngineSweep>(&sweep_); }

  /// As HostSweep::run().
  template <class Value = double, class Rhs, class Pivot, class Emit>
  bool run(double* x, const Rhs& rhs, const Pivot& pivot, const Emit& emit) {
    return std::visit([&](auto& sweep) { return sweep.template run<Value>(x, rhs, pivot, emit); }, sweep_);
  }

  /// As HostSweep::run_columns(), for one column, too: by run() between two passes over its operands, which are then
  /// all read before results are written. For what is not called often enough to have a form of run() of its own.
  bool run_columns(double* x, const ColumnPass& pass);

  /// Says that runs of both will come: this sweep after `before`, whose results are its right-hand sides, row by row.
  void follow(const ScheduledSweep& before) {
    const auto* const first = std::get_if<HostEngineSweep>(&before.sweep_);
    auto* const second = std::get_if<HostEngineSweep>(&sweep_);
    if (first != nullptr && second != nullptr) second->follow(*first);
  }

  /// A run of `before` and one of this sweep as one, where the schedule does that: see HostEngineSweep::run_both().
  /// @returns nothing, and does nothing, where they are two
  template <class Value = double, class FirstRhs, class FirstPivot, class Rhs, class Pivot, class Emit>
  std::optional<bool> run_both(const ScheduledSweep& before, double* x, const FirstRhs& first_rhs,
                               const FirstPivot& first_pivot, const Rhs& rhs, const Pivot& pivot, const Emit& emit) {
    const auto* const first = std::get_if<HostEngineSweep>(&before.sweep_);
    auto* const second = std::get_if<HostEngineSweep>(&sweep_);
    if (first == nullptr || second == nullptr || !second->follows(*first)) return std::nullopt;
    return second->run_both<Value>(*first, x, first_rhs, first_pivot, rhs, pivot, emit);
  }

 private:
  using Sweep = std::variant<HostSweep, SuperstepSweep, HostEngineSweep>;

  static Sweep make(const CsrPattern& pattern, const Offset* source, Triangle triangle, host::ThreadPool& pool,
                    SolveSchedule schedule, std::shared_ptr<const ThreadPlan> plan, const engine::StaticOptions& run,
                    HostSweepInput input, Precision precision);

  Sweep sweep_;
  SolveSchedule schedule_;
  Precision precision_;
};

}  // namespace taskdag::kernels

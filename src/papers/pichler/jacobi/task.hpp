/// \file
/// The task type of Jacobi sweeps.
#pragma once

#include "papers/pichler/jacobi/program.hpp"
#include "taskdag/engine/static/program.hpp"

namespace taskdag::kernels::jacobi_program {

/// How a run has ended; zeroed by the host before each run.
struct RunEnd {
  std::uint32_t sweeps;  ///< whose results count; 0: it has not ended yet
  double change;         ///< of the last of them
};

/// What is known of a sweep when it ends.
struct CheckState {
  double change;
  std::uint32_t checked;  ///< run + 1 once it has been looked at
};

struct Data {
  JacobiArrays arrays;
  const JacobiTask* tasks;
  const JacobiPart* parts;
  const std::uint32_t* need_begin;
  const Index* need;
  double* sums;
  std::uint32_t* arrived;
  // Counters below are never reset: they go on from run to run.
  std::uint32_t* done;        ///< by part: sweeps that it is done with; null: tasks wait for nothing by themselves
  std::uint32_t* sweep_done;  ///< by sweep: parts that are done with it, of all runs; null: not counted
  CheckState* check[2];       ///< by sweep; alternate between runs: the idle one is made ready for the next run
  RunEnd* end;                ///< of a run that checks
  std::uint32_t part_count;
  std::uint32_t sweeps;
  int lanes;
  bool check_all;  ///< every sweep, not the last one alone

  [[nodiscard]] TASKDAG_TASK bool checks() const { return end != nullptr; }
  [[nodiscard]] TASKDAG_TASK bool checks(std::uint32_t s) const {
    return end != nullptr && (check_all || s + 1U == sweeps);
  }
  [[nodiscard]] TASKDAG_TASK double* iterate(std::uint32_t number) const {
    return arrays.ring[number % arrays.ring_size];
  }
};

/// Waits until a counter that only grows has reached `count`.
TASKDAG_TASK inline void wait_for(std::uint32_t& counter, std::uint32_t count) {
  engine::Backoff backoff;
  while (static_cast<std::int32_t>(engine::AtomicRef<std::uint32_t>(counter).load(engine::acquire) - count) < 0) {
    backoff.turn();
  }
}

struct SweepPart {
  using Item = std::uint32_t;
  static constexpr auto name = "sweep a part";
  static constexpr engine::WorkerSize worker = engine::block_worker(kPartThreads);
  static constexpr int max_children = 0;

  TASKDAG_ENGINE_ANY_SIDE
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& item) {
    const Data& data = context.data();
    const auto& group = context.group();
    const JacobiTask task = data.tasks[item];
    const std::uint32_t run = context.run();
    if (data.checks() && item == 0 && group.rank() == 0) begin_next_run(data, run);
    if (task.part == kEndOfSweep) {
      if (group.rank() == 0) look_at(data, run, task.sweep);
      return;
    }
    if (data.done != nullptr) {
      wait_for_parts(data, group, run, task);
      group.sync();
    }
    const JacobiPart& part = data.parts[task.part];
    PartEnd ended{0.0, true, false};
    if (!data.checks() || !group.broadcast(skips(data, task, part))) {
      const bool from_zero = task.sweep == 0 && data.arrays.from_zero;
      const JacobiSweep sweep{data.arrays.a,
                              data.arrays.scale,
                              data.arrays.b,
                              from_zero ? nullptr : data.iterate(data.arrays.first + task.sweep),
                              data.iterate(data.arrays.first + task.sweep + 1U),
                              data.sums,
                              data.arrived,
                              data.lanes};
      ended = sweep_part(group, sweep, part, task.part);
      if (data.checks(task.sweep)) {
        const double change = group.sum(ended.change);
        if (group.rank() == 0) {
          engine::AtomicRef<double>(data.check[run & 1U][task.sweep].change).fetch_add(change, engine::relaxed);
        }
      }
    }
    group.sync();
    if (group.rank() == 0) publish(data, run, task, ended);
  }

 private:
  /// Whether the run has ended before this task. Pieces of a row are skipped together or not at all, since the last one
  /// finishes the row: where tasks wait by themselves, from the sweep on whose check all have waited for.
  TASKDAG_TASK static bool skips(const Data& data, const JacobiTask& task, const JacobiPart& part) {
    const std::uint32_t end = engine::AtomicRef<std::uint32_t>(data.end->sweeps).load(engine::relaxed);
    if (end == 0U) return false;
    return part.pieces == 0 || data.done == nullptr || task.sweep + 1U >= end + data.arrays.ring_size;
  }

  /// By the leader.
  TASKDAG_TASK static void publish(const Data& data, std::uint32_t run, const JacobiTask& task, const PartEnd& ended) {
    const std::uint32_t parts = (ended.self ? 1U : 0U) + (ended.row ? 1U : 0U);
    if (data.done != nullptr) {
      const std::uint32_t sweeps = run * data.sweeps + task.sweep + 1U;
      if (ended.self) engine::AtomicRef<std::uint32_t>(data.done[task.part]).store(sweeps, engine::release);
      if (ended.row) {
        const auto first = static_cast<std::uint32_t>(data.parts[task.part].first_piece);
        engine::AtomicRef<std::uint32_t>(data.done[first]).store(sweeps, engine::release);
      }
    }
    if (data.sweep_done == nullptr || parts == 0) return;
    // acq_rel: the last one has read from all others, and hands that on.
    const std::uint32_t before =
        engine::AtomicRef<std::uint32_t>(data.sweep_done[task.sweep]).fetch_add(parts, engine::acq_rel);
    if (data.done != nullptr && data.checks() && before + parts == (run + 1U) * data.part_count) {
      look_at(data, run, task.sweep);
    }
  }

  /// Autonomous: the parts that this one needs, each by a lane.
  template <class Group>
  TASKDAG_TASK static void wait_for_parts(const Data& data, const Group& group, std::uint32_t run,
                                          const JacobiTask& task) {
    if (task.sweep > 0) {
      const std::uint32_t begin = data.need_begin[task.part];
      const std::uint32_t end = data.need_begin[task.part + 1U];
      const std::uint32_t sweeps = run * data.sweeps + task.sweep;
      if (begin == end && group.rank() == 0) {
        wait_for(data.sweep_done[task.sweep - 1U], (run + 1U) * data.part_count);
      }
      for (std::uint32_t k = begin + static_cast<std::uint32_t>(group.rank()); k < end;
           k += static_cast<std::uint32_t>(group.size())) {
        wait_for(data.done[data.need[k]], sweeps);
      }
    }
    // The ring is full until the sweep whose iterate this one writes over has been looked at.
    if (data.checks() && task.sweep >= data.arrays.ring_size && group.rank() == 0) {
      wait_for(data.check[run & 1U][task.sweep - data.arrays.ring_size].checked, run + 1U);
    }
  }

  /// All parts are done with a sweep: whether it is the last one.
  TASKDAG_TASK static void look_at(const Data& data, std::uint32_t run, std::uint32_t sweep) {
    if (!data.checks(sweep)) return;
    CheckState& state = data.check[run & 1U][sweep];
    engine::AtomicRef<std::uint32_t> end(data.end->sweeps);
    const double change = engine::AtomicRef<double>(state.change).load(engine::relaxed);
    const bool met = !(change > data.arrays.tolerance);  // not a number, too
    const bool last = sweep + 1U == data.sweeps;
    std::uint32_t none = 0;
    if ((met || last || change - change != 0.0) &&
        end.compare_exchange_strong(none, sweep + 1U, engine::relaxed, engine::relaxed)) {
      data.end->change = change;
    }
    engine::AtomicRef<std::uint32_t>(state.checked).store(run + 1U, engine::release);
  }

  TASKDAG_TASK static void begin_next_run(const Data& data, std::uint32_t run) {
    for (std::uint32_t s = 0; s < data.sweeps; ++s) data.check[1U - (run & 1U)][s].change = 0.0;
  }
};

}  // namespace taskdag::kernels::jacobi_program

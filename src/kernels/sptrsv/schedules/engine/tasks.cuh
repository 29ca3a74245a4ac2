/// \file
/// Triangular sweeps as task types of a static program: a task is a warp task of the schedule flat, with its
/// mathematics and its storage; the engine hands tasks out and counts runs.
///
/// Slots alternate with the runs: each run fills one set and resets the other one.
#pragma once

#include "kernels/sptrsv/schedules/flat/solve.cuh"
#include "taskdag/engine/static/program.hpp"

namespace taskdag::kernels::engine_schedule {

/// One sweep as its tasks see it.
struct SweepData {
  SolveParameters parameters;
  double* slots[2];

  __device__ SolveParameters of_run(std::uint32_t run) const {
    SolveParameters p = parameters;
    p.slots = slots[run & 1U];
    p.next_slots = slots[1U - (run & 1U)];
    return p;
  }
};

/// Both sweeps of an application. Right-hand sides of the second one are values that the first one hands over.
struct PairData {
  SweepData first;
  SweepData second;
};

template <bool Parts>
struct SolveRows {
  using Item = Index;
  static constexpr auto name = "solve rows";
  static constexpr engine::WorkerSize worker = engine::warp_worker;
  static constexpr int max_children = 0;
  template <class Context>
  __device__ static void execute(Context& context, const Item& task) {
    const SolveParameters p = context.data().of_run(context.run());
    run_task<Parts>(p, task, context.group().rank());
  }
};

template <bool Parts>
struct ForwardRows {
  using Item = Index;
  static constexpr auto name = "forward rows";
  static constexpr engine::WorkerSize worker = engine::warp_worker;
  static constexpr int max_children = 0;
  template <class Context>
  __device__ static void execute(Context& context, const Item& task) {
    const SolveParameters p = context.data().first.of_run(context.run());
    run_task<Parts>(p, task, context.group().rank());
  }
};

/// Rows of the second sweep, which may start while rows of the first one are still at work.
template <bool Parts>
struct BackwardRows {
  using Item = Index;
  static constexpr auto name = "backward rows";
  static constexpr engine::WorkerSize worker = engine::warp_worker;
  static constexpr int max_children = 0;
  template <class Context>
  __device__ static void execute(Context& context, const Item& item) {
    const SolveParameters p = context.data().second.of_run(context.run());
    const Slots before{context.data().first.slots[context.run() & 1U]};
    const SlotsOf<double> slots{p.slots};
    LaneTask<Parts> task(p, item, context.group().rank(), false);
    if (task.leader) {
      p.next_slots[task.position] = not_yet();
      if (task.has_rhs()) task.rhs = before.wait(task.rhs_entry);
    }
    if (task.active && task.lanes > 1) {  // see run_task()
      const Index gate = __ldg(p.gate + task.position);
      if (gate < p.rows) slots.wait_patiently(gate, p.gate_pause_ns);
    }
    __syncwarp();
    task.finish(p, task.run(p, slots));
  }
};

}  // namespace taskdag::kernels::engine_schedule

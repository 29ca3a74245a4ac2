/// \file
/// A graph as a program of the engine: one task type, whose tasks resolve dependencies by the counts of the study.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "studies/progression/block.hpp"
#include "studies/progression/own_queues.hpp"
#include "taskdag/engine/memory.hpp"
#include "taskdag/engine/queue/multi_queue.hpp"
#include "taskdag/engine/runner.hpp"

namespace taskdag::progression {

struct OwnData {
  DagView dag;
  State state;  ///< dependencies and values alone
};

/// What a body computes, and does not count: what bodies do follows from the graph.
template <bool computes>
struct BodyProbe : engine::NoProbe {
  static constexpr bool counts = computes;
  TASKDAG_TASK BodyProbe() : NoProbe({}, 0) {}
};

template <int Lanes, bool computes>
struct OwnTask {
  using Item = std::uint32_t;
  static constexpr auto name = "task";
  static constexpr engine::WorkerSize worker{Lanes};
  static constexpr int max_children = 2;  // or more: then queues have room for all tasks
  static constexpr bool waits = false;

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& item) {
    if (context.group().rank() != 0) return;
    BodyProbe<computes> probe;
    Block<BodyProbe<computes>> body(context.data().dag, context.data().state, 0, probe);
    body.compute(item);
    const Successors list = body.successors_of(item);
    for (std::uint32_t k = list.first; k < list.last; ++k) {
      const std::uint32_t next = body.successor(list, k);
      if (body.resolve(next)) context.template enqueue<OwnTask>(next);
    }
  }
};

/// Operations of the bodies.
inline void add_bodies(const Dag& dag, engine::OperationCounts& counts) {
  counts.other_atomics += dag.edges();
  if (dag.columns == 0) counts.loads += 2 * std::uint64_t{dag.tasks} + dag.edges();
}

template <template <class, class> class Queue, int Lanes, bool computes>
RunResult run_own_form(const Context& context, const Dag& dag, const OwnSettings& settings) {
  using Task = OwnTask<Lanes, computes>;
  using Probe = std::conditional_t<computes, engine::CountingProbe, engine::NoProbe>;
  using Program = engine::Program<OwnData, engine::PhaseQueue<engine::Phaseless<Task>>, Queue, Probe>;
  using Words = engine::Array<std::uint32_t>;
  const Words dependencies(context, std::span(dag.dependencies));
  const Words successor_offsets(context, std::span(dag.successor_offsets));
  const Words successors(context, std::span(dag.successors));
  const Words predecessor_offsets(context, std::span(dag.predecessor_offsets));
  const Words predecessors(context, std::span(dag.predecessors));
  const Words values(context, computes ? dag.tasks : 0);

  OwnData data{};
  data.dag = {dag.tasks,        dag.columns, predecessor_offsets.data(), predecessors.data(), successor_offsets.data(),
              successors.data()};
  data.state.dependencies = dependencies.data();
  data.state.values = values.data();

  engine::RunnerOptions options;
  const auto warps = static_cast<std::uint32_t>(settings.blocks) * 8U;
  options.rings = warps * settings.rings_percent / 100U;
  // Room for all that may be ready, in each queue where a hash may send it all to one; of a wavefront that is little.
  const std::uint64_t ready = dag.most_ready() + std::uint64_t{1};
  const bool one_may_get_all = dag.columns != 0 && !Program::template Queue<Task>::any_worker_may_claim;
  options.queue_capacity = static_cast<std::uint32_t>(ready * (one_may_get_all ? 256U : 4U));
  engine::Runner<Program> runner(context, options);
  std::vector<std::uint32_t> first;
  for (std::uint32_t task = 0; task < dag.tasks; ++task) {
    if (dag.dependencies[task] == 0) first.push_back(task);
  }
  runner.template enqueue<Task>(std::span<const std::uint32_t>(first));

  engine::RunOptions run;
  run.scheduler = engine::Scheduler::megakernel;
  run.blocks = settings.blocks;
  run.continues = settings.stay;
  run.watchdog_ms = static_cast<std::uint32_t>(settings.limit_seconds * 1e3);
  const engine::Report report = runner.run(data, run);

  RunResult result;
  result.blocks = static_cast<std::uint32_t>(settings.blocks);
  result.rings = options.rings;
  result.seconds = report.seconds;
  result.tasks = static_cast<std::uint32_t>(report.executed());
  result.counts = report.operations;
  add_bodies(dag, result.counts);
  if (report.outcome == engine::Outcome::watchdog) result.end = End::time_limit;
  const std::vector<std::uint32_t> remaining = dependencies.download();
  if (result.end != End::finished) return result;
  if (!report.finished()) {
    result.fault = report.message;
  } else if (result.tasks != dag.tasks) {
    result.fault = std::to_string(result.tasks) + " tasks were counted";
  } else if (!std::all_of(remaining.begin(), remaining.end(), [](std::uint32_t count) { return count == 0; })) {
    result.fault = "not every dependency was resolved once";
  } else if (computes && values.download() != serial_values(dag)) {
    result.fault = "values are not those of the serial walk";
  }
  return result;
}

template <template <class, class> class Queue, int Lanes>
RunResult run_own(const Context& context, const Dag& dag, const OwnSettings& settings) {
  if (settings.form == Form::count) return run_own_form<Queue, Lanes, true>(context, dag, settings);
  return run_own_form<Queue, Lanes, false>(context, dag, settings);
}

}  // namespace taskdag::progression

/// \file
/// What the asynchronous forms of all algorithms have in common: a program of the engine and its runner.
#pragma once

#include <algorithm>

#include "studies/graph/algorithm.hpp"
#include "studies/graph/tally_memory.hpp"
#include "studies/graph/worker_sizes.hpp"
#include "taskdag/engine/runner.hpp"
#include "taskdag/error.hpp"

namespace taskdag::graph {

inline engine::RunOptions run_options(const Form& form) {
  engine::RunOptions options;
  options.scheduler = form.scheduler;
  options.blocks = form.blocks;
  options.watchdog_ms = 0;
  return options;
}

/// Runs a program from its first items to its end. A run that did not finish leaves the runner empty.
template <class Program>
Run run_program(engine::Runner<Program>& runner, const typename Program::Data& data, const Form& form) {
  Run run;
  run.report = runner.run(data, run_options(form));
  if (!run.report.finished()) {
    runner.clear();
    throw Error(describe(form) + ": " + run.report.message);
  }
  run.seconds = run.report.seconds;
  return run;
}

#define TASKDAG_GRAPH_CASE(lanes, items) \
  if (form.worker == (lanes) && form.fetch == (items)) return make.template operator()<lanes, items>();

/// Calls make.operator()<lanes, fetch>() for the form's pair. @throws InvalidInput for one that is not compiled
template <class Made, class Make>
Made with_worker_size(const Form& form, const Make& make) {
  if (form.idle) throw InvalidInput("no program with an idle hook is compiled for " + describe(form));
  TASKDAG_GRAPH_WORKERS(TASKDAG_GRAPH_CASE)
  throw InvalidInput("no program is compiled for " + describe(form));
}

/// The same for forms as written.
template <class Made, class Make>
Made with_written_size(const Form& form, const Make& make) {
  if (form.idle) throw InvalidInput("what is written has no idle hook");
  if (form.rounds != 1) throw InvalidInput("what is written has one round");
  TASKDAG_GRAPH_WRITTEN_WORKERS(TASKDAG_GRAPH_CASE)
  throw InvalidInput("no program is compiled for " + describe(form));
}
#undef TASKDAG_GRAPH_CASE

}  // namespace taskdag::graph

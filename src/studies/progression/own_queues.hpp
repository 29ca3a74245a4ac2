/// \file
/// The same graphs by programs of the task engine, on its own queues: what the paper's are set beside.
#pragma once

#include "studies/progression/dag.hpp"
#include "studies/progression/settings.hpp"
#include "taskdag/context.hpp"

namespace taskdag::progression {

struct OwnSettings {
  Form form = Form::time;
  int blocks = 28;                  ///< of 8 warps; 0: all that are resident
  std::uint32_t rings_percent = 0;  ///< of a multi-queue: queues for each hundred warps; 0: the engine's choice
  bool stay = false;                ///< a child stays with the worker that made it ready
  double limit_seconds = 0;         ///< without a finished task, after which a run ends; looking costs time. 0: none
};

/// One lane of each warp works, as in the study of examples/engine/6_wavefront. Operations of the tasks' bodies are
/// included.
/// @throws InvalidInput, DeviceError as the engine does
RunResult run_own_shared(const Context& context, const Dag& dag, const OwnSettings& settings);
RunResult run_own_multi_a(const Context& context, const Dag& dag, const OwnSettings& settings);
RunResult run_own_multi_b(const Context& context, const Dag& dag, const OwnSettings& settings);
RunResult run_own_stealing(const Context& context, const Dag& dag, const OwnSettings& settings);
/// A thread is a worker, as by the engine's defaults, which are stealing, children that stay and all blocks, too.
RunResult run_own_threads(const Context& context, const Dag& dag, const OwnSettings& settings);

}  // namespace taskdag::progression

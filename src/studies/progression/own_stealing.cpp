/// \file
/// The study's program on the engine's own queues: a ring for each team, with stealing.
#include "studies/progression/own_run.hpp"

namespace taskdag::progression {

RunResult run_own_stealing(const Context& context, const Dag& dag, const OwnSettings& settings) {
  return run_own<engine::StealingQueue, 32>(context, dag, settings);
}

}  // namespace taskdag::progression

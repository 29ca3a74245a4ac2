/// \file
/// The study's program on the engine's own queues: workers of one thread.
#include "studies/progression/own_run.hpp"

namespace taskdag::progression {

RunResult run_own_threads(const Context& context, const Dag& dag, const OwnSettings& settings) {
  return run_own<engine::StealingQueue, 1>(context, dag, settings);
}

}  // namespace taskdag::progression

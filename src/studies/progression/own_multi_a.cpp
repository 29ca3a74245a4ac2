/// \file
/// The study's program on the engine's own queues: many rings, the first hash.
#include "studies/progression/own_run.hpp"

namespace taskdag::progression {

RunResult run_own_multi_a(const Context& context, const Dag& dag, const OwnSettings& settings) {
  return run_own<engine::MultiQueueA, 32>(context, dag, settings);
}

}  // namespace taskdag::progression

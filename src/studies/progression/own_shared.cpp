/// \file
/// The study's program on the engine's own queues: one ring with counters.
#include "studies/progression/own_run.hpp"
#include "taskdag/engine/queue/shared_counter_queue.hpp"

namespace taskdag::progression {

RunResult run_own_shared(const Context& context, const Dag& dag, const OwnSettings& settings) {
  return run_own<engine::SharedCounterQueue, 32>(context, dag, settings);
}

}  // namespace taskdag::progression

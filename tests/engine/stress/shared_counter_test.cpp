#include "dag_stress.hpp"
#include "taskdag/engine/queue/shared_counter_queue.hpp"
#include "workers.hpp"

namespace taskdag::test {
namespace {

using engine::SharedCounterQueue;

TASKDAG_QUEUE_SUITE(SharedCounter, SharedCounterQueue, Thread, SubWarp, Warp4, Block)

}  // namespace
}  // namespace taskdag::test

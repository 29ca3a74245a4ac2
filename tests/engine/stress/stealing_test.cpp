#include "dag_stress.hpp"
#include "taskdag/engine/queue/multi_queue.hpp"
#include "workers.hpp"

namespace taskdag::test {
namespace {

using engine::StealingQueue;

TASKDAG_QUEUE_SUITE(Stealing, StealingQueue, SubWarpBatch, Warp, Block, Thread4)

}  // namespace
}  // namespace taskdag::test

#include "dag_stress.hpp"
#include "taskdag/engine/queue/multi_queue.hpp"
#include "workers.hpp"

namespace taskdag::test {
namespace {

using engine::MultiQueueA;

TASKDAG_QUEUE_SUITE(MultiA, MultiQueueA, Warp, BlockBatch, Thread4, SubWarp)

}  // namespace
}  // namespace taskdag::test

#include "dag_stress.hpp"
#include "taskdag/engine/queue/multi_queue.hpp"
#include "workers.hpp"

namespace taskdag::test {
namespace {

using engine::MultiQueueB;

TASKDAG_QUEUE_SUITE(MultiB, MultiQueueB, Block, ThreadBatch, SubWarp, Warp)

}  // namespace
}  // namespace taskdag::test

#include "dag_stress.hpp"
#include "taskdag/engine/queue/locked_queue.hpp"
#include "workers.hpp"

namespace taskdag::test {
namespace {

using engine::LockedQueue;

TASKDAG_QUEUE_SUITE(Locked, LockedQueue, Thread4, SubWarp, Warp, BlockBatch)

}  // namespace
}  // namespace taskdag::test

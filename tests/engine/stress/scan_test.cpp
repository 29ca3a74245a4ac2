#include "dag_stress.hpp"
#include "taskdag/engine/queue/scan_queue.hpp"
#include "workers.hpp"

namespace taskdag::test {
namespace {

using engine::ScanQueue;

TASKDAG_QUEUE_SUITE(Scanning, ScanQueue, SubWarp, Warp4, Block, Thread)

}  // namespace
}  // namespace taskdag::test

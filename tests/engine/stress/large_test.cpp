#include "dag_stress.hpp"
#include "taskdag/engine/queue/multi_queue.hpp"
#include "workers.hpp"

namespace taskdag::test {
namespace {

using engine::SharedCounterQueue;
using engine::StealingQueue;

constexpr int kMillion = 1000000 / (kReduction * kReduction);

TASKDAG_ENGINE_SUITE(MillionTasks, one_place_per_backend());

TEST_P(MillionTasks, CountersInTheDataWithWideItemsAndGrowingQueues) {
  run_one_graph<Counted<Thread4, SharedCounterQueue, WideItem>>(context(), random_dag(kMillion, 3, kMillion / 8, 5),
                                                                {.queue_capacity = 16, .storage_capacity = 16});
}

TEST_P(MillionTasks, IndividualDependenciesAndStealing) {
  run_one_graph<Individual<Thread, StealingQueue>>(context(), random_dag(kMillion, 3, kMillion / 8, 6), {});
}

TEST_P(MillionTasks, PhasesWithSubWarps) {
  run_one_graph<Phased<SubWarp, SharedCounterQueue>>(context(), random_dag(kMillion, 3, kMillion / 8, 7), {});
}

}  // namespace
}  // namespace taskdag::test

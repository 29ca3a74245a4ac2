/// \file
/// Runs DAG programs in all the ways that a run can be told to go, and checks each run.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "dag_memory.hpp"
#include "places.hpp"
#include "taskdag/engine/queue/scan_queue.hpp"

namespace taskdag::test {

inline constexpr engine::Scheduler kSchedulers[] = {engine::Scheduler::timesliced, engine::Scheduler::megakernel,
                                                    engine::Scheduler::device_controller};

/// Less where a sanitizer slows everything down, and where an item waits for one certain thread of the host, which may
/// be asleep.
template <class AQueue>
int pace() {
  return kReduction * (AQueue::any_worker_may_claim ? 1 : 6);
}

/// Scanning has a mark for each task and no other capacity.
template <template <class, class> class Queue>
inline constexpr bool any_capacity = true;
template <>
inline constexpr bool any_capacity<engine::ScanQueue> = false;

inline std::string words(const engine::RunnerOptions& sizes, const engine::RunOptions& options) {
  const char* const policies[] = {"grow", "wait", "report"};
  return std::string(engine::to_string(options.scheduler)) + ", policy " + policies[static_cast<int>(options.on_full)] +
         ", queues of " + std::to_string(sizes.queue_capacity) + ", storages of " +
         std::to_string(sizes.storage_capacity) + ", blocks " + std::to_string(options.blocks) + ", slices of " +
         std::to_string(options.slice_items) + ", continues " + (options.continues ? "yes" : "no");
}

/// Runs the DAG once and checks everything. Where the policy gives up, it is asked again some times, and then told to
/// grow: no task may be lost by that. @returns the last report
template <class Kind>
engine::Report run_once(engine::Runner<typename Kind::Program>& runner, DagMemory& memory, const Dag& dag,
                        engine::RunOptions options) {
  constexpr int kPatience = 5;
  options.watchdog_ms = 20000;
  memory.reset();
  Kind::enqueue(runner, dag);
  std::uint64_t executed = 0;
  engine::Report report;
  for (int refused = 0;; ++refused) {
    if (refused == kPatience) options.on_full = engine::FullPolicy::grow;
    report = runner.run(memory.data(), options);
    executed += report.executed();
    if (report.outcome != engine::Outcome::queue_full) break;
    if (options.on_full == engine::FullPolicy::grow) break;
  }
  EXPECT_TRUE(report.finished()) << describe(report);
  EXPECT_EQ(executed, Kind::tasks(dag)) << describe(report);
  for (const engine::TypeReport& type : report.types) {
    EXPECT_EQ(type.queued, 0U) << describe(report);
    EXPECT_EQ(type.waiting, 0U) << describe(report);
  }
  EXPECT_EQ(memory.wrong(), "");
  return report;
}

/// Every scheduler and policy with the smallest queues and storages, many small graphs.
template <class Kind, bool AnyCapacity>
void run_with_tiny_queues(const Context& context, int repetitions) {
  const std::vector<Dag> dags = {random_dag(1, 0, 1, 1), random_dag(30, 2, 6, 2), random_dag(60, 3, 30, 3),
                                 random_dag(50, 5, 50, 4), random_dag(40, 1, 1, 5)};
  std::vector<std::unique_ptr<DagMemory>> memories;
  for (const Dag& dag : dags) memories.push_back(std::make_unique<DagMemory>(context, dag));
  int run = 0;
  for (const engine::Scheduler scheduler : kSchedulers) {
    for (const std::uint32_t capacity : {1U, 2U, 3U, 60U}) {
      for (const auto policy : {engine::FullPolicy::grow, engine::FullPolicy::wait, engine::FullPolicy::report}) {
        for (int repetition = 0; repetition < repetitions; ++repetition, ++run) {
          const std::size_t i = static_cast<std::size_t>(run) % dags.size();
          const engine::RunnerOptions sizes{.queue_capacity = AnyCapacity ? capacity : 64U,
                                            .storage_capacity = capacity,
                                            // Where items belong to teams, there is a team for each ring.
                                            .rings = static_cast<std::uint32_t>(run % 3)};
          engine::RunOptions options;
          options.scheduler = scheduler;
          options.on_full = policy;
          options.blocks = run % 3;
          options.slice_items = run % 4 == 0 ? 1U : 0U;
          options.continues = run % 7 < 4;
          SCOPED_TRACE(words(sizes, options) + ", graph " + std::to_string(i));
          engine::Runner<typename Kind::Program> runner(context, sizes);
          run_once<Kind>(runner, *memories[i], dags[i], options);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

/// One runner, many runs: what a run leaves behind must not disturb the next.
template <class Kind>
void run_again_and_again(const Context& context, int repetitions) {
  const Dag dag = random_dag(64, 3, 16, 17);
  DagMemory memory(context, dag);
  const engine::RunnerOptions sizes{.queue_capacity = 64, .storage_capacity = 64};
  engine::Runner<typename Kind::Program> runner(context, sizes);
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    engine::RunOptions options;
    options.scheduler = kSchedulers[repetition % 3];
    options.continues = repetition % 2 == 0;
    SCOPED_TRACE(words(sizes, options) + ", run " + std::to_string(repetition));
    const engine::Report report = run_once<Kind>(runner, memory, dag, options);
    if (testing::Test::HasFailure()) return;
  }
}

/// A graph of some size with each scheduler.
template <class Kind>
void run_one_graph(const Context& context, const Dag& dag, const engine::RunnerOptions& sizes) {
  DagMemory memory(context, dag);
  for (const engine::Scheduler scheduler : kSchedulers) {
    for (const int blocks : {0, 1}) {
      if (blocks != 0 && context.backend() == Backend::host) continue;
      engine::RunOptions options;
      options.scheduler = scheduler;
      options.blocks = blocks;
      SCOPED_TRACE(words(sizes, options));
      engine::RunnerOptions own = sizes;
      own.rings = static_cast<std::uint32_t>(blocks);
      engine::Runner<typename Kind::Program> runner(context, own);
      run_once<Kind>(runner, memory, dag, options);
      if (testing::Test::HasFailure()) return;
    }
  }
}

/// `AnyCapacity`: the queue takes other capacities than the number of its tasks. `pace`: repetitions and tasks are
/// divided by it.
template <class Kind, bool AnyCapacity>
void stress(const Context& context, int pace) {
  run_with_tiny_queues<Kind, AnyCapacity>(context, std::max(1, 4 / pace));
  run_again_and_again<Kind>(context, std::max(3, 90 / pace));
  const int size = 9000 / pace;
  run_one_graph<Kind>(
      context, random_dag(size, 4, size / 10, 99),
      {.queue_capacity = static_cast<std::uint32_t>(size), .storage_capacity = static_cast<std::uint32_t>(size)});
}

}  // namespace taskdag::test

/// The four kinds of dependency with one kind of queue. The worker's shape goes round, so that the six queues' suites
/// together have each worker with each kind of dependency and with each queue (the lines of a Latin square). Phases
/// take a turn of the controller per level, so they get fewer repetitions.
#define TASKDAG_QUEUE_SUITE(Suite, Queue, W0, W1, W2, W3)                                                              \
  TASKDAG_ENGINE_SUITE(Suite, taskdag::test::all_places());                                                            \
  TEST_P(Suite, CountersInTheDataRunEveryTaskOnceAndInOrder) {                                                         \
    taskdag::test::stress<Counted<W0, Queue>, any_capacity<Queue>>(context(), pace<Queue<int, engine::NoProbe>>());    \
  }                                                                                                                    \
  TEST_P(Suite, IndividualDependenciesRunEveryTaskOnceAndInOrder) {                                                    \
    taskdag::test::stress<Individual<W1, Queue>, any_capacity<Queue>>(context(), pace<Queue<int, engine::NoProbe>>()); \
  }                                                                                                                    \
  TEST_P(Suite, GroupedDependenciesRunEveryTaskOnceAndInOrder) {                                                       \
    taskdag::test::stress<Grouped<W2, Queue>, any_capacity<Queue>>(context(), pace<Queue<int, engine::NoProbe>>());    \
  }                                                                                                                    \
  TEST_P(Suite, PhasesRunEveryTaskOnceAndInOrder) {                                                                    \
    taskdag::test::stress<Phased<W3, Queue>, any_capacity<Queue>>(context(), 3 * pace<Queue<int, engine::NoProbe>>()); \
  }

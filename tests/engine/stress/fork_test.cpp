// A forked child has no worker threads: the host's teams come in turn there.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dag_stress.hpp"
#include "taskdag/engine/queue/multi_queue.hpp"
#include "taskdag/engine/queue/shared_counter_queue.hpp"
#include "workers.hpp"

namespace taskdag::test {
namespace {

using engine::MultiQueueA;
using engine::SharedCounterQueue;
using engine::StealingQueue;

/// Runs a DAG in a forked child with a context of the parent. @returns whether all was right, with each scheduler
template <class Kind>
bool right_in_child() {
  const Context context = Context::create({.backend = Backend::host, .threads = 12});
  const Dag dag = random_dag(500, 3, 50, 3);
  DagMemory memory(context, dag);
  engine::Runner<typename Kind::Program> runner(context, {.queue_capacity = 16, .storage_capacity = 16});
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);  // a child that hangs is killed by its own alarm
    for (const engine::Scheduler scheduler : kSchedulers) {
      engine::RunOptions options;
      options.scheduler = scheduler;
      run_once<Kind>(runner, memory, dag, options);
    }
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class ForkedChild : public testing::Test {
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "ThreadSanitizer does not follow a forked child";
#endif
  }
};

TEST_F(ForkedChild, RunsProgramsWithOneQueue) { EXPECT_TRUE((right_in_child<Counted<Thread, SharedCounterQueue>>())); }
TEST_F(ForkedChild, RunsProgramsThatSteal) { EXPECT_TRUE((right_in_child<Individual<Thread, StealingQueue>>())); }
TEST_F(ForkedChild, RunsPhases) { EXPECT_TRUE((right_in_child<Phased<Thread, SharedCounterQueue>>())); }
TEST_F(ForkedChild, RunsProgramsWhoseItemsWaitForOneCertainTeam) {
  EXPECT_TRUE((right_in_child<Counted<Thread, MultiQueueA>>()));
}

}  // namespace
}  // namespace taskdag::test

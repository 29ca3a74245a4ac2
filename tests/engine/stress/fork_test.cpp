// A forked child has no worker threads: the host's teams come in turn there.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dag_stress.hpp"
#include "taskdag/engine/queue/multi_queue.hpp"
#include "taskdag/engine/queue/shared_counter_queue.hpp"
#include "taskdag/engine/threads.hpp"
#include "workers.hpp"

namespace taskdag::test {
namespace {

using engine::MultiQueueA;
using engine::SharedCounterQueue;
using engine::StealingQueue;

/// A context whose threads have begun: one that is just starting may hold a lock of the sanitizer's run-time, which a
/// child would then wait for.
Context with_threads() {
  Context context = Context::create({.backend = Backend::host, .threads = 12});
  engine::run_on_threads(
      context, [](void*, int) {}, nullptr);
  return context;
}

/// Runs a DAG in a forked child with a context of the parent. All has to be right, with each scheduler.
template <class Kind>
testing::AssertionResult right_in_child() {
  const Context context = with_threads();
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
  if (child < 0 || waitpid(child, &status, 0) != child) return testing::AssertionFailure() << "there is no child";
  if (WIFSIGNALED(status)) return testing::AssertionFailure() << "the child was ended by signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) != 0) return testing::AssertionFailure() << "something was wrong in the child";
  return testing::AssertionSuccess();
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

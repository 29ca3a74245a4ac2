// What can go wrong in a run ends it with an outcome that says so, and the runner can be used afterwards.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "places.hpp"
#include "taskdag/engine/queue/scan_queue.hpp"
#include "taskdag/engine/runner.hpp"

namespace taskdag::test {
namespace {

using engine::Array;
using engine::AtomicRef;
using engine::Dependency;
using engine::FullPolicy;
using engine::Outcome;
using engine::Phase;
using engine::Phaseless;
using engine::PhaseQueue;
using engine::relaxed;
using engine::Report;
using engine::Runner;
using engine::RunOptions;
using engine::Scheduler;

constexpr Scheduler kEvery[] = {Scheduler::timesliced, Scheduler::megakernel, Scheduler::device_controller};

RunOptions options_for(Scheduler scheduler, FullPolicy on_full = FullPolicy::grow) {
  RunOptions options;
  options.scheduler = scheduler;
  options.on_full = on_full;
  options.watchdog_ms = 10000;
  return options;
}
std::vector<int> numbers(int size) {
  std::vector<int> all(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) all[static_cast<std::size_t>(i)] = i;
  return all;
}

struct Data {
  std::uint32_t* ran;    ///< executions, by item
  std::uint32_t* order;  ///< by place: the stamps of tasks
  std::uint32_t* next_stamp;
  Dependency* dependencies;
};
struct DataMemory {
  DataMemory(const Context& context, std::size_t items)
      : ran(context, items), order(context, items), next_stamp(context, 1), dependencies(context, items) {}
  [[nodiscard]] Data data() const { return {ran.data(), order.data(), next_stamp.data(), dependencies.data()}; }
  [[nodiscard]] std::uint64_t executed() const {
    std::uint64_t sum = 0;
    for (const std::uint32_t times : ran.download()) sum += times;
    return sum;
  }
  Array<std::uint32_t> ran, order, next_stamp;
  Array<Dependency> dependencies;
};
template <class Context>
TASKDAG_TASK void count(const Context& context, int item) {
  if (context.group().rank() == 0) AtomicRef<std::uint32_t>(context.data().ran[item]).fetch_add(1U, relaxed);
}

// ---- tasks that wait, and others that do not release them ----

struct Waiter {
  using Item = int;
  static constexpr auto name = "waiter";
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& i) {
    count(context, i);
  }
};
/// Item i: creates waiter i, which waits for two, and reduces one; item -1 - i: reduces one of waiter i.
struct Maker {
  using Item = int;
  static constexpr auto name = "maker";
  static constexpr int max_children = 1;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& i) {
    if (i >= 0) context.template enqueue_dependent<Waiter>(i, context.data().dependencies[i], 2);
    context.template reduce<Waiter>(context.data().dependencies[i >= 0 ? i : -1 - i]);
  }
};
using Waiting = engine::Program<Data, PhaseQueue<Phaseless<Maker>, Phase<Waiter>>>;

TASKDAG_ENGINE_SUITE(Failures, all_places());

TEST_P(Failures, ADeadlockIsFoundAndNamedAndOverOnceItIsResolved) {
  for (const Scheduler scheduler : kEvery) {
    SCOPED_TRACE(to_string(scheduler));
    const DataMemory memory(context(), 10);
    Runner<Waiting> runner(context());
    runner.enqueue<Maker>(numbers(10));
    Report report = runner.run(memory.data(), options_for(scheduler));
    EXPECT_EQ(report.outcome, Outcome::deadlock) << describe(report);
    EXPECT_NE(report.message.find("waiter: 0 queued, 10 waiting"), std::string::npos) << report.message;
    EXPECT_EQ(memory.executed(), 0U);
    // Nothing is lost: the missing reductions come from a second run.
    std::vector<int> reductions = numbers(10);
    for (int& i : reductions) i = -1 - i;
    runner.enqueue<Maker>(reductions);
    report = runner.run(memory.data(), options_for(scheduler));
    EXPECT_TRUE(report.finished()) << describe(report);
    EXPECT_EQ(memory.ran.download(), std::vector<std::uint32_t>(10, 1));
  }
}

TEST_P(Failures, ARunThatIsInADeadlockSaysSoAgain) {
  const DataMemory memory(context(), 1);
  Runner<Waiting> runner(context());
  runner.enqueue<Maker>(0);
  for (const Scheduler scheduler : kEvery) {
    EXPECT_EQ(runner.run(memory.data(), options_for(scheduler)).outcome, Outcome::deadlock);
  }
}

TEST_P(Failures, AClearedRunnerHasForgottenEverything) {
  const DataMemory memory(context(), 10);
  Runner<Waiting> runner(context());
  runner.enqueue<Maker>(numbers(10));
  EXPECT_EQ(runner.run(memory.data(), options_for(Scheduler::automatic)).outcome, Outcome::deadlock);
  runner.clear();
  const Report report = runner.run(memory.data(), options_for(Scheduler::automatic));
  EXPECT_TRUE(report.finished()) << describe(report);
  EXPECT_EQ(report.executed(), 0U);
}

TEST_P(Failures, NoTasksAreDoneAtOnce) {
  for (const Scheduler scheduler : kEvery) {
    const DataMemory memory(context(), 1);
    Runner<Waiting> runner(context());
    const Report report = runner.run(memory.data(), options_for(scheduler));
    EXPECT_TRUE(report.finished()) << describe(report);
    EXPECT_EQ(report.executed(), 0U);
    runner.enqueue<Maker>(std::vector<int>{});
    EXPECT_TRUE(runner.run(memory.data(), options_for(scheduler)).finished());
  }
}

// ---- failing, stuck and faithless tasks ----

/// Item 0 fails with code 33; the others only count.
struct Failing {
  using Item = int;
  static constexpr auto name = "failing";
  static constexpr int max_children = 0;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& i) {
    count(context, i);
    if (i == 0) context.fail(33);
  }
};
TEST_P(Failures, AFailedTaskEndsTheRunAndTheRestIsStillThere) {
  using Program = engine::Program<Data, PhaseQueue<Phaseless<Failing>>>;
  for (const Scheduler scheduler : kEvery) {
    SCOPED_TRACE(to_string(scheduler));
    const DataMemory memory(context(), 20000);
    Runner<Program> runner(context());
    runner.enqueue<Failing>(numbers(20000));
    Report report = runner.run(memory.data(), options_for(scheduler));
    EXPECT_EQ(report.outcome, Outcome::task_failed);
    EXPECT_EQ(report.message, "a task of type failing failed with code 33");
    EXPECT_EQ(report.executed() + report.types[0].queued, 20000U) << describe(report);
    report = runner.run(memory.data(), options_for(scheduler));
    EXPECT_TRUE(report.finished()) << describe(report);
    EXPECT_EQ(memory.ran.download(), std::vector<std::uint32_t>(20000, 1));
  }
}

/// Works for `item` milliseconds.
struct Slow {
  using Item = int;
  static constexpr auto name = "slow";
  static constexpr int max_children = 0;
  template <class Context>
  TASKDAG_TASK static void execute(Context& /*context*/, const int& milliseconds) {
    const std::uint64_t end = engine::clock_ns() + static_cast<std::uint64_t>(milliseconds) * 1000000U;
    engine::Backoff backoff;
    while (engine::clock_ns() < end) backoff.turn();
  }
};
/// Works for a millisecond, and creates the next of `item` more.
struct Chain {
  using Item = int;
  static constexpr auto name = "chain";
  static constexpr int max_children = 1;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& more) {
    Slow::execute(context, 1);
    if (more > 0 && context.group().rank() == 0) context.template enqueue<Chain>(more - 1);
  }
};
using Patience = engine::Program<Data, PhaseQueue<Phaseless<Slow, Chain>>>;

TASKDAG_ENGINE_SUITE(Watchdog, concurrent_places());

TEST_P(Watchdog, EndsARunInWhichNoTaskEnds) {
  const DataMemory memory(context(), 1);
  Runner<Patience> runner(context());
  runner.enqueue<Slow>(600);
  RunOptions options = options_for(Scheduler::megakernel);
  options.watchdog_ms = 50;
  const Report report = runner.run(memory.data(), options);
  EXPECT_EQ(report.outcome, Outcome::watchdog) << describe(report);
  EXPECT_NE(report.message.find("watchdog"), std::string::npos);
}

TEST_P(Watchdog, LeavesARunAloneInWhichTasksEndOneAfterTheOther) {
  for (const bool continues : {true, false}) {
    const DataMemory memory(context(), 1);
    Runner<Patience> runner(context());
    runner.enqueue<Chain>(1200);
    RunOptions options = options_for(Scheduler::megakernel);
    options.watchdog_ms = 1000;  // no machine stands still for so long
    options.continues = continues;
    const Report report = runner.run(memory.data(), options);
    EXPECT_TRUE(report.finished()) << describe(report);
    EXPECT_EQ(report.executed(), 1201U);
  }
}

/// Says that it creates one item, and creates many.
struct Faithless {
  using Item = int;
  static constexpr auto name = "faithless";
  static constexpr int max_children = 1;
  static constexpr bool waits = false;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& i) {
    count(context, 0);
    for (int child = 0; child < i; ++child) context.template enqueue<Faithless>(0);
  }
};
TEST_P(Failures, ABrokenPromiseIsFoundAndTheRunnerWorksAgainOnceCleared) {
  using Program = engine::Program<Data, PhaseQueue<Phaseless<Faithless>>>;
  for (const Scheduler scheduler : kEvery) {
    SCOPED_TRACE(to_string(scheduler));
    const DataMemory memory(context(), 1);
    Runner<Program> runner(context(), {.queue_capacity = 1, .storage_capacity = 1});
    // More than the margin, which has room for what all resident workers promise.
    runner.enqueue<Faithless>(context().backend() == Backend::cuda ? 4000000 : 400000);
    Report report = runner.run(memory.data(), options_for(scheduler));
    EXPECT_EQ(report.outcome, Outcome::broken_promise) << describe(report);
    EXPECT_NE(report.message.find("faithless"), std::string::npos) << report.message;
    EXPECT_NE(report.message.find("max_children"), std::string::npos) << report.message;
    EXPECT_THROW(runner.enqueue<Faithless>(0), InvalidInput);
    runner.clear();
    runner.enqueue<Faithless>(1);
    report = runner.run(memory.data(), options_for(scheduler));
    EXPECT_TRUE(report.finished()) << describe(report);
    EXPECT_EQ(report.executed(), 2U);
  }
}

// ---- a task that throws, which only the host's can ----

struct Throwing {
  using Item = int;
  static constexpr int max_children = 0;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& i) {
#if !defined(__CUDA_ARCH__)
    if (i == 7) throw std::runtime_error("task 7");
#endif
    count(context, i);
  }
};

TEST_P(Failures, AnExceptionOfATaskLeavesTheRunWhenAllThreadsHaveEnded) {
  if (context().backend() != Backend::host) GTEST_SKIP() << "tasks on a GPU cannot throw";
  using Program = engine::Program<Data, PhaseQueue<Phaseless<Throwing>>>;
  for (const Scheduler scheduler : kEvery) {
    SCOPED_TRACE(to_string(scheduler));
    const DataMemory memory(context(), 100);
    Runner<Program> runner(context());
    runner.enqueue<Throwing>(numbers(100));
    try {
      static_cast<void>(runner.run(memory.data(), options_for(scheduler)));
      FAIL() << "the exception was lost";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "task 7");
    }
    runner.clear();
    runner.enqueue<Throwing>(numbers(5));
    EXPECT_TRUE(runner.run(memory.data(), options_for(scheduler)).finished());
  }
}

// ---- queues that are too small ----

/// A binary tree of height `item`.
struct Tree {
  using Item = int;
  static constexpr auto name = "tree";
  static constexpr int max_children = 2;
  static constexpr bool waits = false;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& height) {
    if (height == 0 || context.group().rank() != 0) return;
    context.template enqueue<Tree>(height - 1);
    context.template enqueue<Tree>(height - 1);
  }
};
using Trees = engine::Program<Data, PhaseQueue<Phaseless<Tree>>>;

TEST_P(Failures, AFullQueueIsReportedAndAnotherRunGoesOn) {
  constexpr int kHeight = 16;
  for (const Scheduler scheduler : kEvery) {
    SCOPED_TRACE(to_string(scheduler));
    const DataMemory memory(context(), 1);
    Runner<Trees> runner(context(), {.queue_capacity = 2, .storage_capacity = 1});
    runner.enqueue<Tree>(std::vector<int>(8, kHeight - 3));
    Report report = runner.run(memory.data(), options_for(scheduler, FullPolicy::report));
    EXPECT_EQ(report.outcome, Outcome::queue_full) << describe(report);
    EXPECT_NE(report.message.find("the queue of tree"), std::string::npos) << report.message;
    EXPECT_EQ(report.growths, 0U);
    std::uint64_t executed = report.executed();
    // The same policy says the same, as often as it is asked: the room for what was under way is used up.
    for (int again = 0; again < 5; ++again) {
      report = runner.run(memory.data(), options_for(scheduler, FullPolicy::report));
      EXPECT_EQ(report.outcome, Outcome::queue_full) << describe(report);
      EXPECT_EQ(report.executed(), 0U);
    }
    report = runner.run(memory.data(), options_for(scheduler));
    executed += report.executed();
    EXPECT_TRUE(report.finished()) << describe(report);
    EXPECT_GT(report.growths, 0U);
    EXPECT_EQ(executed, 8U * ((1U << (kHeight - 2U)) - 1U));
  }
}

TEST_P(Failures, WaitingIsRefusedWhereOnlyTheFullTypeCouldRun) {
  const DataMemory memory(context(), 1);
  Runner<Trees> runner(context(), {.queue_capacity = 1, .storage_capacity = 1});
  runner.enqueue<Tree>(12);
  const Report report = runner.run(memory.data(), options_for(Scheduler::timesliced, FullPolicy::wait));
  EXPECT_EQ(report.outcome, Outcome::queue_full) << describe(report);
}

/// Takes what producers create; creates nothing.
struct Consumer {
  using Item = int;
  static constexpr auto name = "consumer";
  static constexpr int max_children = 0;
  static constexpr bool waits = false;
  using Creates = engine::Types<>;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& i) {
    count(context, i);
  }
};
struct Producer {
  using Item = int;
  static constexpr auto name = "producer";
  static constexpr int max_children = 4;
  static constexpr bool waits = false;
  using Creates = engine::Types<Consumer>;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& i) {
    for (int child = 0; child < 4; ++child) context.template enqueue<Consumer>(4 * i + child);
  }
};
TEST_P(Failures, ABoundedQueueBetweenProducersAndConsumersStaysBounded) {
  using Program = engine::Program<Data, PhaseQueue<Phaseless<Producer, Consumer>>>;
  constexpr int kProducers = 500;
  for (const Scheduler scheduler : kEvery) {
    for (const std::uint32_t capacity : {1U, 2U, 3U, 100U}) {
      SCOPED_TRACE(std::string(to_string(scheduler)) + ", " + std::to_string(capacity));
      const DataMemory memory(context(), 4 * kProducers);
      Runner<Program> runner(context(), {.queue_capacity = capacity, .storage_capacity = 1});
      runner.enqueue<Producer>(numbers(kProducers));
      const Report report = runner.run(memory.data(), options_for(scheduler, FullPolicy::wait));
      EXPECT_TRUE(report.finished()) << describe(report);
      EXPECT_EQ(report.growths, 0U);
      EXPECT_EQ(report.types[1].queue_capacity, capacity);
      EXPECT_EQ(memory.ran.download(), std::vector<std::uint32_t>(4 * kProducers, 1));
    }
  }
}

TEST_P(Failures, ScanningRefusesNumbersThatHaveNoMark) {
  using Program = engine::Program<Data, PhaseQueue<Phaseless<Consumer>>, engine::ScanQueue>;
  const DataMemory memory(context(), 100);
  Runner<Program> runner(context(), {.queue_capacity = 100, .storage_capacity = 1});
  EXPECT_THROW(runner.enqueue<Consumer>(100), InvalidInput);
  runner.clear();
  runner.enqueue<Consumer>(99);
  EXPECT_TRUE(runner.run(memory.data(), options_for(Scheduler::automatic)).finished());
}

TEST_P(Failures, ScanningFindsTheLastOfManyMarks) {
  using Program = engine::Program<Data, PhaseQueue<Phaseless<Consumer>>, engine::ScanQueue>;
  constexpr int kMarks = 200000;
  for (const Scheduler scheduler : kEvery) {
    SCOPED_TRACE(to_string(scheduler));
    const DataMemory memory(context(), kMarks);
    Runner<Program> runner(context(), {.queue_capacity = kMarks, .storage_capacity = 1});
    runner.enqueue<Consumer>(kMarks - 1);
    const Report report = runner.run(memory.data(), options_for(scheduler));
    EXPECT_TRUE(report.finished()) << describe(report);
    EXPECT_EQ(memory.ran.download()[kMarks - 1], 1U);
  }
}

// ---- phases ----

template <class Context>
TASKDAG_TASK void stamp(const Context& context, int place) {
  AtomicRef<std::uint32_t> next(*context.data().next_stamp);
  AtomicRef<std::uint32_t>(context.data().order[place]).store(next.fetch_add(1U, relaxed) + 1U, relaxed);
}
/// Phase p of four; item: rounds · 4 + p left to go. Creates the first task of the next phase that is not 1.
template <int P>
struct Step {
  using Item = int;
  static constexpr auto name = P == 0 ? "step 0" : P == 1 ? "step 1" : P == 2 ? "step 2" : "step 3";
  static constexpr int max_children = 1;
  static constexpr bool waits = false;
  using Next = Step<P == 0 ? 2 : (P + 1) % 4>;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& i) {
    stamp(context, i);
    if (i + 1 < 30) context.template enqueue<Next>(i + 1);
  }
};
/// Belongs to no phase; stamps the second half.
struct Anytime {
  using Item = int;
  static constexpr auto name = "anytime";
  static constexpr int max_children = 1;
  static constexpr bool waits = false;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& i) {
    stamp(context, 30 + i);
    if (i + 1 < 30) context.template enqueue<Anytime>(i + 1);
  }
};
TEST_P(Failures, PhasesGoRoundSkipEmptyOnesAndLeaveThePhaselessAlone) {
  using Program =
      engine::Program<Data,
                      PhaseQueue<Phaseless<Anytime>, Phase<Step<0>>, Phase<Step<1>>, Phase<Step<2>>, Phase<Step<3>>>>;
  for (const Scheduler scheduler : kEvery) {
    SCOPED_TRACE(to_string(scheduler));
    const DataMemory memory(context(), 60);
    Runner<Program> runner(context());
    runner.enqueue<Step<0>>(0);
    runner.enqueue<Anytime>(0);
    const Report report = runner.run(memory.data(), options_for(scheduler));
    EXPECT_TRUE(report.finished()) << describe(report);
    EXPECT_EQ(report.executed(), 60U);
    EXPECT_EQ(report.types[2].executed, 0U) << "phase 1 has no task";
    const std::vector<std::uint32_t> order = memory.order.download();
    for (std::size_t i = 1; i < 30; ++i) {
      EXPECT_LT(order[i - 1], order[i]);
      EXPECT_LT(order[29 + i], order[30 + i]);
    }
  }
}

TEST_P(Failures, OnlyPhaselessTasksNeedNoPhase) {
  using Program = engine::Program<Data, PhaseQueue<Phaseless<Anytime>, Phase<Step<0>>, Phase<Step<2>>, Phase<Step<3>>>>;
  for (const Scheduler scheduler : kEvery) {
    const DataMemory memory(context(), 60);
    Runner<Program> runner(context());
    runner.enqueue<Anytime>(0);
    const Report report = runner.run(memory.data(), options_for(scheduler));
    EXPECT_TRUE(report.finished()) << describe(report);
    EXPECT_EQ(report.executed(), 30U);
    EXPECT_EQ(report.phase, -1);
  }
}

/// All of phase 0, then all of phase 1, also where queues are so small that runs are cut into pieces.
template <int P>
struct Block {
  using Item = int;
  static constexpr auto name = P == 0 ? "first" : "second";
  static constexpr int max_children = 2;
  static constexpr bool waits = false;
  static constexpr int fetch = 2;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& i) {
    stamp(context, i);
    if (P == 0) {
      context.template enqueue<Block<1>>(200 + 2 * i);
      context.template enqueue<Block<1>>(201 + 2 * i);
    }
  }
};
TEST_P(Failures, APhaseThatWasInterruptedByAFullQueueIsEndedFirst) {
  using Program = engine::Program<Data, PhaseQueue<Phaseless<>, Phase<Block<0>>, Phase<Block<1>>>>;
  for (const Scheduler scheduler : kEvery) {
    SCOPED_TRACE(to_string(scheduler));
    const DataMemory memory(context(), 600);
    Runner<Program> runner(context(), {.queue_capacity = 2, .storage_capacity = 1});
    runner.enqueue<Block<0>>(numbers(200));
    Report report;
    int runs = 0;
    do {
      report = runner.run(memory.data(), options_for(scheduler, ++runs < 10 ? FullPolicy::report : FullPolicy::grow));
    } while (report.outcome == Outcome::queue_full && runs < 20);
    EXPECT_TRUE(report.finished()) << describe(report);
    const std::vector<std::uint32_t> order = memory.order.download();
    const std::uint32_t last = *std::max_element(order.begin(), order.begin() + 200);
    const std::uint32_t first = *std::min_element(order.begin() + 200, order.end());
    EXPECT_EQ(last, 200U);
    EXPECT_EQ(first, 201U);
  }
}

// ---- growth ----

TEST_P(Failures, GrowthKeepsWhatWaits) {
  for (const Scheduler scheduler : kEvery) {
    SCOPED_TRACE(to_string(scheduler));
    constexpr int kTasks = 3000;
    const DataMemory memory(context(), kTasks);
    Runner<Waiting> runner(context(), {.queue_capacity = 1, .storage_capacity = 1});
    std::vector<int> items = numbers(kTasks);
    for (int i = 0; i < kTasks; ++i) items.push_back(-1 - i);
    runner.enqueue<Maker>(items);
    const Report report = runner.run(memory.data(), options_for(scheduler));
    EXPECT_TRUE(report.finished()) << describe(report);
    EXPECT_EQ(memory.ran.download(), std::vector<std::uint32_t>(kTasks, 1));
  }
}

}  // namespace
}  // namespace taskdag::test

// Phases that change often: each task reads what tasks of the phase before have written, without atomics.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "places.hpp"
#include "taskdag/engine/queue/multi_queue.hpp"
#include "taskdag/engine/runner.hpp"

namespace taskdag::test {
namespace phases {

using engine::Phase;
using engine::PhaseChange;
using engine::Phaseless;

struct Rows {
  std::uint32_t* row[2];     // by parity of the round: width
  std::uint32_t* bystander;  // by bystander: what it has counted
  int width;
  int rounds;
};

/// Entry j of round r from two entries of the round before.
TASKDAG_TASK inline std::uint32_t next_value(const std::uint32_t* before, int width, int j) {
  return 3U * before[j] + before[(7 * j + 3) % width] + 1U;
}

/// Items: round · width + j.
template <int Parity, int Lanes>
struct Round {
  using Item = int;
  static constexpr auto name = Parity == 0 ? "even round" : "odd round";
  static constexpr engine::WorkerSize worker = Lanes == 1 ? engine::thread_worker : engine::block_worker(Lanes);
  static constexpr int max_children = 1;
  static constexpr bool waits = false;
  using Creates = engine::Types<Round<1 - Parity, Lanes>>;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& item) {
    if (context.group().rank() != 0) return;
    const Rows& rows = context.data();
    const int round = item / rows.width;
    const int j = item % rows.width;
    rows.row[Parity][j] = next_value(rows.row[1 - Parity], rows.width, j);
    if (round + 1 < rows.rounds) context.template enqueue<Round<1 - Parity, Lanes>>(item + rows.width);
  }
};

/// Belongs to no phase. Items: bystander · 2^16 + tasks left.
struct Bystander {
  using Item = int;
  static constexpr auto name = "bystander";
  static constexpr int max_children = 1;
  static constexpr bool waits = false;
  static constexpr bool continues = false;  // through the queue: any team takes it
  using Creates = engine::Types<Bystander>;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& item) {
    ++context.data().bystander[item >> 16];  // handed on from task to task
    if ((item & 0xFFFF) > 1) context.template enqueue<Bystander>(item - 1);
  }
};

constexpr int kThread = 1;
constexpr int kBlock = 64;

template <int Lanes>
using Rounds = engine::PhaseQueue<Phaseless<>, Phase<Round<0, Lanes>>, Phase<Round<1, Lanes>>>;
using Accompanied = engine::PhaseQueue<Phaseless<Bystander>, Phase<Round<0, kThread>>, Phase<Round<1, kThread>>>;

std::vector<std::uint32_t> reference(int width, int rounds) {
  const auto size = static_cast<std::size_t>(width);
  std::vector<std::uint32_t> row[2] = {std::vector<std::uint32_t>(size, 0), std::vector<std::uint32_t>(size, 0)};
  for (int round = 0; round < rounds; ++round) {
    for (int j = 0; j < width; ++j) {
      row[round % 2][static_cast<std::size_t>(j)] = next_value(row[1 - round % 2].data(), width, j);
    }
  }
  return row[(rounds - 1) % 2];
}

/// Runs the rounds once, and `bystanders` chains of `steps` tasks beside them. @returns the report
template <class Phases, template <class, class> class Queue, int Lanes>
engine::Report run(const Context& context, int width, int rounds, const engine::RunnerOptions& sizes,
                   const engine::RunOptions& options, int bystanders = 0, int steps = 0) {
  using Program = engine::Program<Rows, Phases, Queue>;
  const auto size = static_cast<std::size_t>(width);
  engine::Array<std::uint32_t> even(context, size);
  engine::Array<std::uint32_t> odd(context, size);
  engine::Array<std::uint32_t> counted(context, static_cast<std::size_t>(bystanders) + 1U);
  engine::Runner<Program> runner(context, sizes);
  engine::Report report;
  for (int again = 0; again < 2; ++again) {  // what a run leaves in the ledger must not disturb the next
    even.clear();
    odd.clear();
    counted.clear();
    std::vector<int> first(size);
    std::iota(first.begin(), first.end(), 0);
    runner.template enqueue<Round<0, Lanes>>(first);
    if constexpr (Phases::template contains<Bystander>) {
      for (int b = 0; b < bystanders; ++b) runner.template enqueue<Bystander>((b << 16) + steps);
    }
    report = runner.run({{even.data(), odd.data()}, counted.data(), width, rounds}, options);
    EXPECT_TRUE(report.finished()) << describe(report);
    EXPECT_EQ(report.executed(), static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(rounds) +
                                     static_cast<std::uint64_t>(bystanders) * static_cast<std::uint64_t>(steps));
    EXPECT_EQ((rounds % 2 == 1 ? even : odd).download(), reference(width, rounds));
    for (int b = 0; b < bystanders; ++b) {
      EXPECT_EQ(counted.download()[static_cast<std::size_t>(b)], static_cast<std::uint32_t>(steps));
    }
  }
  return report;
}

constexpr PhaseChange kChanges[] = {PhaseChange::automatic, PhaseChange::by_workers, PhaseChange::on_host};
const int kRounds = 400 / kReduction;

engine::RunOptions options_for(PhaseChange change, int blocks = 0) {
  engine::RunOptions options;
  options.scheduler = engine::Scheduler::megakernel;
  options.phases = change;
  options.blocks = blocks;
  options.watchdog_ms = 20000;
  return options;
}

TASKDAG_ENGINE_SUITE(ManyPhases, all_places());

TEST_P(ManyPhases, EachSeesWhatTheOneBeforeHasWritten) {
  for (const PhaseChange change : kChanges) {
    for (const int width : {1, 37, 3000 / kReduction}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(change)) + ", " + std::to_string(width) + " tasks a phase");
      run<Rounds<kThread>, engine::SharedCounterQueue, kThread>(context(), width, kRounds, {}, options_for(change));
    }
  }
}

TEST_P(ManyPhases, StealingTeamsAndBlockWorkersDoToo) {
  for (const PhaseChange change : kChanges) {
    SCOPED_TRACE(static_cast<int>(change));
    run<Rounds<kThread>, engine::StealingQueue, kThread>(context(), 500, kRounds, {}, options_for(change));
    run<Rounds<kBlock>, engine::SharedCounterQueue, kBlock>(context(), 500, kRounds, {}, options_for(change));
  }
}

TEST_P(ManyPhases, NumberOfBlocksDoesNotMatter) {
  for (const int blocks : {1, 2, 133, 20000}) {
    if (!on_cuda() && blocks > 1) continue;
    SCOPED_TRACE(blocks);
    run<Rounds<kThread>, engine::SharedCounterQueue, kThread>(context(), 300, kRounds, {},
                                                              options_for(PhaseChange::by_workers, blocks));
  }
}

TEST_P(ManyPhases, SmallQueuesCutThemIntoPieces) {
  for (const PhaseChange change : kChanges) {
    SCOPED_TRACE(static_cast<int>(change));
    run<Rounds<kThread>, engine::SharedCounterQueue, kThread>(
        context(), 64, 20, {.queue_capacity = 1, .storage_capacity = 1}, options_for(change));
  }
}

TEST_P(ManyPhases, PhaselessTasksRunBesideThem) {
  for (const PhaseChange change : kChanges) {
    SCOPED_TRACE(static_cast<int>(change));
    run<Accompanied, engine::SharedCounterQueue, kThread>(context(), 50, kRounds, {}, options_for(change), 5, 1000);
  }
}

TEST_P(ManyPhases, WorkersThatChangeThemAreStartedOnce) {
  EXPECT_EQ((run<Rounds<kThread>, engine::SharedCounterQueue, kThread>(context(), 10, 100, {},
                                                                       options_for(PhaseChange::by_workers))
                 .slices),
            1U);
  EXPECT_EQ((run<Rounds<kThread>, engine::SharedCounterQueue, kThread>(context(), 10, 100, {},
                                                                       options_for(PhaseChange::on_host))
                 .slices),
            100U);
}

struct Throwing {
  using Item = int;
  static constexpr int max_children = 0;
  static constexpr bool waits = false;
  template <class Context>
  TASKDAG_TASK static void execute(Context& /*context*/, [[maybe_unused]] const int& item) {
#if !defined(__CUDA_ARCH__)
    if (item == 7) throw std::runtime_error("task 7");
#endif
  }
};

TEST_P(ManyPhases, AnExceptionOfATaskLeavesTheRunWhenAllThreadsHaveEnded) {
  if (on_cuda()) GTEST_SKIP() << "tasks on a GPU cannot throw";
  using Program = engine::Program<
      Rows, engine::PhaseQueue<Phaseless<>, Phase<Throwing>, Phase<Round<0, kThread>>, Phase<Round<1, kThread>>>>;
  std::vector<int> items(100);
  std::iota(items.begin(), items.end(), 0);
  for (const PhaseChange change : kChanges) {
    engine::Runner<Program> runner(context());
    runner.enqueue<Throwing>(items);
    EXPECT_THROW(static_cast<void>(runner.run({}, options_for(change))), std::runtime_error);
    runner.clear();
    runner.enqueue<Throwing>(std::vector<int>(5, 0));
    EXPECT_TRUE(runner.run({}, options_for(change)).finished());
  }
}

}  // namespace phases
}  // namespace taskdag::test

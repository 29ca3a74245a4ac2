// What idle workers find runs as tasks do: in its phase, counted, exactly once; and a run still ends.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "places.hpp"
#include "taskdag/engine/queue/scan_queue.hpp"
#include "taskdag/engine/runner.hpp"

namespace taskdag::test {
namespace idle {

using engine::AtomicRef;
using engine::Phase;
using engine::Phaseless;
using engine::PhaseQueue;
using engine::relaxed;

struct Data {
  std::uint32_t* ran;      ///< by item: first those of the queue, then those to be found
  std::uint32_t* cursor;   ///< the next item to be found
  std::uint32_t* blocker;  ///< set by the last item to be found
  std::uint32_t queued;
  std::uint32_t findable;
};

TASKDAG_TASK inline std::uint32_t peek(std::uint32_t& word) { return AtomicRef<std::uint32_t>(word).load(relaxed); }

/// Item i < queued: item 0 ends when the last item that can be found has run, so somebody must find them all.
template <int Lanes>
struct Searching {
  using Item = std::uint32_t;
  static constexpr auto name = "searching";
  static constexpr engine::WorkerSize worker{Lanes};
  static constexpr int max_children = 1;
  static constexpr bool waits = false;
  static constexpr bool idles = true;
  using Creates = engine::Types<Searching>;

  /// Looks, and takes: an item that comes to nothing is lost, as the last ones may be.
  template <class Context>
  TASKDAG_TASK static bool idle(const Context& context, Item& item) {
    const Data& data = context.data();
    if (context.group().rank() != 0 || peek(*data.cursor) >= data.findable) return false;
    const std::uint32_t found = AtomicRef<std::uint32_t>(*data.cursor).fetch_add(1U, relaxed);
    item = data.queued + found;
    return found < data.findable;
  }
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& item) {
    if (context.group().rank() != 0) return;
    const Data& data = context.data();
    AtomicRef<std::uint32_t>(data.ran[item]).fetch_add(1U, relaxed);
    if (item >= data.queued) AtomicRef<std::uint32_t>(*data.blocker).fetch_add(1U, relaxed);
    // Pending until all were found and run. It is created anew, so it blocks no worker.
    if (item == 0 && peek(*data.blocker) < data.findable) context.template enqueue<Searching>(item);
  }
};

/// The phase after it: sees what the phase before has left.
template <int Lanes>
struct After {
  using Item = std::uint32_t;
  static constexpr auto name = "after";
  static constexpr int max_children = 0;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& item) {
    const Data& data = context.data();
    data.ran[item] = peek(*data.blocker) == data.findable ? 1U : 99U;
  }
};

struct Memory {
  Memory(const Context& context, std::uint32_t queued_items, std::uint32_t findable_items)
      : ran(context, std::size_t{queued_items} + findable_items + 1U),
        cursor(context, 1),
        blocker(context, 1),
        queued(queued_items),
        findable(findable_items) {}
  [[nodiscard]] Data data() const { return {ran.data(), cursor.data(), blocker.data(), queued, findable}; }
  engine::Array<std::uint32_t> ran, cursor, blocker;
  std::uint32_t queued;
  std::uint32_t findable;
};

std::vector<std::uint32_t> first_items(std::uint32_t count) {
  std::vector<std::uint32_t> items(count);
  std::iota(items.begin(), items.end(), 0U);
  return items;
}

engine::RunOptions options() {
  engine::RunOptions options;
  options.scheduler = engine::Scheduler::megakernel;
  options.watchdog_ms = 20000;
  return options;
}

// With one worker nobody is idle while a task is pending.
TASKDAG_ENGINE_SUITE(IdleWorkers, concurrent_places());

template <class Phases, template <class, class> class Queue, int Lanes>
void find_everything(const Context& context, engine::PhaseChange change, const engine::RunnerOptions& sizes) {
  constexpr std::uint32_t kQueued = 10;
  const std::uint32_t findable = 3000 / kReduction;
  using Program = engine::Program<Data, Phases, Queue>;
  constexpr bool phases = Phases::template contains<After<Lanes>>;
  engine::Runner<Program> runner(context, sizes);
  for (int again = 0; again < 2; ++again) {
    const Memory memory(context, kQueued, findable);
    runner.template enqueue<Searching<Lanes>>(first_items(kQueued));
    if constexpr (phases) runner.template enqueue<After<Lanes>>(kQueued + findable);
    engine::RunOptions run = options();
    run.phases = change;
    const engine::Report report = runner.run(memory.data(), run);
    ASSERT_TRUE(report.finished()) << describe(report);
    EXPECT_EQ(report.types[0].found, findable);
    const std::vector<std::uint32_t> ran = memory.ran.download();
    EXPECT_GE(ran[0], 1U);
    for (std::uint32_t i = 1; i < kQueued + findable + (phases ? 1U : 0U); ++i) ASSERT_EQ(ran[i], 1U) << i;
    std::uint64_t sum = 0;
    for (const std::uint32_t times : ran) sum += times;
    EXPECT_EQ(report.executed(), sum);
  }
}

template <int Lanes>
using Lone = PhaseQueue<Phaseless<Searching<Lanes>>>;
template <int Lanes>
using Phased = PhaseQueue<Phaseless<>, Phase<Searching<Lanes>>, Phase<After<Lanes>>>;

TEST_P(IdleWorkers, FindWhatTheQueueDoesNotHave) {
  find_everything<Lone<1>, engine::SharedCounterQueue, 1>(context(), engine::PhaseChange::automatic, {});
  find_everything<Lone<32>, engine::SharedCounterQueue, 32>(context(), engine::PhaseChange::automatic, {});
  find_everything<Lone<64>, engine::SharedCounterQueue, 64>(context(), engine::PhaseChange::automatic, {});
  find_everything<Lone<1>, engine::ScanQueue, 1>(context(), engine::PhaseChange::automatic, {});
}

TEST_P(IdleWorkers, KeepTheirPhaseOpen) {
  for (const engine::PhaseChange change : {engine::PhaseChange::by_workers, engine::PhaseChange::on_host}) {
    find_everything<Phased<1>, engine::SharedCounterQueue, 1>(context(), change, {});
  }
}

TEST_P(IdleWorkers, MayFindMoreThanAQueueHolds) {
  find_everything<Lone<1>, engine::SharedCounterQueue, 1>(context(), engine::PhaseChange::automatic,
                                                          {.queue_capacity = 1});
}

TASKDAG_ENGINE_SUITE(IdleHook, all_places());

TEST_P(IdleHook, IsNotCalledByDiscreteSchedulers) {
  for (const engine::Scheduler scheduler : {engine::Scheduler::timesliced, engine::Scheduler::device_controller}) {
    engine::Runner<engine::Program<Data, Lone<1>>> runner(context());
    const Memory memory(context(), 5, 0);
    runner.enqueue<Searching<1>>(first_items(5));
    engine::RunOptions run = options();
    run.scheduler = scheduler;
    const engine::Report report = runner.run(memory.data(), run);
    EXPECT_TRUE(report.finished()) << describe(report);
    EXPECT_EQ(report.executed(), 5U);
    EXPECT_EQ(report.types[0].found, 0U);
  }
}

// What an idle worker finds once nothing runs any more comes to nothing: others have seen the end, or the deadlock.
TEST(IdleLedger, FindsNothingForARunThatHasEnded) {
  using Program = engine::Program<Data, Phased<1>>;
  using engine::detail::kOneWaiting;
  engine::Ledger ledger{};
  engine::ProgramRef<Program> program;
  program.ledger = &ledger;
  engine::NoProbe probe({}, 0);
  const auto find = [&] { return engine::detail::count_found<Program, Searching<1>>(program, 3, probe); };
  EXPECT_FALSE(find());
  ledger.total = 5 * (kOneWaiting + 1U);  // a deadlock
  EXPECT_FALSE(find());
  EXPECT_EQ(ledger.total, 5 * (kOneWaiting + 1U));
  EXPECT_EQ(ledger.phase_pending[1], 0U);
  EXPECT_EQ(ledger.found[0], 0U);
  ledger.total = 5 * kOneWaiting + 6;  // one runs
  EXPECT_TRUE(find());
  EXPECT_EQ(ledger.total, 5 * kOneWaiting + 9);
  EXPECT_EQ(ledger.phase_pending[1], 3U);
  EXPECT_EQ(ledger.found[0], 3U);
}

}  // namespace idle
}  // namespace taskdag::test

// Graphs of a program's own tasks, all ways of running them: each task makes a number of those of the tasks that it
// waits for, and looks whether they have been run. The serial order is the reference.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "backends.hpp"
#include "support/effort.hpp"
#include "taskdag/graph.hpp"
#if defined(__CUDACC__)
#include <cuda_runtime_api.h>
#endif

namespace taskdag {
namespace {

using engine::GraphOptions;
using engine::GraphPlan;
using engine::GraphRunner;
using engine::GraphWay;
using engine::make_graph_plan;

constexpr GraphWay kGraphWays[] = {GraphWay::launches, GraphWay::barriers, GraphWay::waits, GraphWay::lists,
                                   GraphWay::counters};

struct UserGraph {
  std::string name;
  std::vector<Offset> offsets{0};
  std::vector<Index> before;
  std::vector<Index> serial;  ///< all tasks, each after those that it waits for

  [[nodiscard]] Index tasks() const { return static_cast<Index>(offsets.size()) - 1; }
  [[nodiscard]] CsrPattern edges() const { return {tasks(), tasks(), offsets.data(), before.data()}; }
};

/// waits_for(i): the places in `serial` of what the i-th task waits for, all smaller than i.
template <class WaitsFor>
UserGraph make_user_graph(std::string name, std::vector<Index> serial, const WaitsFor& waits_for) {
  std::vector<std::vector<Index>> rows(serial.size());
  for (std::size_t i = 0; i < serial.size(); ++i) {
    for (const Index place : waits_for(static_cast<Index>(i))) {
      rows[static_cast<std::size_t>(serial[i])].push_back(serial[static_cast<std::size_t>(place)]);
    }
  }
  UserGraph graph{std::move(name), {0}, {}, std::move(serial)};
  for (const auto& row : rows) {
    graph.before.insert(graph.before.end(), row.begin(), row.end());
    graph.offsets.push_back(static_cast<Offset>(graph.before.size()));
  }
  return graph;
}

std::vector<Index> natural(Index tasks) {
  std::vector<Index> order(static_cast<std::size_t>(tasks));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<Index> shuffled(Index tasks, unsigned seed) {
  std::vector<Index> order = natural(tasks);
  std::mt19937 random(seed);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

/// Each task waits for up to `most` tasks among the `reach` before it, some of them named twice.
UserGraph random_graph(Index tasks, unsigned most, unsigned reach, bool shuffle, unsigned seed) {
  std::mt19937 random(seed);
  return make_user_graph("random " + std::to_string(tasks) + ", reach " + std::to_string(reach),
                         shuffle ? shuffled(tasks, seed) : natural(tasks), [&](Index i) {
                           std::vector<Index> places;
                           if (i == 0) return places;
                           for (auto k = random() % (most + 1); k > 0; --k) {
                             const auto back = 1U + static_cast<unsigned>(random()) %
                                                        std::min<unsigned>(reach, static_cast<unsigned>(i));
                             places.push_back(i - static_cast<Index>(back));
                           }
                           return places;
                         });
}

std::vector<UserGraph> user_graphs() {
  const Index many = 4000 / test::kReduction;
  std::vector<UserGraph> graphs;
  const auto nothing = [](Index) { return std::vector<Index>(); };
  graphs.push_back(make_user_graph("no task", {}, nothing));
  graphs.push_back(make_user_graph("one task", {0}, nothing));
  graphs.push_back(make_user_graph("sources", natural(many), nothing));
  graphs.push_back(make_user_graph("chain", shuffled(600 / test::kReduction, 5),
                                   [](Index i) { return i == 0 ? std::vector<Index>() : std::vector<Index>{i - 1}; }));
  graphs.push_back(make_user_graph("sources and a sink", natural(many),
                                   [&](Index i) { return i + 1 == many ? natural(many - 1) : std::vector<Index>(); }));
  const Index width = 50;
  graphs.push_back(make_user_graph("grid", shuffled(width * width / test::kReduction, 7), [&](Index i) {
    std::vector<Index> places;
    if (i % width != 0) places.push_back(i - 1);
    if (i >= width) places.push_back(i - width);
    return places;
  }));
  graphs.push_back(random_graph(many, 4, 1U << 30U, true, 1));
  graphs.push_back(random_graph(many, 6, 40, false, 2));
  graphs.push_back(random_graph(many, 3, 200, true, 3));
  return graphs;
}

constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15U;

TASKDAG_TASK inline std::uint64_t number_of(std::uint64_t salt, Index task, std::uint64_t sum) {
  const std::uint64_t mixed = (salt + static_cast<std::uint64_t>(task) + sum) * kFactor;
  return mixed ^ (mixed >> 29U);
}

std::vector<std::uint64_t> serial_numbers(const UserGraph& graph, std::uint64_t salt) {
  std::vector<std::uint64_t> number(static_cast<std::size_t>(graph.tasks()));
  for (const Index task : graph.serial) {
    std::uint64_t sum = 0;
    for (Offset e = graph.offsets[static_cast<std::size_t>(task)];
         e < graph.offsets[static_cast<std::size_t>(task) + 1]; ++e) {
      sum += number[static_cast<std::size_t>(graph.before[static_cast<std::size_t>(e)])];
    }
    number[static_cast<std::size_t>(task)] = number_of(salt, task, sum);
  }
  return number;
}

template <int Lanes>
struct MakeNumber {
  static constexpr auto name = "make a number";
  static constexpr engine::WorkerSize worker{Lanes};
  const Offset* offsets;
  const Index* before;
  std::uint64_t* number;
  std::uint32_t* times;  // that each task has been run
  std::uint32_t* last;   // run of each task, from 1
  std::uint32_t* early;  // tasks that saw one which had not been run
  std::uint64_t salt;

  template <class Context>
  TASKDAG_TASK void operator()(Context& context, Index task) const {
    const auto& group = context.group();
    std::uint64_t sum = 0;
    bool missed = false;
    for (Offset e = offsets[task] + group.rank(); e < offsets[task + 1]; e += group.size()) {
      sum += number[before[e]];
      missed = missed || last[before[e]] != context.run() + 1U;
    }
    sum = group.sum(sum);
    if (missed) engine::AtomicRef<std::uint32_t>(*early).fetch_add(1U, engine::relaxed);
    if (group.rank() != 0) return;
    number[task] = number_of(salt, task, sum);
    last[task] = context.run() + 1U;
    ++times[task];
  }
};

/// A graph in the memory of a backend, with what its tasks make.
struct PlacedGraph {
  PlacedGraph(const Context& context, const UserGraph& graph)
      : offsets(context, graph.offsets),
        before(context, graph.before),
        number(context, static_cast<std::size_t>(graph.tasks())),
        times(context, static_cast<std::size_t>(graph.tasks())),
        last(context, static_cast<std::size_t>(graph.tasks())),
        early(context, 1) {}

  template <int Lanes>
  [[nodiscard]] MakeNumber<Lanes> task(std::uint64_t salt) const {
    return {offsets.data(), before.data(), number.data(), times.data(), last.data(), early.data(), salt};
  }
  /// After `runs` runs, the last one with that salt.
  void expect_done(const UserGraph& graph, std::uint64_t salt, std::uint32_t runs) const {
    EXPECT_EQ(number.download(), serial_numbers(graph, salt));
    EXPECT_EQ(times.download(), std::vector<std::uint32_t>(static_cast<std::size_t>(graph.tasks()), runs));
    EXPECT_EQ(early.download()[0], 0U);
  }

  engine::Array<Offset> offsets;
  engine::Array<Index> before;
  engine::Array<std::uint64_t> number;
  engine::Array<std::uint32_t> times;
  engine::Array<std::uint32_t> last;
  engine::Array<std::uint32_t> early;
};

std::vector<test::Where> graph_places() {
  std::vector<test::Where> places = test::everywhere();
  std::erase_if(places, [](const test::Where& where) {
    return where.backend == Backend::cuda && where.space == MemorySpace::host;
  });
  return places;
}

TASKDAG_BACKEND_SUITE(UserGraphTest, graph_places());

template <int Lanes>
void run_three_times(const Context& context, const UserGraph& graph, const GraphPlan& plan) {
  SCOPED_TRACE(std::to_string(Lanes) + " lanes");
  const PlacedGraph placed(context, graph);
  GraphRunner<MakeNumber<Lanes>> runner(context, plan);
  for (std::uint32_t run = 1; run <= 3; ++run) {
    const engine::Report report = runner.run(placed.template task<Lanes>(run * 1000U));
    ASSERT_TRUE(report.finished()) << describe(report);
    EXPECT_EQ(report.slices, plan.tasks() == 0 && context.backend() == Backend::cuda ? 0U : run);
    placed.expect_done(graph, run * 1000U, run);
  }
}

TEST_P(UserGraphTest, EachTaskRunsAfterThoseThatItWaitsFor) {
  const bool cuda = context().backend() == Backend::cuda;
  for (const UserGraph& graph : user_graphs()) {
    for (const GraphWay way : kGraphWays) {
      SCOPED_TRACE(graph.name + ", " + to_string(way));
      const GraphPlan plan = make_graph_plan(context(), graph.edges(), {.way = way});
      EXPECT_EQ(plan.way, way);
      EXPECT_EQ(plan.tasks(), graph.tasks());
      if (!cuda || way != GraphWay::counters) run_three_times<1>(context(), graph, plan);
      if (!cuda) continue;  // there a worker is a thread, whatever it is called
      if (way != GraphWay::counters) run_three_times<8>(context(), graph, plan);
      run_three_times<32>(context(), graph, plan);
      run_three_times<128>(context(), graph, plan);
    }
  }
}

TEST_P(UserGraphTest, ListsMayBeMadeForAnyNumberOfCores) {
  const UserGraph graph = random_graph(3000 / test::kReduction, 4, 300, true, 11);
  for (const int cores : {1, 2, 7, 64}) {
    SCOPED_TRACE(std::to_string(cores) + " cores");
    const GraphPlan plan = make_graph_plan(context(), graph.edges(), {GraphWay::lists, cores});
    EXPECT_EQ(plan.portions() == 1, cores == 1);
    EXPECT_LE(plan.order.level_end.size(), static_cast<std::size_t>(plan.levels));
    run_three_times<1>(context(), graph, plan);
  }
}

TEST_P(UserGraphTest, RandomGraphsInAllWays) {
  const int graphs = 60 / test::kReduction;
  for (int k = 0; k < graphs; ++k) {
    const auto seed = static_cast<unsigned>(100 + k);
    const UserGraph graph = random_graph(1 + static_cast<Index>(seed * 37U % 300U), 1U + seed % 5U,
                                         1U + seed * 13U % 90U, k % 2 == 0, seed);
    for (const GraphWay way : kGraphWays) {
      if (context().backend() == Backend::cuda && way == GraphWay::counters) continue;
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + to_string(way));
      run_three_times<1>(context(), graph, make_graph_plan(context(), graph.edges(), {way, 1 + k % 5}));
    }
  }
}

TEST_P(UserGraphTest, PlansCountLevelsAndLeaveOutWhatFollows) {
  // 0 → 1 → 2, 0 → 2, 3 alone; numbered backwards.
  const std::vector<Offset> offsets{0, 0, 2, 3, 3};
  const std::vector<Index> before{2, 3, 3};
  const CsrPattern edges{4, 4, offsets.data(), before.data()};
  const GraphPlan plan = make_graph_plan(context(), edges, {.way = GraphWay::waits});
  EXPECT_EQ(plan.levels, 3);
  EXPECT_EQ(plan.task, (std::vector<Index>{0, 3, 2, 1}));
  EXPECT_EQ(plan.wait_begin, (std::vector<std::uint32_t>{0, 0, 0, 1, 2}));
  EXPECT_EQ(plan.wait, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(plan.order.level_end, (std::vector<std::uint32_t>{2, 3, 4}));
  const GraphWay taken = make_graph_plan(context(), edges).way;
  EXPECT_EQ(taken, context().backend() == Backend::host ? GraphWay::lists : GraphWay::waits);
}

void expect_refused(const Context& context, Index rows, Index cols, const std::vector<Offset>& offsets,
                    const std::vector<Index>& before, const std::string& words) {
  try {
    static_cast<void>(make_graph_plan(context, {rows, cols, offsets.data(), before.data()}));
    ADD_FAILURE() << "not refused: " << words;
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST_P(UserGraphTest, WhatIsNoGraphWithoutCyclesIsRefused) {
  const auto refused = [&](const std::vector<Offset>& offsets, const std::vector<Index>& before,
                           const std::string& words) {
    const auto tasks = static_cast<Index>(offsets.size()) - 1;
    expect_refused(context(), tasks, tasks, offsets, before, words);
  };
  refused({0, 1}, {0}, "cycle: task 0 waits for task 0");
  refused({0, 1, 2}, {1, 0}, "cycle: task 0 waits for task 1, which waits for task 0");
  // 3 is behind the cycle, 0 before it.
  refused({0, 0, 2, 3, 4}, {0, 2, 1, 2}, "cycle: task 1 waits for task 2, which waits for task 1");
  refused({0, 1}, {1}, "task 0 of a graph waits for task 1, and there are 1 tasks");
  refused({0, 1}, {-1}, "waits for task -1");
  refused({1, 1}, {}, "begin at offset 0");
  refused({0, 1, 0}, {0}, "do not ascend at task 1");
  expect_refused(context(), 1, 2, {0, 0}, {}, "square");
  expect_refused(context(), -1, -1, {0}, {}, "square");
  std::vector<Offset> offsets(101);
  std::iota(offsets.begin(), offsets.end(), 0);
  std::vector<Index> ring(100);
  for (Index k = 0; k < 100; ++k) ring[static_cast<std::size_t>(k)] = (k + 1) % 100;
  refused(offsets, ring, "92 more until the first one");
  const UserGraph graph = random_graph(10, 2, 5, false, 1);
  EXPECT_THROW(static_cast<void>(make_graph_plan(context(), graph.edges(), {GraphWay::lists, -1})), InvalidInput);
}

TEST(UserGraph, WaysHaveNames) {
  for (const GraphWay way : kGraphWays) EXPECT_EQ(engine::graph_way_from(to_string(way)), way);
  EXPECT_EQ(engine::graph_way_from("auto"), GraphWay::automatic);
  EXPECT_THROW(static_cast<void>(engine::graph_way_from("heap")), InvalidInput);
}

struct Fails {
  std::uint32_t* runs;
  Index bad;
  template <class Context>
  TASKDAG_TASK void operator()(Context& context, Index task) const {
    if (task == bad) context.fail(41);
    ++runs[task];
  }
};

TEST_P(UserGraphTest, ATaskThatFailsIsReportedAndTheRunGoesOn) {
  const UserGraph graph = random_graph(200, 3, 20, true, 4);
  for (const GraphWay way : kGraphWays) {
    if (context().backend() == Backend::cuda && way == GraphWay::counters) continue;
    SCOPED_TRACE(to_string(way));
    const engine::Array<std::uint32_t> runs(context(), 200);
    GraphRunner<Fails> runner(context(), make_graph_plan(context(), graph.edges(), {.way = way}));
    EXPECT_TRUE(runner.run({runs.data(), -1}).finished());
    const engine::Report report = runner.run({runs.data(), 17});
    EXPECT_EQ(report.outcome, engine::Outcome::task_failed);
    EXPECT_NE(report.message.find("41"), std::string::npos) << report.message;
    EXPECT_EQ(runs.download(), std::vector<std::uint32_t>(200, 2U));
  }
}

/// On host threads one task throws.
struct Throws {
  MakeNumber<1> make;
  Index bad;
  template <class Context>
  TASKDAG_TASK void operator()(Context& context, Index task) const {
#if !defined(__CUDA_ARCH__)
    if (task == bad) throw std::runtime_error("task " + std::to_string(task));
#endif
    make(context, task);
  }
};

TEST_P(UserGraphTest, AnExceptionOfATaskComesOutOfTheRun) {
  if (context().backend() == Backend::cuda) GTEST_SKIP() << "no exceptions on a GPU";
  const Index tasks = 400;
  const UserGraph graph = random_graph(tasks, 6, 30, true, 6);
  // All that wait for it, directly or not.
  const Index bad = graph.serial[100];
  std::vector<char> behind(static_cast<std::size_t>(tasks), 0);
  behind[static_cast<std::size_t>(bad)] = 1;
  for (const Index task : graph.serial) {
    for (Offset e = graph.offsets[static_cast<std::size_t>(task)];
         e < graph.offsets[static_cast<std::size_t>(task) + 1]; ++e) {
      if (behind[static_cast<std::size_t>(graph.before[static_cast<std::size_t>(e)])] != 0) {
        behind[static_cast<std::size_t>(task)] = 1;
      }
    }
  }
  ASSERT_GT(std::count(behind.begin(), behind.end(), 1), 5);
  for (const GraphWay way : kGraphWays) {
    SCOPED_TRACE(to_string(way));
    const PlacedGraph placed(context(), graph);
    GraphRunner<Throws> runner(context(), make_graph_plan(context(), graph.edges(), {.way = way}));
    for (std::uint32_t run = 1; run <= 3; ++run) {
      const std::vector<std::uint32_t> before = placed.times.download();
      try {
        runner.enqueue_run({placed.task<1>(run), bad});
        ADD_FAILURE() << "nothing was thrown";
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(std::string(error.what()), "task " + std::to_string(bad));
      }
      const std::vector<std::uint32_t> times = placed.times.download();
      for (std::size_t t = 0; t < times.size(); ++t) {
        EXPECT_TRUE(behind[t] == 0 || times[t] == before[t]) << "task " << t;
      }
      // The next run is as if there had been none.
      runner.enqueue_run({placed.task<1>(run), -1});
      EXPECT_EQ(placed.number.download(), serial_numbers(graph, run));
      EXPECT_EQ(placed.last.download(), std::vector<std::uint32_t>(static_cast<std::size_t>(tasks), 2U * run));
      EXPECT_EQ(placed.early.download()[0], 0U);
    }
  }
}

#if defined(__CUDACC__)
void check(cudaError_t error) { ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error); }
#endif

TEST_P(UserGraphTest, RunsOnTwoStreamsKeepTheirOrder) {
  const UserGraph graph = random_graph(2000 / test::kReduction, 3, 100, true, 8);
  const std::unique_ptr<test::DeviceStream> other =
      context().backend() == Backend::cuda ? test::make_device_stream() : nullptr;
  for (const GraphWay way : kGraphWays) {
    if (other && way == GraphWay::counters) continue;
    SCOPED_TRACE(to_string(way));
    const PlacedGraph placed(context(), graph);
    GraphRunner<MakeNumber<1>> runner(context(), make_graph_plan(context(), graph.edges(), {.way = way}));
    constexpr std::uint32_t kRuns = 50;
    for (std::uint32_t run = 1; run <= kRuns; ++run) {
      runner.enqueue_run(placed.task<1>(run), other && run % 3 == 0 ? other->stream() : stream());
    }
    static_assert(kRuns % 3 != 0, "the last run is on the first stream");
    EXPECT_TRUE(runner.report(stream()).finished());
    placed.expect_done(graph, kRuns, kRuns);
  }
}

#if defined(__CUDACC__)
TEST_P(UserGraphTest, ACapturedRunMayBeReplayed) {
  if (context().backend() == Backend::host) GTEST_SKIP() << "of CUDA";
  const UserGraph graph = random_graph(2000, 3, 100, true, 9);
  auto* const on = static_cast<cudaStream_t>(stream().handle);
  for (const GraphWay way : kGraphWays) {
    SCOPED_TRACE(to_string(way));
    const PlacedGraph placed(context(), graph);
    GraphRunner<MakeNumber<32>> runner(context(), make_graph_plan(context(), graph.edges(), {.way = way}));
    runner.enqueue_run(placed.task<32>(1), stream());
    check(cudaStreamSynchronize(on));
    cudaGraph_t captured = nullptr;
    cudaGraphExec_t replayed = nullptr;
    check(cudaStreamBeginCapture(on, cudaStreamCaptureModeThreadLocal));
    runner.enqueue_run(placed.task<32>(5), stream());
    check(cudaStreamEndCapture(on, &captured));
    check(cudaGraphInstantiate(&replayed, captured, 0));
    for (int k = 0; k < 10; ++k) check(cudaGraphLaunch(replayed, on));
    EXPECT_TRUE(runner.report(stream()).finished());
    placed.expect_done(graph, 5, 11);
    runner.enqueue_run(placed.task<32>(6), stream());
    EXPECT_TRUE(runner.report(stream()).finished());
    placed.expect_done(graph, 6, 12);
    check(cudaGraphExecDestroy(replayed));
    check(cudaGraphDestroy(captured));
  }
}

TEST_P(UserGraphTest, CountersNeedWorkersOfAWarp) {
  if (context().backend() == Backend::host) GTEST_SKIP() << "of CUDA";
  const UserGraph graph = random_graph(20, 3, 10, true, 9);
  const GraphPlan plan = make_graph_plan(context(), graph.edges(), {.way = GraphWay::counters});
  EXPECT_THROW(GraphRunner<MakeNumber<1>>(context(), plan), InvalidInput);
}
#endif

}  // namespace
}  // namespace taskdag

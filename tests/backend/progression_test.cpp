// The listings of the task progression study, on host threads and on the GPU: each run checks itself against the serial
// walk, see studies/progression/progression.hpp.
#include "studies/progression/progression.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "studies/progression/own_queues.hpp"
#include "support/effort.hpp"
#include "taskdag/error.hpp"
#include "taskdag/generators.hpp"

namespace taskdag::progression {
namespace {

struct Place {
  Backend backend;
  int threads;           ///< of the host
  std::uint32_t blocks;  ///< of a GPU
};
void PrintTo(const Place& place, std::ostream* out) {
  *out << (place.backend == Backend::cuda ? "cuda" + std::to_string(place.blocks)
                                          : "host" + std::to_string(place.threads));
}
std::vector<Place> places() {
  std::vector<Place> all;
  for (const int threads : test::host_threads()) all.push_back({Backend::host, threads, 0});
  for (const std::uint32_t blocks : {1U, 7U, 220U}) all.push_back({Backend::cuda, 0, blocks});
  return all;
}

class Progression : public testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    if (GetParam().backend == Backend::cuda && probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  }
  [[nodiscard]] static Context context() {
    return Context::create({.backend = GetParam().backend, .threads = GetParam().threads});
  }
  [[nodiscard]] static bool alone() { return GetParam().threads == 1 || GetParam().blocks == 1; }

  /// Runs; a GPU with the place's blocks, and a limit that only a hang reaches.
  static RunResult run(const Dag& dag, Settings settings) {
    if (GetParam().blocks != 0) settings.blocks = GetParam().blocks;
    if (settings.limit_seconds == Settings().limit_seconds) settings.limit_seconds = 60;
    return progression::run(context(), dag, settings);
  }
  static void expect_right(const Dag& dag, const Settings& settings) {
    SCOPED_TRACE(dag.name + ", " + describe(settings) + ", " + to_string(settings.form));
    const RunResult result = run(dag, settings);
    EXPECT_EQ(result.end, End::finished);
    EXPECT_EQ(result.fault, "");
    EXPECT_EQ(result.tasks, dag.tasks);
  }
};

CsrMatrix matrix_of(Index rows, const std::vector<std::vector<Index>>& columns) {
  CsrMatrix a{rows, rows, {0}, {}, {}};
  for (const std::vector<Index>& row : columns) {
    a.col_indices.insert(a.col_indices.end(), row.begin(), row.end());
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  a.values.assign(a.col_indices.size(), 1.0);
  return a;
}

/// Task 0 before `width` tasks, which are before the last one.
Dag fan(Index width) {
  std::vector<std::vector<Index>> rows(1);
  std::vector<Index> middle;
  for (Index k = 1; k <= width; ++k) {
    rows.push_back({0, k});
    middle.push_back(k);
  }
  rows.push_back(middle);
  return make_triangle(matrix_of(width + 2, rows).pattern(), "fan");
}

std::vector<Dag> dags() {
  std::vector<Dag> all;
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> grids = {{1, 1}, {1, 9},   {9, 1},
                                                                      {2, 2}, {31, 23}, {8, 90}};
  for (const auto& [rows, columns] : grids) all.push_back(make_wavefront(rows, columns));
  all.push_back(make_triangle(matrix_of(40, std::vector<std::vector<Index>>(40)).pattern(), "no edges"));
  all.push_back(fan(100));
  all.push_back(with_fan_out(fan(100), 3, "fan, 3 successors at most"));
  all.push_back(make_triangle(make_erdos_renyi_lower(300, 0.02, 1).pattern(), "Erdos-Renyi"));
  all.push_back(make_triangle(make_narrow_band_lower(400, 0.2, 5.0, 2).pattern(), "narrow band"));
  all.push_back(make_triangle(make_rmat({.scale = 8}).pattern(), "R-MAT"));
  return all;
}

std::vector<Settings> variants() {
  std::vector<Settings> all = {{.algorithm = Algorithm::scanning}};
  for (const bool fifo : {false, true}) {
    all.push_back({.algorithm = Algorithm::single, .fifo = fifo, .backoff = fifo});
    for (const Hash hash : {Hash::a, Hash::b, Hash::mixed}) {
      for (const std::uint32_t percent : {25U, 50U, 75U, 100U}) {
        all.push_back({.hash = hash, .rings_percent = percent, .fifo = fifo, .spread = fifo});
      }
    }
  }
  return all;
}

TEST_P(Progression, EveryVariantGivesTheSerialResult) {
  for (const Dag& dag : dags()) {
    for (Settings settings : variants()) {
      for (const Form form : {Form::count, Form::time}) {
        settings.form = form;
        expect_right(dag, settings);
      }
    }
  }
}

TEST_P(Progression, ALargerGridManyTimes) {
  const Dag dag = make_wavefront(120 / test::kSmaller, 150 / test::kSmaller);
  for (Settings settings : variants()) {
    settings.form = Form::count;
    for (int repeat = 0; repeat < (test::kSanitized ? 1 : 3); ++repeat) expect_right(dag, settings);
  }
}

TEST_P(Progression, ScanningBlocksRunWhatOthersMadeReady) {
  // Long enough that threads take turns on few processors.
  const Dag dag = make_wavefront(400, 400);
  for (int repeat = 0; repeat < 3; ++repeat) {
    expect_right(dag, {.algorithm = Algorithm::scanning, .form = Form::count});
  }
}

TEST_P(Progression, QueuesWithRoomForJustWhatIsReadyDo) {
  // A chain has one ready task; so has a grid of two rows in each queue where as many queues as cells of a wave exist.
  for (Settings settings : variants()) {
    settings.capacity = 1;
    settings.form = Form::count;
    if (settings.algorithm != Algorithm::scanning) expect_right(make_wavefront(1, 200), settings);
  }
  const Settings stack{.algorithm = Algorithm::single, .form = Form::count, .capacity = 2};
  Settings ring = stack;
  ring.fifo = true;
  expect_right(make_wavefront(2, 100), stack);
  expect_right(make_wavefront(100, 2), ring);
}

TEST_P(Progression, AQueueThatIsTooSmallEndsTheRun) {
  for (Settings settings : variants()) {
    if (settings.algorithm == Algorithm::scanning) continue;
    SCOPED_TRACE(describe(settings));
    settings.capacity = 1;
    // Many more tasks than places are ready at once: at the beginning, then in the middle.
    const Dag edgeless = make_triangle(matrix_of(1000, std::vector<std::vector<Index>>(1000)).pattern(), "no edges");
    EXPECT_EQ(run(edgeless, settings).end, End::queue_full);
    if (settings.algorithm == Algorithm::single) {
      EXPECT_EQ(run(fan(1000), settings).end, End::queue_full);  // appended under one lock
    }
  }
}

TEST_P(Progression, ARunEndsAtItsLimit) {
  const Dag dag = make_wavefront(4000, 4000);
  for (const Settings& base : {Settings{.algorithm = Algorithm::scanning}, Settings{.algorithm = Algorithm::single},
                               Settings{.rings_percent = 50}}) {
    Settings settings = base;
    settings.limit_seconds = 0;
    SCOPED_TRACE(describe(settings));
    const RunResult result = run(dag, settings);
    EXPECT_EQ(result.end, End::time_limit);
    EXPECT_LT(result.tasks, dag.tasks);
    EXPECT_LT(result.seconds, 30);
  }
}

TEST_P(Progression, OneBlocksOperationsAreThoseOfTheListings) {
  if (!alone()) GTEST_SKIP() << "several blocks try in vain";
  constexpr std::uint64_t n = 50;
  const Dag chain = make_wavefront(1, n);
  const std::uint64_t links = n - 1;
  // Queues: the counter before each turn, the last included; a task is taken: lock, size, item, size, unlock; and
  // appended: lock, size, item, size, unlock.
  for (const Algorithm algorithm : {Algorithm::single, Algorithm::multi}) {
    const engine::OperationCounts counts = run(chain, {.algorithm = algorithm, .form = Form::count}).counts;
    EXPECT_EQ(counts.compare_and_swaps, 2 * n + 2 * links);
    EXPECT_EQ(counts.other_atomics, n + links);
    EXPECT_EQ(counts.loads, (n + 1) + 2 * n + links);
    EXPECT_EQ(counts.stores, n + 2 * links);
  }
  // Scanning: one pass over the row finds each task ready.
  const engine::OperationCounts counts = run(chain, {.algorithm = Algorithm::scanning, .form = Form::count}).counts;
  EXPECT_EQ(counts.compare_and_swaps, n);
  EXPECT_EQ(counts.other_atomics, n + links);
  EXPECT_EQ(counts.loads, 2 + n);
  EXPECT_EQ(counts.stores, n);
}

TEST_P(Progression, ASquareUnderOneLockAppendsBothNeighboursTogether) {
  if (!alone()) GTEST_SKIP() << "several blocks try in vain";
  // 2 x 2: the first cell makes two ready, the last of these one.
  const Dag square = make_wavefront(2, 2);
  EXPECT_EQ(run(square, {.algorithm = Algorithm::single, .form = Form::count}).counts.compare_and_swaps, 8U + 4U);
  EXPECT_EQ(run(square, {.algorithm = Algorithm::multi, .form = Form::count}).counts.compare_and_swaps, 8U + 6U);
}

TEST_P(Progression, TheEnginesQueuesGiveTheSerialResult) {
  using OwnRun = RunResult (*)(const Context&, const Dag&, const OwnSettings&);
  for (const OwnRun own : {run_own_shared, run_own_multi_a, run_own_multi_b, run_own_stealing, run_own_threads}) {
    for (const Dag& dag : dags()) {
      for (const Form form : {Form::count, Form::time}) {
        SCOPED_TRACE(dag.name + ", " + to_string(form));
        const RunResult result =
            own(context(), dag, {.form = form, .rings_percent = 50, .stay = form == Form::count, .limit_seconds = 60});
        EXPECT_EQ(result.end, End::finished);
        EXPECT_EQ(result.fault, "");
        EXPECT_EQ(result.tasks, dag.tasks);
        EXPECT_GE(result.counts.other_atomics, dag.edges());
      }
    }
  }
}

TEST_P(Progression, RingsAreAShareOfTheBlocks) {
  const Dag dag = make_wavefront(3, 3);
  const std::uint32_t blocks =
      GetParam().blocks != 0 ? GetParam().blocks : static_cast<std::uint32_t>(GetParam().threads);
  for (const std::uint32_t percent : {25U, 50U, 75U, 100U}) {
    const RunResult result = run(dag, {.rings_percent = percent});
    EXPECT_EQ(result.blocks, blocks);
    EXPECT_EQ(result.rings, std::max(1U, blocks * percent / 100U));
  }
  EXPECT_EQ(run(dag, {.algorithm = Algorithm::single}).rings, 1U);
  EXPECT_EQ(run(dag, {.algorithm = Algorithm::scanning}).rings, 0U);
}

TEST_P(Progression, WhatMakesNoSenseIsRefused) {
  const Dag dag = make_wavefront(2, 2);
  EXPECT_THROW(run(dag, {.rings_percent = 0}), InvalidInput);
  EXPECT_THROW(run(dag, {.rings_percent = 101}), InvalidInput);
  EXPECT_THROW(run(dag, {.threads = 0}), InvalidInput);
  EXPECT_THROW(run(dag, {.threads = 1025}), InvalidInput);
  EXPECT_THROW(run(dag, {.limit_seconds = -1}), InvalidInput);
  if (GetParam().backend == Backend::cuda) {  // not all could run at once
    EXPECT_THROW(progression::run(context(), dag, {.blocks = 1U << 20U}), DeviceError);
  }
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Progression, testing::ValuesIn(places()), testing::PrintToStringParamName());

TEST(ProgressionDag, AWavefrontIsThePapersDependencyMatrix) {
  const Dag dag = make_wavefront(3, 4);
  EXPECT_EQ(dag.dependencies, (std::vector<std::uint32_t>{0, 1, 1, 1, 1, 2, 2, 2, 1, 2, 2, 2}));
  EXPECT_EQ(serial_values(dag), (std::vector<std::uint32_t>{0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5}));
  EXPECT_EQ(dag.edges(), 17U);
  EXPECT_EQ(dag.most_ready(), 3U);
  EXPECT_THROW(make_wavefront(0, 4), InvalidInput);
  EXPECT_THROW(make_wavefront(1U << 16U, 1U << 14U), InvalidInput);
}

TEST(ProgressionDag, ATriangleCountsWhatIsBelowTheDiagonal) {
  const Dag dag = make_triangle(matrix_of(4, {{0, 3}, {0, 1}, {1, 2, 3}, {0, 1, 2}}).pattern(), "four");
  EXPECT_EQ(dag.dependencies, (std::vector<std::uint32_t>{0, 1, 1, 3}));
  EXPECT_EQ(serial_values(dag), (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(dag.successor_offsets, (std::vector<std::uint32_t>{0, 2, 4, 5, 5}));
  EXPECT_EQ(dag.successors, (std::vector<std::uint32_t>{1, 3, 2, 3, 3}));
  EXPECT_EQ(dag.edges(), 5U);
  EXPECT_THROW(make_triangle(CsrMatrix().pattern(), "nothing"), InvalidInput);
}

TEST(ProgressionDag, FurtherTasksHandOnWhatHasManySuccessors) {
  // 0 before 1 to 5, which are before 6: 0 hands on to two tasks, those to three and two.
  const Dag dag = with_fan_out(fan(5), 3, "fan");
  EXPECT_EQ(dag.predecessors, (std::vector<std::uint32_t>{0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(dag.dependencies, (std::vector<std::uint32_t>{0, 1, 1, 1, 1, 1, 1, 1, 5}));
  EXPECT_EQ(serial_values(dag), (std::vector<std::uint32_t>{0, 1, 1, 2, 2, 2, 2, 2, 3}));
  // Two layers where one is too wide.
  const Dag deep = with_fan_out(fan(10), 3, "fan");
  EXPECT_EQ(deep.tasks, 12U + 2U + 4U);
  EXPECT_EQ(serial_values(deep).back(), 4U);
  for (const std::uint32_t most : {2U, 3U, 5U}) {
    const Dag rmat = with_fan_out(make_triangle(make_rmat({.scale = 8}).pattern(), "R-MAT"), most, "R-MAT");
    EXPECT_LE(shape_of(rmat).most_successors, most);
  }
  const Dag same = with_fan_out(fan(5), 5, "fan");
  EXPECT_EQ(same.predecessors, fan(5).predecessors);
  EXPECT_EQ(same.successors, fan(5).successors);
}

TEST(ProgressionDag, ASuccessorWaitsForThoseBeforeItInTheList) {
  // 0 resolves 1, 2, then 3, which resolves 4; 1 is faster with it.
  const Dag dag = make_triangle(matrix_of(5, {{}, {0}, {0}, {0}, {1, 3}}).pattern(), "list");
  const Shape shape = shape_of(dag);
  EXPECT_EQ(shape.most_successors, 3U);
  EXPECT_EQ(shape.most_predecessors, 2U);
  EXPECT_EQ(shape.longest_chain, 4U);
  EXPECT_EQ(shape.edges_of_many, 0U);
  // The fan's list, then its last task.
  EXPECT_EQ(shape_of(fan(200)).edges_of_many, 200U);
  EXPECT_EQ(shape_of(fan(200)).longest_chain, 201U);
}

TEST(ProgressionSettings, HaveNames) {
  EXPECT_EQ(describe({}), "multi a 100 %");
  EXPECT_EQ(describe({.algorithm = Algorithm::single, .fifo = true, .backoff = true, .spread = true}),
            "single, fifo, backoff, spread");
  EXPECT_EQ(describe({.hash = Hash::mixed, .rings_percent = 25}), "multi mixed 25 %");
  EXPECT_STREQ(to_string(Algorithm::scanning), "scanning");
  EXPECT_STREQ(to_string(End::queue_full), "queue full");
}

}  // namespace
}  // namespace taskdag::progression

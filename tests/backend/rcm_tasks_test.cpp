// Reverse Cuthill-McKee by tasks: on every graph, in every form, the permutation of the serial function.
#include "papers/pichler/rcm/rcm_tasks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <set>

#include "backends/host/thread_pool.hpp"
#include "support/device_code.hpp"
#include "support/effort.hpp"
#include "support/matrices.hpp"
#include "taskdag/error.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag {
namespace {

using kernels::HostGraph;
using kernels::RcmByTasks;
using kernels::TaskCompression;
using kernels::TaskOrderingOptions;
using kernels::TaskOrderingTimes;

struct Edges {
  Index nodes = 0;
  std::set<std::pair<Index, Index>> pairs;
  void join(Index a, Index b) {
    pairs.emplace(a, b);
    pairs.emplace(b, a);
  }
};

/// A pattern with the diagonal and the given entries.
CsrMatrix pattern_of(const Edges& edges) {
  std::set<std::pair<Index, Index>> entries = edges.pairs;
  for (Index i = 0; i < edges.nodes; ++i) entries.emplace(i, i);
  CsrMatrix a;
  a.rows = edges.nodes;
  a.cols = edges.nodes;
  a.row_offsets.assign(static_cast<std::size_t>(edges.nodes) + 1, 0);
  for (const auto& [row, column] : entries) {
    ++a.row_offsets[static_cast<std::size_t>(row) + 1];
    a.col_indices.push_back(column);
    a.values.push_back(1.0);
  }
  std::partial_sum(a.row_offsets.begin(), a.row_offsets.end(), a.row_offsets.begin());
  return a;
}

/// New numbers for the nodes, so that no order that a generator happens to have helps.
Edges shuffled(const Edges& edges, unsigned seed) {
  std::vector<Index> number(static_cast<std::size_t>(edges.nodes));
  std::iota(number.begin(), number.end(), 0);
  std::shuffle(number.begin(), number.end(), std::mt19937(seed));
  Edges result{edges.nodes, {}};
  for (const auto& [a, b] : edges.pairs) {
    result.pairs.emplace(number[static_cast<std::size_t>(a)], number[static_cast<std::size_t>(b)]);
  }
  return result;
}

Edges grid(Index width, Index height) {
  Edges edges{width * height, {}};
  for (Index y = 0; y < height; ++y) {
    for (Index x = 0; x < width; ++x) {
      if (x + 1 < width) edges.join(y * width + x, y * width + x + 1);
      if (y + 1 < height) edges.join(y * width + x, (y + 1) * width + x);
    }
  }
  return edges;
}
Edges path(Index nodes) { return grid(nodes, 1); }
Edges star(Index leaves) {
  Edges edges{leaves + 1, {}};
  for (Index leaf = 1; leaf <= leaves; ++leaf) edges.join(0, leaf);
  return edges;
}
/// Each of `left` nodes joined to some of `right`, all leaves tied but for their parents.
Edges two_sides(Index left, Index right, unsigned seed) {
  Edges edges{left + right, {}};
  std::mt19937 random(seed);
  for (Index node = 0; node < right; ++node) {
    edges.join(static_cast<Index>(random() % static_cast<unsigned>(left)), left + node);
    edges.join(static_cast<Index>(random() % static_cast<unsigned>(left)), left + node);
  }
  return edges;
}
/// Few nodes of high degree, many of low.
Edges scale_free(Index nodes, unsigned seed) {
  Edges edges{nodes, {}};
  std::mt19937 random(seed);
  std::vector<Index> ends{0};
  for (Index node = 1; node < nodes; ++node) {
    for (int e = 0; e < 3; ++e) {
      const Index other = ends[random() % ends.size()];
      if (other == node) continue;
      edges.join(node, other);
      ends.push_back(other);
      ends.push_back(node);
    }
  }
  return edges;
}
/// Side by side.
Edges beside(const Edges& first, const Edges& second) {
  Edges edges = first;
  edges.nodes += second.nodes;
  for (const auto& [a, b] : second.pairs) edges.pairs.emplace(first.nodes + a, first.nodes + b);
  return edges;
}
Edges many(const Edges& one, int times) {
  Edges edges;
  for (int i = 0; i < times; ++i) edges = beside(edges, one);
  return edges;
}

struct Problem {
  std::string name;
  CsrMatrix a;
};
std::vector<Problem> problems() {
  Edges mixed = beside(many(grid(3, 2), 40), {7, {}});
  mixed = beside(mixed, grid(40, 17));
  mixed = beside(mixed, path(33));
  mixed = beside(mixed, many(star(32), 3));
  mixed = beside(mixed, scale_free(400, 3));
  std::vector<Problem> all;
  all.push_back({"no node", pattern_of({})});
  all.push_back({"one node", pattern_of({1, {}})});
  all.push_back({"no edge", pattern_of({700, {}})});
  all.push_back({"one edge", pattern_of(path(2))});
  all.push_back({"path", pattern_of(shuffled(path(300), 1))});
  all.push_back({"component as large as is small", pattern_of(shuffled(path(32), 1))});
  all.push_back({"component one larger", pattern_of(shuffled(path(33), 1))});
  all.push_back({"grid", pattern_of(shuffled(grid(61, 47), 2))});
  all.push_back({"star", pattern_of(shuffled(star(9000), 3))});
  all.push_back({"two sides", pattern_of(shuffled(two_sides(300, 5000, 4), 4))});
  all.push_back({"scale-free", pattern_of(shuffled(scale_free(4000, 5), 5))});
  all.push_back({"many components", pattern_of(shuffled(mixed, 6))});
  return all;
}

HostGraph graph_of(const CsrMatrix& a) {
  host::ThreadPool pool(1);
  return kernels::symmetrised_graph(a.pattern(), pool);
}

struct Where {
  Backend backend;
  int threads;
};
std::string name_of(const testing::TestParamInfo<Where>& where) {
  return where.param.backend == Backend::host ? "host" + std::to_string(where.param.threads) : "cuda";
}

class RcmTasksTest : public testing::TestWithParam<Where> {
 protected:
  void SetUp() override {
    if (GetParam().backend == Backend::cuda && probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
    context_ =
        std::make_unique<Context>(Context::create({.backend = GetParam().backend, .threads = GetParam().threads}));
  }
  [[nodiscard]] const Context& context() const { return *context_; }

 private:
  std::unique_ptr<Context> context_;
};
std::vector<Where> places() {
  std::vector<Where> all;
  for (const int threads : test::host_threads()) all.push_back({Backend::host, threads});
  all.push_back({Backend::cuda, 0});
  return all;
}
INSTANTIATE_TEST_SUITE_P(On, RcmTasksTest, testing::ValuesIn(places()), name_of);

constexpr std::uint32_t kWatchdog = 20000;

std::string describe(const TaskOrderingOptions& options) {
  return std::string(to_string(options.sort)) + (options.steps == RcmSteps::phases ? ", phases" : ", dependencies") +
         (options.compression == TaskCompression::all_nodes ? ", all nodes" : ", candidates") +
         (options.narrow_in_place ? ", narrow levels in place, " : ", ") + std::to_string(options.block_keys) +
         " keys a block, " + engine::to_string(options.run.scheduler);
}
std::vector<TaskOrderingOptions> all_forms() {
  std::vector<TaskOrderingOptions> forms;
  for (const RcmSort sort : {RcmSort::bitonic, RcmSort::cub}) {
    for (const RcmSteps steps : {RcmSteps::phases, RcmSteps::dependencies}) {
      for (const TaskCompression compression : {TaskCompression::all_nodes, TaskCompression::candidates}) {
        forms.push_back({.sort = sort, .steps = steps, .compression = compression});
      }
    }
  }
  for (const RcmSort sort : {RcmSort::bitonic, RcmSort::cub}) {
    for (const RcmSteps steps : {RcmSteps::phases, RcmSteps::dependencies}) {
      forms.push_back(
          {.sort = sort, .steps = steps, .compression = TaskCompression::candidates, .narrow_in_place = true});
    }
  }
  for (const RcmSteps steps : {RcmSteps::phases, RcmSteps::dependencies}) {
    forms.push_back({.steps = steps, .compression = TaskCompression::candidates, .block_keys = 64});
    forms.push_back({.steps = steps,
                     .compression = TaskCompression::candidates,
                     .narrow_in_place = steps == RcmSteps::dependencies,
                     .block_keys = 4096});
  }
  forms.push_back({.sort = RcmSort::cpu_gpu});
  for (TaskOrderingOptions& options : forms) options.run.watchdog_ms = kWatchdog;
  return forms;
}

/// Under a sanitizer each problem has a third of the forms, another third than the problem before.
TEST_P(RcmTasksTest, EveryFormGivesTheSerialPermutation) {
  constexpr std::size_t kStep = test::kSanitized ? 3 : 1;
  const std::vector<Problem> all = problems();
  const std::vector<TaskOrderingOptions> forms = all_forms();
  for (std::size_t p = 0; p < all.size(); ++p) {
    const Problem& problem = all[p];
    const std::vector<Index> expected = reverse_cuthill_mckee(problem.a.pattern());
    const HostGraph graph = graph_of(problem.a);
    for (std::size_t f = p % kStep; f < forms.size(); f += kStep) {
      const TaskOrderingOptions& options = forms[f];
      SCOPED_TRACE(problem.name + ": " + describe(options));
      RcmByTasks by_tasks(context(), graph.view(), options);
      ASSERT_EQ(by_tasks.order(), expected);
      if (test::kSanitized) continue;
      ASSERT_EQ(by_tasks.order(), expected) << "in a second call";
    }
  }
}

TEST_P(RcmTasksTest, EverySchedulerGivesTheSerialPermutation) {
  for (const Problem& problem : problems()) {
    const std::vector<Index> expected = reverse_cuthill_mckee(problem.a.pattern());
    const HostGraph graph = graph_of(problem.a);
    for (const engine::Scheduler scheduler :
         test::built({engine::Scheduler::timesliced, engine::Scheduler::device_controller})) {
      for (const RcmSteps steps : {RcmSteps::phases, RcmSteps::dependencies}) {
        TaskOrderingOptions options{.steps = steps};
        options.run = {.scheduler = scheduler, .watchdog_ms = kWatchdog};
        SCOPED_TRACE(problem.name + ": " + describe(options));
        ASSERT_EQ(rcm_by_tasks(context(), graph.view(), options), expected);
      }
    }
  }
}

TEST_P(RcmTasksTest, QueuesThatAreTooSmallGrow) {
  const CsrMatrix a = pattern_of(shuffled(two_sides(3000, 60000, 7), 7));
  const std::vector<Index> expected = reverse_cuthill_mckee(a.pattern());
  const HostGraph graph = graph_of(a);
  for (const RcmSteps steps : {RcmSteps::phases, RcmSteps::dependencies}) {
    TaskOrderingOptions options{.steps = steps};
    options.runner.queue_capacity = 1;
    options.runner.storage_capacity = 1;
    options.run.watchdog_ms = kWatchdog;
    SCOPED_TRACE(describe(options));
    TaskOrderingTimes times;
    EXPECT_EQ(rcm_by_tasks(context(), graph.view(), options, &times), expected);
    EXPECT_GT(times.growths, 0U);
  }
}

TEST_P(RcmTasksTest, AQueueThatMayNotGrowIsAnErrorThatSaysSo) {
  const HostGraph graph = graph_of(pattern_of(shuffled(two_sides(3000, 60000, 7), 7)));
  for (const RcmSteps steps : {RcmSteps::phases, RcmSteps::dependencies}) {
    TaskOrderingOptions options{.steps = steps};
    options.runner.queue_capacity = 1;
    options.run = {.on_full = engine::FullPolicy::report, .watchdog_ms = kWatchdog};
    SCOPED_TRACE(describe(options));
    RcmByTasks by_tasks(context(), graph.view(), options);
    for (int call = 0; call < 2; ++call) {
      try {
        static_cast<void>(by_tasks.order());
        FAIL() << "no error";
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find(engine::to_string(engine::Outcome::queue_full)), std::string::npos)
            << error.what();
      }
    }
  }
}

TEST_P(RcmTasksTest, NarrowLevelsNeedTheCandidates) {
  const HostGraph graph = graph_of(pattern_of(path(2)));
  EXPECT_THROW(RcmByTasks(context(), graph.view(), {.narrow_in_place = true}), InvalidInput);
}

TEST_P(RcmTasksTest, ABlockSortsAPowerOfTwoOfKeys) {
  const HostGraph graph = graph_of(pattern_of(path(2)));
  for (const std::uint32_t keys : {0U, 32U, 1000U, 8192U}) {
    EXPECT_THROW(RcmByTasks(context(), graph.view(), {.block_keys = keys}), InvalidInput) << keys;
  }
}

TEST_P(RcmTasksTest, WhatWasDoneIsCounted) {
  const CsrMatrix a = pattern_of(path(200));
  const HostGraph graph = graph_of(a);
  for (const TaskOrderingOptions& options : all_forms()) {
    SCOPED_TRACE(describe(options));
    TaskOrderingTimes times;
    ASSERT_EQ(rcm_by_tasks(context(), graph.view(), options, &times), reverse_cuthill_mckee(a.pattern()));
    EXPECT_EQ(times.levels, 200U);
    EXPECT_EQ(times.searches, 3U);  // the whole component, from one end, from the other
    EXPECT_GT(times.search, 0.0);
    EXPECT_GT(times.permutation, 0.0);
    EXPECT_GT(times.tasks, 0U);
  }
}

/// On larger matrices: the paper's form, the one with all of ours, and the processor's sort. On the largest, the
/// paper's.
TEST_P(RcmTasksTest, MatricesFromFilesGiveTheSerialPermutation) {
  constexpr Index kLarge = 10000;
  constexpr Index kLargest = 200000;
  const auto check = [this](const std::string& name, const CsrMatrix& a) {
    const HostGraph graph = graph_of(a);
    const std::vector<Index> expected = reverse_cuthill_mckee(a.pattern());
    std::vector<TaskOrderingOptions> forms = all_forms();
    if (a.rows > kLarge) forms = {forms.front(), forms.at(forms.size() - 2), forms.back()};  // 17 forms take minutes
    if (a.rows > kLargest && context().backend() == Backend::host) forms.resize(1);
    for (const TaskOrderingOptions& options : forms) {
      SCOPED_TRACE(name + ": " + describe(options));
      ASSERT_EQ(rcm_by_tasks(context(), graph.view(), options), expected);
    }
  };
  for (const std::string& name : test::bundled_matrices()) {
    const CsrMatrix a = test::load_bundled(name);
    if (a.rows == a.cols) check(name, a);
  }
  if (context().backend() == Backend::host && context().threads() != 2) return;  // the large ones once per backend
  if (test::matrix_dir().empty()) return;
  for (const std::string& name : test::listed_matrices()) {
    const CsrMatrix a = test::load_listed(name);
    if (a.rows == a.cols) check(name, a);
  }
}

}  // namespace
}  // namespace taskdag

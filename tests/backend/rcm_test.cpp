// Reverse Cuthill-McKee on both backends: entry by entry what the serial reference gives.
#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <set>

#include "backends.hpp"
#include "problems.hpp"
#include "support/device_code.hpp"
#include "support/matrices.hpp"

namespace taskdag {
namespace {

using Edges = std::set<std::pair<Index, Index>>;  // entries (row, column)

CsrMatrix from_edges(Index n, const Edges& edges) {
  CsrMatrix a;
  a.rows = a.cols = n;
  a.row_offsets.assign(static_cast<std::size_t>(n) + 1, 0);
  for (const auto& [row, column] : edges) {
    ++a.row_offsets[static_cast<std::size_t>(row) + 1];
    a.col_indices.push_back(column);
  }
  std::partial_sum(a.row_offsets.begin(), a.row_offsets.end(), a.row_offsets.begin());
  a.values.assign(a.col_indices.size(), 1.0);
  return a;
}

CsrMatrix both_ways(Index n, const Edges& edges) {
  Edges all = edges;
  for (const auto& [row, column] : edges) all.emplace(column, row);
  return from_edges(n, all);
}

/// Numbers in [0, bound), the same everywhere.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  Index below(Index bound) { return static_cast<Index>(engine_() % static_cast<unsigned>(bound)); }

 private:
  std::mt19937 engine_;
};

CsrMatrix shuffled(const CsrMatrix& a, unsigned seed) {
  Random random(seed);
  std::vector<Index> order(static_cast<std::size_t>(a.rows));
  std::iota(order.begin(), order.end(), 0);
  for (Index k = a.rows; k > 1; --k) {
    std::swap(order[static_cast<std::size_t>(k) - 1], order[static_cast<std::size_t>(random.below(k))]);
  }
  return test::permuted(a, order, order);
}

class RcmBackendTest : public test::BackendTest {
 protected:
  std::vector<Index> order(const CsrMatrix& a, OrderingTimes* times = nullptr) const {
    test::MatrixArrays arrays = place(a);
    return reverse_cuthill_mckee(context(), arrays.pattern(), space(), times, stream());
  }
  void expect_serial(const CsrMatrix& a) const { EXPECT_EQ(order(a), reverse_cuthill_mckee(a.pattern())); }
};
INSTANTIATE_TEST_SUITE_P(On, RcmBackendTest, testing::ValuesIn(test::everywhere()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

TEST_P(RcmBackendTest, TrickyGraphsAreOrderedAsBySerial) {
  const auto path = [](Index n) {
    Edges edges;
    for (Index i = 0; i + 1 < n; ++i) edges.emplace(i, i + 1);
    return edges;
  };
  const auto star = [](Index n, Index centre) {
    Edges edges;
    for (Index i = 0; i < n; ++i) {
      if (i != centre) edges.emplace(centre, i);
    }
    return edges;
  };
  Edges loops;
  for (Index i = 0; i < 7; i += 2) loops.emplace(i, i);
  Edges full;
  for (Index i = 0; i < 40; ++i) {
    for (Index j = 0; j < 40; ++j) full.emplace(i, j);
  }
  struct Case {
    const char* name;
    CsrMatrix a;
  };
  const std::vector<Case> cases = {
      {"no rows", from_edges(0, {})},
      {"one row", from_edges(1, {})},
      {"one row with a diagonal", from_edges(1, {{0, 0}})},
      {"no edges", from_edges(7, {})},
      {"loops alone", from_edges(7, loops)},
      {"one edge one way", from_edges(5, {{4, 1}})},
      {"path one way", from_edges(300, path(300))},
      {"path both ways", both_ways(300, path(300))},
      {"star", both_ways(5000, star(5000, 77))},
      {"star one way", from_edges(5000, star(5000, 4999))},
      {"full", from_edges(40, full)},
      {"two components interleaved", both_ways(6, {{0, 4}, {4, 2}, {1, 5}, {5, 3}})},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    expect_serial(c.a);
  }
}

TEST_P(RcmBackendTest, RandomGraphsAreOrderedAsBySerial) {
  Random random(23);
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE(round);
    const Index n = 1 + random.below(round % 5 == 0 ? 3000 : 60);
    Edges edges;
    for (Index remaining = random.below(round % 3 == 0 ? n / 2 + 1 : 3 * n); remaining > 0; --remaining) {
      const Index row = random.below(n);
      // Every seventh graph has three nodes that know very many.
      const Index column = round % 7 == 0 ? std::min(n - 1, random.below(3)) : random.below(n);
      edges.emplace(row, column);
    }
    expect_serial(round % 2 == 0 ? from_edges(n, edges) : both_ways(n, edges));
  }
}

TEST_P(RcmBackendTest, WideLevelsAreOrderedAsBySerial) {
  Random random(29);
  Edges edges;
  constexpr Index kNodes = 60000;
  for (Index k = 0; k < 3 * kNodes; ++k) edges.emplace(random.below(kNodes), random.below(kNodes));
  expect_serial(from_edges(kNodes, edges));
  expect_serial(shuffled(make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 30, .ny = 31, .nz = 32}), 1));
  expect_serial(shuffled(make_stencil({.stencil = Stencil::seven_point, .nx = 50, .ny = 50, .nz = 50}), 2));
  expect_serial(make_rmat({.scale = 13, .edges_per_vertex = 8}));
}

TEST_P(RcmBackendTest, WideAndNarrowLevelsTakeTurns) {
  // Bunches of 9000 nodes between two ends, the ends joined by paths.
  constexpr Index kBunch = 9000;
  constexpr Index kPath = 20;
  Edges edges;
  Index end = 0;
  for (int bunch = 0; bunch < 4; ++bunch) {
    const Index far = end + kBunch + 1;
    for (Index k = 1; k <= kBunch; ++k) {
      edges.emplace(end, end + k);
      edges.emplace(end + k, far);
      if (k % 3 == 0) edges.emplace(end + k, end + k - 1);
    }
    for (Index k = 0; k < kPath; ++k) edges.emplace(far + k, far + k + 1);
    end = far + kPath;
  }
  expect_serial(both_ways(end + 1, edges));
  expect_serial(shuffled(from_edges(end + 1, edges), 3));
}

TEST_P(RcmBackendTest, ManyComponentsAreOrderedAsBySerial) {
  constexpr Index kNodes = 100000;
  Edges pairs;
  for (Index k = 0; k + 1 < kNodes; k += 2) pairs.emplace(k + 1, k);
  expect_serial(from_edges(kNodes, {}));
  expect_serial(from_edges(kNodes, pairs));
  // Grids of every size from 1 × 1 to 30 × 30, and rows that couple to nothing between them.
  Edges grids;
  Index first = 0;
  for (Index side = 1; side <= 30; ++side) {
    for (Index i = 0; i < side * side; ++i) {
      if ((i + 1) % side != 0) grids.emplace(first + i, first + i + 1);
      if (i + side < side * side) grids.emplace(first + i + side, first + i);
    }
    first += side * side + 2;
  }
  expect_serial(shuffled(from_edges(first, grids), 4));
}

TEST_P(RcmBackendTest, NarrowGraphsGoToTheHostAndAreOrderedAsBySerial) {
  const CsrMatrix path = test::tridiagonal(30000, -1, 2, -1);
  OrderingTimes times;
  EXPECT_EQ(order(path, &times), reverse_cuthill_mckee(path.pattern()));
  EXPECT_EQ(times.handed_to_host, context().backend() == Backend::cuda);
  const CsrMatrix grid = make_stencil({.nx = 200, .ny = 200});
  EXPECT_EQ(order(grid, &times), reverse_cuthill_mckee(grid.pattern()));
  EXPECT_FALSE(times.handed_to_host);
}

TEST_P(RcmBackendTest, TimesAreThoseOfTheirParts) {
  const CsrMatrix grid = make_stencil({.nx = 150, .ny = 150});
  OrderingTimes times;
  order(grid, &times);
  EXPECT_GT(times.graph, 0.0);
  EXPECT_GT(times.search, 0.0);
  EXPECT_GT(times.ordering, 0.0);
  order(from_edges(0, {}), &times);
  EXPECT_EQ(times.graph + times.search + times.ordering, 0.0);
}

TEST_P(RcmBackendTest, OrderGoesToTheMemoryThatIsAskedFor) {
  const CsrMatrix a = make_stencil({.nx = 37, .ny = 21});
  const std::vector<Index> expected = reverse_cuthill_mckee(a.pattern());
  test::MatrixArrays arrays = place(a);
  for (const RcmForm form : {RcmForm::walk, RcmForm::tasks}) {
    SCOPED_TRACE(to_string(form));
    test::Array<Index> result(device(), std::vector<Index>(expected.size(), -1));
    reverse_cuthill_mckee(context(), arrays.pattern(), space(), result.data(), space(), {.form = form}, nullptr,
                          stream());
    EXPECT_EQ(result.read(), expected);
  }
}

/// What the library offers of the task engine's forms.
std::vector<OrderingOptions> forms_by_tasks() {
  std::vector<OrderingOptions> forms;
  for (const engine::Scheduler scheduler :
       test::built({engine::Scheduler::automatic, engine::Scheduler::megakernel, engine::Scheduler::device_controller,
                    engine::Scheduler::timesliced})) {
    for (const RcmSort sort : {RcmSort::bitonic, RcmSort::cub, RcmSort::cpu_gpu}) {
      for (const RcmSteps steps : {RcmSteps::phases, RcmSteps::dependencies}) {
        forms.push_back({.form = RcmForm::tasks, .sort = sort, .steps = steps, .scheduler = scheduler});
      }
    }
  }
  return forms;
}
std::string describe(const OrderingOptions& options) {
  return std::string(to_string(options.form)) + ", " + to_string(options.sort) + ", " + to_string(options.steps) +
         ", " + engine::to_string(options.scheduler);
}

TEST_P(RcmBackendTest, EveryFormByTasksOrdersAsSerial) {
  Edges both;  // narrow levels, a wide one, single nodes, and entries one way only
  for (Index i = 0; i + 1 < 700; ++i) both.emplace(i, i + 1);
  for (Index i = 0; i < 900; ++i) both.emplace(350, 700 + i);
  const CsrMatrix cases[] = {from_edges(0, {}), from_edges(7, {}), shuffled(from_edges(1650, both), 4)};
  for (const CsrMatrix& a : cases) {
    const std::vector<Index> expected = reverse_cuthill_mckee(a.pattern());
    test::MatrixArrays arrays = place(a);
    for (const OrderingOptions& options : forms_by_tasks()) {
      SCOPED_TRACE(describe(options));
      OrderingTimes times;
      ASSERT_EQ(reverse_cuthill_mckee(context(), arrays.pattern(), space(), options, &times, stream()), expected);
      if (a.rows == 0) continue;
      EXPECT_EQ(times.form, RcmForm::tasks);
      EXPECT_GT(times.graph, 0.0);
      EXPECT_GT(times.search, 0.0);
      EXPECT_GT(times.ordering, 0.0);
    }
  }
}

TEST_P(RcmBackendTest, AutoAndWalkAreTheLibrarysOwnForm) {
  const CsrMatrix a = shuffled(make_stencil({.nx = 37, .ny = 21}), 5);
  const std::vector<Index> expected = reverse_cuthill_mckee(a.pattern());
  test::MatrixArrays arrays = place(a);
  for (const RcmForm form : {RcmForm::automatic, RcmForm::walk}) {
    OrderingTimes times;
    times.form = RcmForm::tasks;
    EXPECT_EQ(reverse_cuthill_mckee(context(), arrays.pattern(), space(), {.form = form}, &times, stream()), expected);
    EXPECT_EQ(times.form, RcmForm::walk);
  }
}

TEST_P(RcmBackendTest, BundledMatricesAreOrderedAsBySerial) {
  for (const std::string& name : test::bundled_matrices()) {
    SCOPED_TRACE(name);
    expect_serial(test::load_bundled(name));
  }
}

TEST_P(RcmBackendTest, MatricesOfTheFolderAreOrderedAsBySerial) {
  TASKDAG_SKIP_WITHOUT_MATRICES();
  for (const std::string& name : test::listed_matrices()) {
    SCOPED_TRACE(name);
    const CsrMatrix a = test::load_listed(name);
    if (a.rows == a.cols) expect_serial(a);
  }
}

TEST_P(RcmBackendTest, RefusesWhatIsNotASquarePattern) {
  CsrMatrix wide = from_edges(2, {{0, 1}, {1, 0}});
  wide.cols = 3;
  EXPECT_THROW(order(wide), InvalidInput);
  const CsrMatrix a = from_edges(2, {{0, 1}, {1, 0}});
  test::MatrixArrays arrays = place(a);
  EXPECT_THROW(reverse_cuthill_mckee(context(), arrays.pattern(), space(), nullptr, MemorySpace::host), InvalidInput);
  EXPECT_THROW(reverse_cuthill_mckee(context(), CsrPattern{2, 2, nullptr, nullptr}, space()), InvalidInput);
  if (context().backend() == Backend::host) {
    EXPECT_THROW(reverse_cuthill_mckee(context(), a.pattern(), MemorySpace::device), InvalidInput);
    std::vector<Index> result(2);
    EXPECT_THROW(reverse_cuthill_mckee(context(), a.pattern(), MemorySpace::host, result.data(), MemorySpace::device),
                 InvalidInput);
  }
  if (space() == MemorySpace::host) {
    CsrMatrix repeated = a;
    repeated.row_offsets = {0, 2, 2};
    repeated.col_indices = {1, 1};
    EXPECT_THROW(order(repeated), InvalidInput);
  }
}

}  // namespace
}  // namespace taskdag

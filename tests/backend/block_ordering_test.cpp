// Multicolour and block multicolour orderings: their contract, their quality, the same result everywhere.
#include <algorithm>
#include <numeric>
#include <set>

#include "backends.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "support/device_code.hpp"

namespace taskdag {
namespace {

CsrMatrix grid(Stencil stencil, Index nx, Index ny, Index nz = 1, double wind = 0.0) {
  return make_stencil({.stencil = stencil, .nx = nx, .ny = ny, .nz = nz, .unknowns_per_node = 1, .wind = wind});
}

/// The matrix with its rows in another order, so that no stencil shows.
CsrMatrix shuffled(const CsrMatrix& a) {
  std::vector<Index> order(static_cast<std::size_t>(a.rows));
  std::iota(order.begin(), order.end(), 0);
  std::uint32_t state = 12345;
  for (std::size_t i = order.size(); i > 1; --i) {
    state = state * 1664525U + 1013904223U;
    std::swap(order[i - 1], order[(state >> 8U) % i]);
  }
  return test::permuted(a, order, order);
}

/// Entries (i, j) with j > i alone, and the diagonal.
CsrMatrix upper_part(const CsrMatrix& a) {
  CsrMatrix upper;
  upper.rows = a.rows;
  upper.cols = a.cols;
  for (Index i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (Offset e = a.row_offsets[row]; e < a.row_offsets[row + 1]; ++e) {
      const auto entry = static_cast<std::size_t>(e);
      if (a.col_indices[entry] < i) continue;
      upper.col_indices.push_back(a.col_indices[entry]);
      upper.values.push_back(a.values[entry]);
    }
    upper.row_offsets.push_back(static_cast<Offset>(upper.col_indices.size()));
  }
  return upper;
}

/// A grid, and as many rows again that couple to nothing.
CsrMatrix with_lonely_rows(CsrMatrix a) {
  const Index coupled = a.rows;
  for (Index i = coupled; i < 2 * coupled; ++i) {
    a.col_indices.push_back(i);
    a.values.push_back(1.0);
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  a.rows = a.cols = 2 * coupled;
  return a;
}

/// Biquadratic elements on a square of n × n cells, boundary points left out, numbered as programs do that have several
/// kinds of unknowns: (n − 1)² corners line by line, then the midpoints of edges, those of elements last.
CsrMatrix biquadratic_elements(Index n) {
  const Index line = 2 * n - 1;
  CsrMatrix a;
  a.rows = a.cols = line * line;
  // Points of the elements that a point is in: an even one lies inside its element, an odd one between two.
  const auto first = [&](Index x) { return std::max<Index>(x % 2 == 0 ? x - 1 : x - 2, 0); };
  const auto last = [&](Index x) { return std::min<Index>(x % 2 == 0 ? x + 1 : x + 2, line - 1); };
  for (Index y = 0; y < line; ++y) {
    for (Index x = 0; x < line; ++x) {
      for (Index v = first(y); v <= last(y); ++v) {
        for (Index u = first(x); u <= last(x); ++u) a.col_indices.push_back(v * line + u);
      }
      a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
    }
  }
  a.values.assign(a.col_indices.size(), 1.0);
  std::vector<Index> order(static_cast<std::size_t>(a.rows));
  std::iota(order.begin(), order.end(), 0);
  const auto kind = [&](Index row) { return (row % line % 2 == 1 ? 0 : 1) + (row / line % 2 == 1 ? 0 : 2); };
  std::stable_sort(order.begin(), order.end(), [&](Index i, Index j) { return kind(i) < kind(j); });
  return test::permuted(a, order, order);
}

CsrMatrix without_rows() {
  CsrMatrix a;
  return a;
}

std::vector<test::Problem> problems() {
  std::vector<test::Problem> all = test::small_problems();
  all.push_back({"five_point", grid(Stencil::five_point, 61, 47)});
  all.push_back({"seven_point", grid(Stencil::seven_point, 17, 16, 15)});
  all.push_back({"twenty_seven_point", grid(Stencil::twenty_seven_point, 12, 11, 13)});
  all.push_back({"shuffled_five_point", shuffled(grid(Stencil::five_point, 70, 60))});
  all.push_back({"shuffled_seven_point", shuffled(grid(Stencil::seven_point, 16, 17, 18))});
  all.push_back({"unsymmetric", upper_part(shuffled(grid(Stencil::seven_point, 14, 13, 12)))});
  all.push_back(
      {"three_unknowns",
       make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 7, .ny = 8, .nz = 6, .unknowns_per_node = 3})});
  all.push_back({"lonely_rows", with_lonely_rows(shuffled(grid(Stencil::five_point, 30, 30)))});
  all.push_back({"scale_free", make_rmat({.scale = 11, .edges_per_vertex = 8})});
  all.push_back({"arrow", test::arrow(3000)});
  all.push_back({"diagonal", test::tridiagonal(700, 0.0, 1.0, 0.0)});
  all.push_back({"no_rows", without_rows()});
  return all;
}

constexpr Index kSizes[] = {0, 1, 2, 7, 64, 100000};

TASKDAG_BACKEND_SUITE(BlockOrderingTest, test::everywhere());

BlockOrdering on_one_thread(const CsrMatrix& a, Index block_size) {
  const Context context = Context::create({.backend = Backend::host, .threads = 1});
  return block_multicolour(context, a.pattern(), MemorySpace::host, {block_size});
}

TEST_P(BlockOrderingTest, BlocksOfAColourAreNotCoupled) {
  for (const test::Problem& problem : problems()) {
    for (const Index size : kSizes) {
      SCOPED_TRACE(problem.name + ", blocks of " + std::to_string(size));
      test::MatrixArrays a = place(problem.a);
      const BlockOrdering found = block_multicolour(context(), a.pattern(), space(), {size}, stream());
      EXPECT_EQ(find_fault(found.blocks, problem.a.pattern(), found.order), std::nullopt);
      EXPECT_EQ(found.block_size, size > 0 ? size : default_block_size(problem.a.rows));
    }
  }
}

TEST_P(BlockOrderingTest, IsTheOneOfASingleThread) {
  for (const test::Problem& problem : problems()) {
    for (const Index size : kSizes) {
      SCOPED_TRACE(problem.name + ", blocks of " + std::to_string(size));
      test::MatrixArrays a = place(problem.a);
      const BlockOrdering expected = on_one_thread(problem.a, size);
      for (int round = 0; round < 2; ++round) {
        const BlockOrdering found = block_multicolour(context(), a.pattern(), space(), {size}, stream());
        EXPECT_EQ(found.order, expected.order);
        EXPECT_EQ(found.blocks.block_offsets, expected.blocks.block_offsets);
        EXPECT_EQ(found.blocks.colour_offsets, expected.blocks.colour_offsets);
        EXPECT_EQ(found.shape, expected.shape);
      }
    }
  }
}

TEST_P(BlockOrderingTest, RowsOfABlockKeepTheirOrder) {
  const CsrMatrix matrix = shuffled(grid(Stencil::five_point, 64, 64));
  test::MatrixArrays a = place(matrix);
  const BlockOrdering found = block_multicolour(context(), a.pattern(), space(), {64}, stream());
  for (Index b = 0; b < found.blocks.blocks(); ++b) {
    const auto block = static_cast<std::size_t>(b);
    EXPECT_TRUE(std::is_sorted(found.order.begin() + found.blocks.block_offsets[block],
                               found.order.begin() + found.blocks.block_offsets[block + 1]));
  }
}

TEST_P(BlockOrderingTest, OfPointsHasBlocksOfOneRow) {
  const CsrMatrix matrix = grid(Stencil::seven_point, 12, 13, 14);
  test::MatrixArrays a = place(matrix);
  const BlockOrdering points = multicolour(context(), a.pattern(), space(), stream());
  EXPECT_EQ(points.shape, BlockShape::points);
  EXPECT_EQ(points.blocks.blocks(), matrix.rows);
  EXPECT_LE(points.blocks.colours(), 7);
  EXPECT_EQ(find_fault(points.blocks, matrix.pattern(), points.order), std::nullopt);
}

TEST_P(BlockOrderingTest, SpeculativeColoursAreColours) {
  for (const test::Problem& problem : problems()) {
    for (const engine::Scheduler scheduler : test::built(
             {engine::Scheduler::automatic, engine::Scheduler::timesliced, engine::Scheduler::device_controller})) {
      SCOPED_TRACE(problem.name + ", " + engine::to_string(scheduler));
      test::MatrixArrays a = place(problem.a);
      const BlockOrdering found = multicolour(context(), a.pattern(), space(),
                                              {.form = ColourForm::speculative, .scheduler = scheduler}, stream());
      EXPECT_EQ(find_fault(found.blocks, problem.a.pattern(), found.order), std::nullopt);
      EXPECT_EQ(found.blocks.blocks(), problem.a.rows);
      EXPECT_EQ(found.shape, BlockShape::points);
      // Greedy: no more than one colour more than the most neighbours, about as many as the other form takes.
      const BlockOrdering hashed = multicolour(context(), a.pattern(), space(), stream());
      EXPECT_LE(found.blocks.colours(), 2 * hashed.blocks.colours() + 2);
    }
  }
}

TEST(ColourFormTest, HasNames) {
  EXPECT_STREQ(to_string(ColourForm::automatic), "auto");
  EXPECT_STREQ(to_string(ColourForm::hashed), "hashed");
  EXPECT_STREQ(to_string(ColourForm::speculative), "speculative");
}

TEST_P(BlockOrderingTest, TakesDeviceMemoryOnCudaOnlyAndNoNegativeSize) {
  test::MatrixArrays a = place(grid(Stencil::five_point, 5, 5));
  EXPECT_THROW(static_cast<void>(block_multicolour(context(), a.pattern(), space(), {-1}, stream())), InvalidInput);
  if (context().backend() == Backend::host) {
    EXPECT_THROW(static_cast<void>(block_multicolour(context(), a.pattern(), MemorySpace::device)), InvalidInput);
  }
  CsrPattern wide = a.pattern();
  wide.cols += 1;
  EXPECT_THROW(static_cast<void>(block_multicolour(context(), wide, space(), {}, stream())), InvalidInput);
}

TEST_P(BlockOrderingTest, LevelsAreTheLongestChain) {
  test::MatrixArrays chain = place(test::tridiagonal(500, -1.0, 4.0, -1.0));
  test::MatrixArrays five = place(grid(Stencil::five_point, 40, 30));
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    EXPECT_EQ(dependency_levels(context(), chain.pattern(), space(), triangle, stream()), 500);
    EXPECT_EQ(dependency_levels(context(), five.pattern(), space(), triangle, stream()), 40 + 30 - 1);
    for (const Index most : {0, 1, 2, 68, 69, 70, 1000}) {
      EXPECT_EQ(dependency_levels(context(), five.pattern(), space(), triangle, stream(), most), std::min(most, 69));
    }
  }
}

// What runs in its own order on CUDA: pencils_test.cpp.
TEST_P(BlockOrderingTest, OnlyValidPatternsAreAskedWhetherTheyRunInOrder) {
  const CsrMatrix a = grid(Stencil::twenty_seven_point, 6, 5, 4);
  if (context().backend() == Backend::host) {
    EXPECT_FALSE(runs_in_order(context(), a.pattern(), MemorySpace::host));
    EXPECT_THROW(static_cast<void>(runs_in_order(context(), a.pattern(), MemorySpace::device)), InvalidInput);
  }
  EXPECT_FALSE(runs_in_order(context(), CsrMatrix{}.pattern(), MemorySpace::host));
  CsrMatrix wide = a;
  wide.cols += 1;
  EXPECT_THROW(static_cast<void>(runs_in_order(context(), wide.pattern(), MemorySpace::host)), InvalidInput);
}

// By the schedule of blocks and by others.
TEST_P(BlockOrderingTest, FactorsSolveAlikeWithAndWithoutTheirBlocks) {
  for (const CsrMatrix& matrix :
       {grid(Stencil::seven_point, 20, 19, 18, 0.5), shuffled(grid(Stencil::five_point, 90, 80)),
        grid(Stencil::five_point, 76, 70, 1, 0.5), test::mirrored(make_erdos_renyi_lower(2000, 0.003, 7), 0.5)}) {
    for (const Index size : {0, 1, 16, 256}) {  // 256 on 76 × 70: lines of 16 rows, and of 12
      SCOPED_TRACE(std::to_string(matrix.rows) + " rows in blocks of " + std::to_string(size));
      const BlockOrdering ordering = on_one_thread(matrix, size);
      FactorOptions options;
      Factorization plain = factorization(matrix, options, ordering.order, ordering.order);
      options.blocks = std::make_shared<const RowBlocks>(ordering.blocks);
      Factorization automatic = factorization(matrix, options, ordering.order, ordering.order);
      options.schedule = SolveSchedule::blocks;
      Factorization blocks = factorization(matrix, options, ordering.order, ordering.order);
      EXPECT_EQ(blocks.info().lower_schedule, SolveSchedule::blocks);
      EXPECT_EQ(blocks.info().upper_schedule, SolveSchedule::blocks);
      const std::vector<double> b = test::right_hand_side(matrix.rows);
      for (Factorization* f : {&plain, &automatic, &blocks}) EXPECT_TRUE(factor(*f, matrix.values).ok());
      for (const Apply part : {Apply::full, Apply::transposed}) {
        const std::vector<double> expected = apply(plain, part, b);
        EXPECT_LT(test::difference(apply(blocks, part, b), expected), 1e-12);
        EXPECT_LT(test::difference(apply(automatic, part, b), expected), 1e-12);
      }
      EXPECT_EQ(blocks.outcome(), SolveOutcome::success);
    }
  }
}

TEST_P(BlockOrderingTest, StaysOnTheDeviceWhereItIsAskedTo) {
  for (const test::Problem& problem : problems()) {
    for (const Index size : kSizes) {
      SCOPED_TRACE(problem.name + ", blocks of " + std::to_string(size));
      test::MatrixArrays a = place(problem.a);
      const BlockOrdering expected = on_one_thread(problem.a, size);
      BlockOrdering found = block_multicolour(context(), a.pattern(), space(), {size, true}, stream());
      EXPECT_EQ(found.blocks.block_offsets, expected.blocks.block_offsets);
      EXPECT_EQ(found.blocks.colour_offsets, expected.blocks.colour_offsets);
      EXPECT_EQ(found.shape, expected.shape);
      if (GetParam().backend == Backend::host || problem.a.rows == 0) {
        EXPECT_FALSE(found.device_order);
        EXPECT_EQ(found.order, expected.order);
        continue;
      }
      ASSERT_TRUE(found.device_order);
      EXPECT_TRUE(found.order.empty());
      EXPECT_EQ(found.device_order->rows(), problem.a.rows);
      EXPECT_EQ(found.device_order->device(), context().device());
      EXPECT_EQ(found.device_order->to_host(), expected.order);
    }
  }
}

TEST_P(BlockOrderingTest, FactorsInAnOrderOnTheDeviceAreThoseInItsCopy) {
  const CsrMatrix matrix = grid(Stencil::seven_point, 20, 19, 18);
  test::MatrixArrays a = place(matrix);
  const std::vector<double> b = test::right_hand_side(matrix.rows);
  for (const Index one_block_rows : {0, 10000}) {
    for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
      for (const Index size : {1, 0}) {
        BlockOrdering ordering = block_multicolour(context(), a.pattern(), space(), {size, true}, stream());
        FactorOptions options;
        options.kind = kind;
        options.one_block_rows = one_block_rows;
        options.one_block_applications = one_block_rows > 0 ? 1 : 0;
        options.blocks = std::make_shared<const RowBlocks>(ordering.blocks);
        const std::vector<Index> copy = ordering.device_order ? ordering.device_order->to_host() : ordering.order;
        Factorization expected = factorization(matrix, options, copy, copy);
        options.device_order = ordering.device_order;
        const std::vector<Index> none;
        const std::vector<Index>& given = options.device_order ? none : copy;
        Factorization found = factorization(matrix, options, given, given);
        ordering.device_order.reset();
        options.device_order.reset();  // the factor has its own
        ASSERT_TRUE(factor(expected, matrix.values).ok());
        ASSERT_TRUE(factor(found, matrix.values).ok());
        EXPECT_EQ(found.info().lower_schedule, expected.info().lower_schedule);
        EXPECT_EQ(found.info().bytes, expected.info().bytes);
        for (int k = 0; k < 3; ++k) {
          for (const Apply part : {Apply::full, Apply::transposed}) {
            EXPECT_TRUE(test::same_bits(apply(found, part, b), apply(expected, part, b)));
          }
        }
        EXPECT_TRUE(test::same_bits(found.copy_factor().values, expected.copy_factor().values));
      }
    }
  }
}

TEST_P(BlockOrderingTest, AnOrderOnTheDeviceThatDoesNotFitIsRefused) {
  if (GetParam().backend == Backend::host) GTEST_SKIP() << "has no device";
  const CsrMatrix matrix = grid(Stencil::five_point, 10, 10);
  const CsrMatrix other = grid(Stencil::five_point, 9, 10);
  test::MatrixArrays a = place(matrix);
  const BlockOrdering ordering = block_multicolour(context(), a.pattern(), space(), {16, true}, stream());
  FactorOptions options;
  options.device_order = ordering.device_order;
  EXPECT_NO_THROW(static_cast<void>(factorization(matrix, options)));
  EXPECT_THROW(static_cast<void>(factorization(other, options)), InvalidInput);
  const std::vector<Index> copy = ordering.device_order->to_host();
  EXPECT_THROW(static_cast<void>(factorization(matrix, options, copy, copy)), InvalidInput);
  const Context host = Context::create({.backend = Backend::host, .threads = 1});
  EXPECT_THROW(static_cast<void>(Factorization(host, matrix.pattern(), MemorySpace::host, options)), InvalidInput);
  options.block_size = 2;
  EXPECT_THROW(static_cast<void>(factorization(matrix, options)), InvalidInput);
}

TEST_P(BlockOrderingTest, TheScheduleOfBlocksNeedsBlocksThatFit) {
  const CsrMatrix matrix = grid(Stencil::five_point, 10, 10);
  FactorOptions options;
  options.schedule = SolveSchedule::blocks;
  EXPECT_THROW(static_cast<void>(factorization(matrix, options)), InvalidInput);
  EXPECT_THROW(static_cast<void>(triangular(matrix, {.schedule = SolveSchedule::blocks})), InvalidInput);
  const BlockOrdering ordering = on_one_thread(matrix, 16);
  options.blocks = std::make_shared<const RowBlocks>(ordering.blocks);
  EXPECT_NO_THROW(static_cast<void>(factorization(matrix, options, ordering.order, ordering.order)));
  options.levels = 1;
  EXPECT_THROW(static_cast<void>(factorization(matrix, options, ordering.order, ordering.order)), InvalidInput);
  options.levels = 0;
  RowBlocks short_ones = ordering.blocks;
  short_ones.block_offsets.back() -= 1;
  options.blocks = std::make_shared<const RowBlocks>(short_ones);
  EXPECT_THROW(static_cast<void>(factorization(matrix, options, ordering.order, ordering.order)), InvalidInput);
}

TEST(BlockOrdering, AGridIsKnownByItsStencil) {
  const auto points = [](const CsrMatrix& a) { return grid_stencil(a.pattern()); };
  EXPECT_EQ(points(make_stencil({.stencil = Stencil::five_point, .nx = 30, .ny = 20, .nz = 1})), 5);
  EXPECT_EQ(points(make_stencil({.stencil = Stencil::seven_point, .nx = 12, .ny = 11, .nz = 10})), 7);
  const StencilSpec cube{.stencil = Stencil::twenty_seven_point, .nx = 12, .ny = 11, .nz = 10};
  EXPECT_EQ(points(make_stencil(cube)), 27);
  StencilSpec coupled = cube;
  coupled.unknowns_per_node = 3;
  EXPECT_EQ(points(make_stencil(coupled)), 0);
  EXPECT_EQ(points(make_rmat({.scale = 10})), 0);
  EXPECT_EQ(points(CsrMatrix{}), 0);
}

// Of small matrices all rows are looked at.
TEST(BlockOrdering, RowsThatAreLookedAtForAStencilAreChecked) {
  const CsrMatrix grid = make_stencil({.stencil = Stencil::five_point, .nx = 10, .ny = 10, .nz = 1});
  const auto refused = [](const CsrMatrix& a) {
    EXPECT_THROW(static_cast<void>(grid_stencil(a.pattern())), InvalidInput);
  };
  CsrMatrix changed = grid;
  changed.cols = 101;
  refused(changed);
  for (const Index column : {-1, 100, 33}) {
    changed = grid;
    changed.col_indices[static_cast<std::size_t>(grid.row_offsets[44]) + 1] = column;
    refused(changed);
  }
  changed = grid;
  changed.row_offsets[45] = changed.row_offsets[44] - 1;
  refused(changed);
  changed = grid;
  changed.row_offsets[45] = grid.entries() + 1;
  refused(changed);
  CsrPattern nothing = grid.pattern();
  nothing.row_offsets = nullptr;
  EXPECT_THROW(static_cast<void>(grid_stencil(nothing)), InvalidInput);
  nothing = grid.pattern();
  nothing.col_indices = nullptr;
  EXPECT_THROW(static_cast<void>(grid_stencil(nothing)), InvalidInput);
}

/// Sizes that nobody asked for; those that somebody did are kept.
TEST(BlockOrdering, BoxesHaveTheSizeThatIsBestForTheirStencil) {
  const auto size = [](Stencil stencil, Index n, Index asked) {
    return on_one_thread(make_stencil({.stencil = stencil, .nx = n, .ny = n, .nz = n}), asked).block_size;
  };
  EXPECT_EQ(size(Stencil::twenty_seven_point, 41, 0), 64);
  EXPECT_EQ(size(Stencil::twenty_seven_point, 41, 200), 200);
  EXPECT_EQ(size(Stencil::seven_point, 41, 0), 256);
  EXPECT_EQ(size(Stencil::seven_point, 100, 0), 512);
}

TEST(BlockOrdering, OfAGridHasAsManyColoursAsItsStencilNeeds) {
  const auto colours = [](const CsrMatrix& a, Index size) {
    const BlockOrdering found = on_one_thread(a, size);
    EXPECT_EQ(found.shape, BlockShape::grid);
    return found.blocks.colours();
  };
  EXPECT_EQ(colours(grid(Stencil::five_point, 250, 250), 0), 2);
  EXPECT_EQ(colours(grid(Stencil::seven_point, 40, 40, 40), 64), 2);
  EXPECT_EQ(colours(grid(Stencil::twenty_seven_point, 20, 21, 22), 64), 8);
  EXPECT_EQ(colours(test::tridiagonal(5000, -1.0, 4.0, -1.0), 16), 2);
  EXPECT_EQ(colours(upper_part(grid(Stencil::five_point, 100, 90)), 64), 2);
}

TEST(BlockOrdering, GrowsBlocksOfAboutTheSizeWithFewColours) {
  struct Case {
    CsrMatrix a;
    Index colours;
  };
  for (const Case& c : {Case{shuffled(grid(Stencil::five_point, 200, 200)), 5},
                        Case{shuffled(grid(Stencil::seven_point, 34, 35, 36)), 8}}) {
    for (const Index size : {16, 64, 200}) {
      SCOPED_TRACE(size);
      const BlockOrdering found = on_one_thread(c.a, size);
      EXPECT_EQ(found.shape, BlockShape::grown);
      EXPECT_LE(found.blocks.colours(), c.colours);
      const double mean = static_cast<double>(c.a.rows) / found.blocks.blocks();
      EXPECT_GT(mean, 0.6 * size);
      EXPECT_LT(mean, 1.6 * size);
      for (Index b = 0; b < found.blocks.blocks(); ++b) {
        const auto block = static_cast<std::size_t>(b);
        EXPECT_LE(found.blocks.block_offsets[block + 1] - found.blocks.block_offsets[block], 2 * size);
      }
    }
  }
}

TEST(BlockOrdering, ANumberingWithAPeriodMisleadsNobody) {
  // Every 2,032nd of 65,025 rows is at the boundary, where balls are half as large.
  const CsrMatrix a = biquadratic_elements(128);
  for (const Index size : {0, 64, 96, 128, 250, 254, 256}) {
    SCOPED_TRACE(size);
    const BlockOrdering found = on_one_thread(a, size);
    EXPECT_EQ(found.shape, BlockShape::grown);
    EXPECT_LE(found.blocks.colours(), 6);
  }
}

TEST(BlockOrdering, GrownBlocksAreCompact) {
  // A square of 8 × 8 rows is left by half of the couplings of its 28 outer rows: 32 of 252.
  const CsrMatrix a = shuffled(grid(Stencil::five_point, 160, 160));
  const BlockOrdering found = on_one_thread(a, 64);
  const std::vector<Index> place = invert_permutation(found.order);
  const auto block_of = [&](Index row) {
    const auto& offsets = found.blocks.block_offsets;
    return std::upper_bound(offsets.begin(), offsets.end(), place[static_cast<std::size_t>(row)]) - offsets.begin();
  };
  Offset cut = 0;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_offsets[static_cast<std::size_t>(i)]; e < a.row_offsets[static_cast<std::size_t>(i) + 1];
         ++e) {
      if (block_of(a.col_indices[static_cast<std::size_t>(e)]) != block_of(i)) ++cut;
    }
  }
  EXPECT_LT(static_cast<double>(cut) / a.entries(), 1.35 * 32.0 / (5 * 64));
}

TEST(BlockOrdering, RowsWithoutNeighboursShareBlocks) {
  const BlockOrdering found = on_one_thread(test::tridiagonal(6400, 0.0, 1.0, 0.0), 64);
  EXPECT_EQ(found.blocks.blocks(), 100);
  EXPECT_EQ(found.blocks.colours(), 1);
}

TEST(BlockOrdering, FaultsAreFound) {
  const CsrMatrix a = grid(Stencil::five_point, 8, 8);
  const BlockOrdering good = on_one_thread(a, 16);
  ASSERT_EQ(find_fault(good.blocks, a.pattern(), good.order), std::nullopt);

  RowBlocks one_colour = good.blocks;
  one_colour.colour_offsets = {0, good.blocks.blocks()};
  EXPECT_NE(find_fault(one_colour, a.pattern(), good.order), std::nullopt);
  EXPECT_NE(find_fault(good.blocks, a.pattern()), std::nullopt) << "of another order";

  RowBlocks fewer = good.blocks;
  fewer.block_offsets.back() -= 1;
  EXPECT_NE(find_fault(fewer, a.pattern(), good.order), std::nullopt);
  RowBlocks descending = good.blocks;
  std::swap(descending.block_offsets[1], descending.block_offsets[2]);
  EXPECT_NE(find_fault(descending, a.pattern(), good.order), std::nullopt);
  RowBlocks late = good.blocks;
  late.block_offsets.front() = 1;
  EXPECT_NE(find_fault(late, a.pattern(), good.order), std::nullopt);
  RowBlocks short_colours = good.blocks;
  short_colours.colour_offsets.back() -= 1;
  EXPECT_NE(find_fault(short_colours, a.pattern(), good.order), std::nullopt);
}

}  // namespace
}  // namespace taskdag

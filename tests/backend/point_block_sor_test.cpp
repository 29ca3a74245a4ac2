// SOR by point blocks on both backends, against the loop over the blocks.
#include "reference/point_block_sor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "backends.hpp"
#include "measure.hpp"
#include "point_blocks.hpp"
#include "problems.hpp"
#include "reference/sor.hpp"
#include "sor_fixture.hpp"
#include "support/effort.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

using test::kNan;
using test::kSweeps;
constexpr Index kSizes[] = {2, 3, 4, 5, 6, 7, 8, 9, 12, 16};

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

class PointBlockSorTest : public test::SorBackendTest {
 protected:
  void expect_iterations(Sor& sor, const CsrMatrix& a, const SorOptions& options) const {
    const std::vector<double> b = test::right_hand_side(a.rows * options.block_size);
    std::vector<double> start(b.size());
    for (std::size_t i = 0; i < b.size(); ++i) start[i] = std::sin(0.7 * static_cast<double>(i)) + 0.1;
    const std::vector<double> zero(b.size(), 0.0);
    for (const SorSweep sweep : kSweeps) {
      for (const int iterations : {1, 2, 4}) {
        SCOPED_TRACE(std::string(to_string(sweep)) + ", " + std::to_string(iterations) + " iterations");
        const auto expected = [&](const std::vector<double>& x) {
          return kernels::point_block::reference_sor(a.view(), options, sweep, iterations, b, x);
        };
        EXPECT_LE(test::difference(from_zero(sor, sweep, iterations, b), expected(zero)), test::kForwardBound);
        EXPECT_LE(test::difference(run(sor, sweep, iterations, SorStart::given, b, start), expected(start)),
                  test::kForwardBound);
      }
    }
    EXPECT_EQ(sor.outcome(), SolveOutcome::success);
  }
};
INSTANTIATE_TEST_SUITE_P(On, PointBlockSorTest, testing::ValuesIn(test::everywhere()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

TEST_P(PointBlockSorTest, IterationsAreThoseOfTheLoopOverBlocks) {
  for (const test::Graph& graph : test::graphs()) {
    for (const Index n : kSizes) {
      const CsrMatrix a = test::with_blocks(graph.a, n, false);
      for (const double omega : {0.8, 1.0, 1.4}) {
        if (test::kSanitized && omega != (n % 2 == 0 ? 1.0 : 1.4)) continue;
        for (const double shift : {0.0, 0.25, -0.125}) {
          if (shift != 0.0 && (omega == 1.4 || n % 3 != 0 || test::kSanitized)) continue;
          SCOPED_TRACE(graph.name + ", blocks of " + std::to_string(n) + ", omega " + std::to_string(omega) +
                       ", shift " + std::to_string(shift));
          const SorOptions options{.omega = omega, .shift = shift, .block_size = n};
          Sor sor = make(a, options);
          ASSERT_TRUE(load(sor, a).ok());
          expect_iterations(sor, a, options);
          EXPECT_EQ(sor.info().block_size, n);
          EXPECT_EQ(sor.info().rows, a.rows * n);
          EXPECT_EQ(sor.info().entries, a.entries() * n * n);
          EXPECT_GT(sor.info().bytes, 0);
        }
      }
    }
  }
}

TEST_P(PointBlockSorTest, BlocksOfAnySizeAreTaken) {
  const CsrMatrix graph = make_stencil({.stencil = Stencil::five_point, .nx = 4, .ny = 3});
  for (const Index n : {10, 13, 17, 31, 32}) {
    SCOPED_TRACE("blocks of " + std::to_string(n));
    const CsrMatrix a = test::with_blocks(graph, n, false);
    Sor sor = make(a, {.block_size = n});
    ASSERT_TRUE(load(sor, a).ok());
    expect_iterations(sor, a, {.block_size = n});
  }
}

// The loop over the rows that the reference of SOR by rows is, of D⁻¹ A with a right-hand side D⁻¹ b, is another way.
TEST_P(PointBlockSorTest, RowsOfABlockDoNotWaitForEachOther) {
  const CsrMatrix graph = make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 8});
  Sor by_rows = make(graph, {});
  Sor by_blocks = make(test::with_blocks(graph, 5, false), {.block_size = 5});
  EXPECT_EQ(by_blocks.info().lower_levels, by_rows.info().lower_levels);
  EXPECT_EQ(by_blocks.info().upper_levels, by_rows.info().upper_levels);
}

// Where diagonal blocks are diagonal, blocks and rows are one method.
TEST_P(PointBlockSorTest, DiagonalBlocksAreRows) {
  const Index n = 3;
  CsrMatrix a = test::with_blocks(make_stencil({.stencil = Stencil::seven_point, .nx = 5, .ny = 4, .nz = 3}), n, true);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_offsets[at(i)]; e < a.row_offsets[at(i) + 1]; ++e) {
      for (Index k = 0; k < n * n && a.col_indices[at(e)] == i; ++k) {
        if (k % (n + 1) != 0) a.values[at(e) * at(n * n) + at(k)] = 0.0;
      }
    }
  }
  const CsrMatrix rows = test::by_rows(a, n);
  const std::vector<double> b = test::right_hand_side(rows.rows);
  Sor sor = make(a, {.omega = 1.2, .block_size = n});
  ASSERT_TRUE(load(sor, a).ok());
  for (const SorSweep sweep : kSweeps) {
    EXPECT_LE(
        test::difference(from_zero(sor, sweep, 3, b), kernels::reference_sor(rows.view(), {.omega = 1.2}, sweep, 3, b,
                                                                             std::vector<double>(b.size(), 0.0))),
        test::kForwardBound);
  }
}

// A symmetric iteration is a symmetric operator where the matrix is: the transposed application is the application.
TEST_P(PointBlockSorTest, SymmetricSweepsOfASymmetricMatrixAreSymmetric) {
  const Index n = 4;
  const CsrMatrix a = test::with_blocks(make_stencil({.stencil = Stencil::five_point, .nx = 6, .ny = 5}), n, true);
  const std::vector<double> b = test::right_hand_side(a.rows * n);
  std::vector<double> c(b.size());
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = std::cos(1.3 * static_cast<double>(i));
  Sor sor = make(a, {.omega = 1.3, .block_size = n});
  ASSERT_TRUE(load(sor, a).ok());
  for (const int iterations : {1, 3}) {
    const std::vector<double> of_b = from_zero(sor, SorSweep::symmetric, iterations, b);
    const std::vector<double> of_c = from_zero(sor, SorSweep::symmetric, iterations, c);
    const double one = std::inner_product(c.begin(), c.end(), of_b.begin(), 0.0);
    const double other = std::inner_product(b.begin(), b.end(), of_c.begin(), 0.0);
    EXPECT_NEAR(one, other, 1e-12 * std::max(1.0, std::abs(one)));
  }
}

TEST_P(PointBlockSorTest, EverySchedule) {
  const Index n = 3;
  const CsrMatrix graph = make_stencil({.stencil = Stencil::five_point, .nx = 20, .ny = 17, .wind = 1.0});
  const CsrMatrix a = test::with_blocks(graph, n, false);
  BlockOrdering ordering = block_multicolour(context(), graph.pattern(), MemorySpace::host, {16});
  for (Index& offset : ordering.blocks.block_offsets) offset *= n;
  const auto blocks = std::make_shared<const RowBlocks>(std::move(ordering.blocks));
  const std::vector<double> b = test::right_hand_side(a.rows * n);
  for (const bool ordered : {false, true}) {
    std::optional<std::vector<double>> expected;
    for (const SolveSchedule schedule : test::runnable_schedules(GetParam().backend)) {
      if (schedule == SolveSchedule::blocks && !ordered) continue;
      SorOptions options{.omega = 1.1, .schedule = schedule, .block_size = n};
      if (ordered) options.blocks = blocks;
      SCOPED_TRACE(std::string(ordered ? "by blocks, " : "natural, ") + to_string(schedule));
      Sor sor = make(a, options, ordered ? std::span<const Index>(ordering.order) : std::span<const Index>());
      ASSERT_TRUE(load(sor, a).ok());
      const std::vector<double> x = from_zero(sor, SorSweep::symmetric, 2, b);
      if (!expected) expected = x;
      EXPECT_LE(test::difference(x, *expected), test::kForwardBound);
      if (!ordered) expect_iterations(sor, a, options);
    }
  }
}

TEST_P(PointBlockSorTest, AnOrderIsThatOfTheBlocks) {
  const Index n = 3;
  const CsrMatrix graph = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 4, .ny = 4, .nz = 3});
  const CsrMatrix a = test::with_blocks(graph, n, false);
  std::vector<Index> order(at(a.rows));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) std::swap(order[i], order[(i * 31 + 7) % order.size()]);
  std::vector<Index> of_rows;
  for (const Index block : order) {
    for (Index r = 0; r < n; ++r) of_rows.push_back(block * n + r);
  }
  const CsrMatrix renumbered = test::in_blocks(test::permuted(test::by_rows(a, n), of_rows, of_rows), n);
  const auto to_new = [&](const std::vector<double>& x) {
    std::vector<double> y(x.size());
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[at(of_rows[i])];
    return y;
  };
  const std::vector<double> b = test::right_hand_side(a.rows * n);
  const SorOptions options{.omega = 0.9, .block_size = n};
  Sor sor = make(a, options, order);
  ASSERT_TRUE(load(sor, a).ok());
  for (const SorSweep sweep : kSweeps) {
    EXPECT_LE(test::difference(to_new(from_zero(sor, sweep, 2, b)),
                               kernels::point_block::reference_sor(renumbered.view(), options, sweep, 2, to_new(b),
                                                                   std::vector<double>(b.size(), 0.0))),
              test::kForwardBound);
  }
}

TEST_P(PointBlockSorTest, NewValuesTakeThePlaceOfTheOldOnes) {
  const Index n = 5;
  CsrMatrix a = test::with_blocks(make_stencil({.stencil = Stencil::five_point, .nx = 7, .ny = 6}), n, false);
  const SorOptions options{.block_size = n};
  Sor sor = make(a, options);
  ASSERT_TRUE(load(sor, a).ok());
  from_zero(sor, SorSweep::symmetric, 2, test::right_hand_side(a.rows * n));
  a.values = test::other_values(a.values);
  ASSERT_TRUE(load(sor, a).ok());
  expect_iterations(sor, a, options);
}

TEST_P(PointBlockSorTest, BlocksWithoutAnInverseAreReported) {
  const Index n = 3;
  CsrMatrix a = test::with_blocks(test::tridiagonal(8, -1.0, 4.0, -1.0), n, false);
  const std::vector<double> good = a.values;
  const auto own_block = [&](Index i) {
    Offset e = a.row_offsets[at(i)];
    while (a.col_indices[at(e)] != i) ++e;
    return a.values.data() + at(e) * at(n * n);
  };
  const auto clear_column = [&](Index i, Index c) { std::fill_n(own_block(i) + c * n, n, 0.0); };
  Sor sor = make(a, {.block_size = n});
  clear_column(2, 1);
  clear_column(5, 2);
  FactorStatus status = load(sor, a);
  EXPECT_EQ(status.outcome, FactorOutcome::zero_pivot);
  EXPECT_EQ(status.first_row, 2 * n + 1);
  EXPECT_EQ(status.last_row, 5 * n + 2);
  EXPECT_FALSE(test::all_finite(from_zero(sor, SorSweep::forward, 1, test::right_hand_side(a.rows * n))));
  EXPECT_EQ(sor.outcome(), SolveOutcome::non_finite);
  for (const double value : {kNan, std::numeric_limits<double>::infinity()}) {
    a.values = good;
    own_block(4)[5] = value;
    status = load(sor, a);
    EXPECT_EQ(status.outcome, FactorOutcome::non_finite);
    EXPECT_EQ(status.first_row, 4 * n);
  }
  a.values = good;
  ASSERT_TRUE(load(sor, a).ok());
  expect_iterations(sor, a, {.block_size = n});
}

TEST_P(PointBlockSorTest, WhatBlocksDoNotHaveIsRefused) {
  const CsrMatrix a = test::with_blocks(test::tridiagonal(4, -1.0, 2.0, -1.0), 2, false);
  for (const Index n : {0, -1, largest_point_block + 1}) EXPECT_THROW(make(a, {.block_size = n}), InvalidInput);
  const CsrMatrix hollow{2, 2, {0, 1, 2}, {1, 0}, std::vector<double>(8, 1.0)};
  EXPECT_THROW(make(hollow, {.block_size = 2}), InvalidInput);
  const std::vector<Index> no_order = {0, 1, 2, 2};
  const std::vector<Index> order_of_rows = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_THROW(make(a, {.block_size = 2}, no_order), InvalidInput);
  EXPECT_THROW(make(a, {.block_size = 2}, order_of_rows), InvalidInput);
  Sor sor = make(a, {.block_size = 2});
  ASSERT_TRUE(load(sor, a).ok());
  test::Array<double> b = place(std::vector<double>(8, 1.0));
  test::Array<double> x = place(std::vector<double>(8));
  EXPECT_THROW(sor.multiply_upper(b.data(), x.data(), space(), stream()), Unsupported);
  EXPECT_THROW(sor.pivots(x.data(), space(), stream()), Unsupported);
  EXPECT_THROW(sor.set_diagonal(b.data(), space(), stream()), Unsupported);
  EXPECT_THROW(sor.multiply_transformed(b.data(), x.data(), space(), stream()), InvalidInput);
}

TEST_P(PointBlockSorTest, AMatrixWithoutRowsIsDoneAtOnce) {
  const CsrMatrix none{0, 0, {0}, {}, {}};
  Sor sor = make(none, {.block_size = 3});
  EXPECT_TRUE(sor.update_values(nullptr, space(), stream()).ok());
  sor.iterate(SorSweep::symmetric, 3, SorStart::given, nullptr, nullptr, space(), stream());
  EXPECT_EQ(sor.info().rows, 0);
}

}  // namespace
}  // namespace taskdag

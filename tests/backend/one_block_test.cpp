// Factorisations of small matrices by one thread block: when they are taken, and what changes hands.
#include <algorithm>

#include "backends.hpp"
#include "base/index.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

TASKDAG_BACKEND_SUITE(OneBlockTest, test::device_arrays());

CsrMatrix grid(Index n) { return make_stencil({.stencil = Stencil::five_point, .nx = n, .ny = n}); }

FactorOptions up_to(Index rows, FactorKind kind = FactorKind::ilu) {
  FactorOptions options;
  options.kind = kind;
  options.one_block_rows = rows;
  return options;
}

TEST_P(OneBlockTest, IsTakenUpToItsNumberOfRows) {
  const CsrMatrix a = grid(30);
  EXPECT_EQ(factorization(a, up_to(900)).info().lower_schedule, SolveSchedule::one_block);
  EXPECT_EQ(factorization(a, up_to(900)).info().upper_schedule, SolveSchedule::one_block);
  EXPECT_EQ(factorization(a, up_to(900)).info().lower_levels, 59);
  EXPECT_NE(factorization(a, up_to(899)).info().lower_schedule, SolveSchedule::one_block);
  EXPECT_NE(factorization(a, {}).info().lower_schedule, SolveSchedule::one_block);
  FactorOptions named = up_to(900);
  named.schedule = SolveSchedule::flat;
  EXPECT_EQ(factorization(a, named).info().lower_schedule, SolveSchedule::flat);
  EXPECT_NE(factorization(test::arrow(900), up_to(900)).info().lower_schedule, SolveSchedule::flat);
}

TEST_P(OneBlockTest, ManyEntriesAreForMoreThanOneBlock) {
  CsrMatrix dense;
  dense.rows = dense.cols = 60;
  dense.row_offsets.clear();
  for (Index i = 0; i < 60; ++i) {
    dense.row_offsets.push_back(i * 60);
    for (Index j = 0; j < 60; ++j) {
      dense.col_indices.push_back(j);
      dense.values.push_back(i == j ? 100.0 : 1.0);
    }
  }
  dense.row_offsets.push_back(3600);
  EXPECT_NE(factorization(dense, up_to(60)).info().lower_schedule, SolveSchedule::one_block);
  EXPECT_EQ(factorization(dense, up_to(300)).info().lower_schedule, SolveSchedule::one_block);
}

TEST_P(OneBlockTest, AVectorThatDoesNotFitIntoSharedMemoryIsSolvedToo) {
  const CsrMatrix a = grid(200);
  for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
    Factorization f = factorization(a, up_to(40000, kind));
    ASSERT_EQ(f.info().lower_schedule, SolveSchedule::one_block);
    ASSERT_TRUE(factor(f, a.values).ok());
    const std::vector<double> b = test::right_hand_side(a.rows);
    EXPECT_LE(test::apply_error(f.copy_factor(), kind, false, b, apply(f, Apply::full, b)), 1.0);
  }
}

TEST_P(OneBlockTest, ALargeOneIsAppliedAfterASmallOneWasMade) {
  const CsrMatrix a = grid(130);
  Factorization large = factorization(a, up_to(20000));
  ASSERT_TRUE(factor(large, a.values).ok());
  static_cast<void>(factorization(grid(5), up_to(20000)));
  const std::vector<double> b = test::right_hand_side(a.rows);
  EXPECT_LE(test::apply_error(large.copy_factor(), FactorKind::ilu, false, b, apply(large, Apply::full, b)), 1.0);
}

TEST_P(OneBlockTest, SeveralColumnsAreThoseOfSingleOnes) {
  for (const Index n : {40, 180}) {  // in shared memory; not
    const CsrMatrix a = grid(n);
    Factorization f = factorization(a, up_to(40000));
    ASSERT_TRUE(factor(f, a.values).ok());
    constexpr Index kColumns = 19;
    std::vector<double> b;
    std::vector<double> expected;
    for (Index k = 0; k < kColumns; ++k) {
      std::vector<double> column = test::right_hand_side(a.rows);
      for (double& value : column) value *= 1.0 + k;
      const std::vector<double> x = apply(f, Apply::full, column);
      b.insert(b.end(), column.begin(), column.end());
      expected.insert(expected.end(), x.begin(), x.end());
    }
    auto in = place(b);
    auto out = place(std::vector<double>(b.size(), -7.0));
    f.apply_many(Apply::full, kColumns, in.data(), a.rows, out.data(), a.rows, space(), stream());
    EXPECT_TRUE(test::same_bits(out.read(), expected));
  }
}

TEST_P(OneBlockTest, TheThirdFactorOfManyRowsIsTheDevices) {
  const CsrMatrix a = grid(75);
  const std::vector<double> b = test::right_hand_side(a.rows);
  for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
    Factorization f = factorization(a, up_to(20000, kind));
    std::vector<double> values = a.values;
    for (int k = 0; k < 5; ++k) {
      SCOPED_TRACE("factor " + std::to_string(k));
      for (double& value : values) value *= 1.5;
      ASSERT_TRUE(factor(f, values).ok());
      EXPECT_EQ(f.info().lower_schedule == SolveSchedule::one_block, k < 2);
      const CsrMatrix computed = f.copy_factor();
      EXPECT_LE(test::apply_error(computed, kind, false, b, apply(f, Apply::full, b)), 1.0);
      EXPECT_LE(test::apply_error(computed, kind, true, b, apply(f, Apply::transposed, b)), 1.0);
      EXPECT_EQ(f.outcome(), SolveOutcome::success);
    }
  }
}

FactorOptions left_after(Index applications, FactorKind kind = FactorKind::ilu) {
  FactorOptions options = up_to(5000, kind);
  options.one_block_applications = applications;
  return options;
}

void expect_applied(const Factorization& f, Index limit, Index applied, bool by_one_block) {
  EXPECT_EQ(f.info().one_block_limit, limit);
  EXPECT_EQ(f.info().one_block_applied, applied);
  EXPECT_EQ(f.info().lower_schedule == SolveSchedule::one_block, by_one_block);
  EXPECT_EQ(f.info().upper_schedule == SolveSchedule::one_block, by_one_block);
}

TEST_P(OneBlockTest, IsLeftAfterItsApplications) {
  const CsrMatrix a = grid(40);
  const std::vector<double> b = test::right_hand_side(a.rows);
  for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
    Factorization f = factorization(a, left_after(3, kind));
    Factorization stays = factorization(a, up_to(5000, kind));
    Factorization large = factorization(a, up_to(0, kind));
    for (Factorization* each : {&f, &stays, &large}) ASSERT_TRUE(factor(*each, a.values).ok());
    const std::vector<double> by_one_block = apply(stays, Apply::full, b);
    const std::vector<double> by_others = apply(large, Apply::full, b);
    for (Index k = 0; k < 6; ++k) {
      SCOPED_TRACE("application " + std::to_string(k));
      const std::vector<double> x = apply(f, Apply::full, b);
      EXPECT_TRUE(test::same_bits(x, k < 3 ? by_one_block : by_others));
      EXPECT_LE(test::apply_error(f.copy_factor(), kind, false, b, x), 1.0);
      expect_applied(f, 3, std::min<Index>(k + 1, 3), k < 3);
    }
    // The values were the host's at that moment.
    const auto of_values = static_cast<std::int64_t>(sizeof(double) * a.values.size());
    EXPECT_EQ(f.info().bytes, large.info().bytes + of_values);
    EXPECT_EQ(f.outcome(), SolveOutcome::success);
    expect_applied(stays, 0, 0, true);
    expect_applied(large, 0, 0, false);
    // New values, and set-ups that follow.
    std::vector<double> values = a.values;
    for (int round = 0; round < 3; ++round) {
      for (double& value : values) value *= 1.5;
      ASSERT_TRUE(factor(f, values).ok());
      ASSERT_TRUE(factor(large, values).ok());
      expect_applied(f, 3, 3, false);
      EXPECT_TRUE(test::same_bits(apply(f, Apply::full, b), apply(large, Apply::full, b)));
      EXPECT_LE(test::apply_error(f.copy_factor(), kind, true, b, apply(f, Apply::transposed, b)), 1.0);
    }
  }
}

TEST_P(OneBlockTest, IsLeftByThePatternAlone) {
  const CsrMatrix a = grid(45);
  Factorization f = factorization(a, left_after(applications_that_pay));
  expect_applied(f, 15000 / 178, 0, true);
  ASSERT_TRUE(factor(f, a.values).ok());
  const std::vector<double> b = test::right_hand_side(a.rows);
  for (Index k = 0; k < 84; ++k) static_cast<void>(apply(f, Apply::full, b));
  expect_applied(f, 84, 84, true);
  static_cast<void>(apply(f, Apply::full, b));
  expect_applied(f, 84, 84, false);
}

TEST_P(OneBlockTest, NewValuesBeforeItIsLeftAreThoseAfterIt) {
  const CsrMatrix a = grid(30);
  const std::vector<double> b = test::right_hand_side(a.rows);
  Factorization f = factorization(a, left_after(4));
  Factorization large = factorization(a, {});
  std::vector<double> values = a.values;
  for (int k = 0; k < 4; ++k) {
    for (double& value : values) value *= 1.25;
    ASSERT_TRUE(factor(f, values).ok());
    static_cast<void>(apply(f, Apply::full, b));
  }
  expect_applied(f, 4, 4, true);
  ASSERT_TRUE(factor(large, values).ok());
  EXPECT_TRUE(test::same_bits(apply(f, Apply::full, b), apply(large, Apply::full, b)));
  expect_applied(f, 4, 4, false);
}

TEST_P(OneBlockTest, IsLeftWhereAnythingElseIsAskedFor) {
  const CsrMatrix a = grid(30);
  const std::vector<double> b = test::right_hand_side(a.rows);
  Factorization f = factorization(a, left_after(100));
  ASSERT_TRUE(factor(f, a.values).ok());
  static_cast<void>(apply(f, Apply::full, b));
  const std::vector<double> x = apply(f, Apply::transposed, b);
  EXPECT_LE(test::apply_error(f.copy_factor(), FactorKind::ilu, true, b, x), 1.0);
  expect_applied(f, 100, 1, false);
}

TEST_P(OneBlockTest, AFactorThatHasFailedIsNotLeft) {
  CsrMatrix a = grid(20);
  const std::vector<double> good = a.values;
  a.values[0] = 0.0;  // the first pivot
  const std::vector<double> b = test::right_hand_side(a.rows);
  Factorization f = factorization(a, left_after(1));
  EXPECT_FALSE(factor(f, a.values).ok());
  for (int k = 0; k < 3; ++k) static_cast<void>(apply(f, Apply::full, b));
  expect_applied(f, 1, 3, true);
  ASSERT_TRUE(factor(f, good).ok());
  static_cast<void>(f.outcome());
  EXPECT_LE(test::apply_error(f.copy_factor(), FactorKind::ilu, false, b, apply(f, Apply::full, b)), 1.0);
  expect_applied(f, 1, 3, false);
  EXPECT_EQ(f.outcome(), SolveOutcome::success);
}

TEST_P(OneBlockTest, AShiftIsTheSameAfterIt) {
  CsrMatrix a = grid(20);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_offsets[at(i)]; e < a.row_offsets[at(i) + 1]; ++e) {
      if (a.col_indices[at(e)] == i) a.values[at(e)] = 2.5;  // not positive definite
    }
  }
  FactorOptions options = left_after(2, FactorKind::ic);
  options.shift = ShiftType::scaled;
  Factorization f = factorization(a, options);
  const FactorStatus status = factor(f, a.values);
  ASSERT_TRUE(status.ok());
  ASSERT_GT(status.shifts, 0);
  const std::vector<double> b = test::right_hand_side(a.rows);
  for (int k = 0; k < 4; ++k) {
    EXPECT_LE(test::apply_error(f.copy_factor(), FactorKind::ic, false, b, apply(f, Apply::full, b)), 1.0);
    expect_applied(f, 2, std::min(k + 1, 2), k < 2);
  }
}

TEST_P(OneBlockTest, OrdersArePassedOn) {
  const CsrMatrix a = grid(20);
  std::vector<Index> order(at(a.rows));
  for (Index i = 0; i < a.rows; ++i) order[at(i)] = (i * 7) % a.rows;
  const std::vector<double> b = test::right_hand_side(a.rows);
  Factorization f = factorization(a, left_after(1), order, order);
  Factorization large = factorization(a, {}, order, order);
  ASSERT_TRUE(factor(f, a.values).ok());
  ASSERT_TRUE(factor(large, a.values).ok());
  static_cast<void>(apply(f, Apply::full, b));
  EXPECT_TRUE(test::same_bits(apply(f, Apply::full, b), apply(large, Apply::full, b)));
}

TEST_P(OneBlockTest, ANegativeNumberOfApplicationsIsRefused) {
  EXPECT_THROW(static_cast<void>(factorization(grid(10), left_after(-2))), InvalidInput);
}

TEST_P(OneBlockTest, ABrokenPatternOnTheDeviceIsRefused) {
  CsrMatrix a = grid(10);
  std::swap(a.col_indices[0], a.col_indices[1]);
  EXPECT_THROW(static_cast<void>(factorization(a, up_to(100))), InvalidInput);
  EXPECT_THROW(static_cast<void>(factorization(grid(10), up_to(100), std::vector<Index>(100, 3))), InvalidInput);
}

}  // namespace
}  // namespace taskdag

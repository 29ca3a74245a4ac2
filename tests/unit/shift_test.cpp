// The sequence of shifts, driven by scripted outcomes. The amounts follow from PETSc's MatPivotCheck and
// MatPivotRefine.
#include "kernels/factor/shift.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace taskdag {
namespace {

using kernels::ShiftStrategy;

FactorOptions with(ShiftType shift, FactorKind kind = FactorKind::ilu) {
  return {.kind = kind, .shift = shift, .shift_amount = 0.25, .zero_pivot = 1e-3};
}

/// Runs attempts that fail below `needed`. @returns the amounts of all attempts
std::vector<double> attempts(ShiftStrategy& strategy, double needed) {
  std::vector<double> amounts;
  bool again = true;
  while (again && amounts.size() < 5000) {
    amounts.push_back(strategy.amount());
    again = strategy.again(strategy.amount() < needed);
  }
  return amounts;
}

TEST(ShiftTest, WithoutAStrategyThereIsOneAttempt) {
  for (const ShiftType shift : {ShiftType::none, ShiftType::inblocks}) {
    ShiftStrategy strategy(with(shift), 1.0);
    EXPECT_EQ(attempts(strategy, 1.0), std::vector<double>{0.0});
    EXPECT_EQ(strategy.shifts(), 0);
  }
}

TEST(ShiftTest, GoodAttemptsAreNotShifted) {
  for (const ShiftType shift : {ShiftType::nonzero, ShiftType::positive_definite, ShiftType::scaled}) {
    ShiftStrategy strategy(with(shift), 1.0);
    EXPECT_EQ(attempts(strategy, 0.0), std::vector<double>{0.0});
    EXPECT_EQ(strategy.shifts(), 0);
  }
}

TEST(ShiftTest, NonzeroDoublesFromTheGivenAmount) {
  ShiftStrategy strategy(with(ShiftType::nonzero), 0.0);
  EXPECT_EQ(attempts(strategy, 1.5), (std::vector<double>{0.0, 0.25, 0.5, 1.0, 2.0}));
  EXPECT_EQ(strategy.shifts(), 4);
  EXPECT_EQ(strategy.amount(), 2.0);
}

TEST(ShiftTest, NonzeroGivesUpBeforeTheAmountOverflows) {
  ShiftStrategy strategy(with(ShiftType::nonzero), 0.0);
  const std::vector<double> amounts = attempts(strategy, std::numeric_limits<double>::infinity());
  EXPECT_LT(amounts.size(), 1100U);
  EXPECT_TRUE(std::isfinite(strategy.amount()));
  EXPECT_TRUE(std::isinf(2 * strategy.amount()));
}

TEST(ShiftTest, NonzeroWithoutAnAmountGivesUp) {
  FactorOptions options = with(ShiftType::nonzero);
  options.shift_amount = 0.0;
  ShiftStrategy strategy(options, 0.0);
  EXPECT_EQ(attempts(strategy, 1.0), std::vector<double>{0.0});
}

TEST(ShiftTest, PositiveDefiniteBisectsUpFromHalfTheTop) {
  ShiftStrategy strategy(with(ShiftType::positive_definite, FactorKind::ic), 8.0);
  const double top = 1.1 * 8.0;
  EXPECT_EQ(attempts(strategy, 0.8 * top), (std::vector<double>{0.0, 0.5 * top, 0.75 * top, 0.875 * top}));
  EXPECT_EQ(strategy.shifts(), 3);
}

TEST(ShiftTest, PositiveDefiniteRefinesForLuOnlyAndEndsWithAnAmountThatSuffices) {
  const double top = 1.1 * 8.0;
  ShiftStrategy refined(with(ShiftType::positive_definite), 8.0);
  // 0 and 1/2 fail, 3/4 and 5/8 suffice, 9/16 and 19/32 fail; the latter was the fifth shift: back to 5/8.
  EXPECT_EQ(attempts(refined, 0.6 * top),
            (std::vector<double>{0.0, 0.5 * top, 0.75 * top, 0.625 * top, 0.5625 * top, 0.59375 * top, 0.625 * top}));
  EXPECT_EQ(refined.shifts(), 6);
  ShiftStrategy plain(with(ShiftType::positive_definite, FactorKind::ic), 8.0);
  EXPECT_EQ(attempts(plain, 0.6 * top), (std::vector<double>{0.0, 0.5 * top, 0.75 * top}));
}

TEST(ShiftTest, PositiveDefiniteEndsWithAnAmountThatSufficesWhateverIsNeeded) {
  for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
    for (int part = 1; part <= 100; ++part) {
      const double needed = 1.1 * 8.0 * part / 100;
      ShiftStrategy strategy(with(ShiftType::positive_definite, kind), 8.0);
      EXPECT_LE(attempts(strategy, needed).size(), 7U);
      EXPECT_GE(strategy.amount(), needed);
    }
  }
}

TEST(ShiftTest, PositiveDefiniteGivesUpWhenTheTopDoesNotSuffice) {
  ShiftStrategy strategy(with(ShiftType::positive_definite), 8.0);
  EXPECT_EQ(attempts(strategy, 100.0).size(), 7U);
  EXPECT_EQ(strategy.amount(), 1.1 * 8.0);
  EXPECT_EQ(strategy.shifts(), 6);
}

/// The same for a shift relative to the diagonal, which is never below 0 and in steps of a factor.
std::vector<double> exponents(ShiftStrategy& strategy, double needed) {
  std::vector<double> result;
  for (const double amount : attempts(strategy, needed)) result.push_back(std::log10(amount));
  return result;
}

void expect_exponents(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_TRUE(std::isinf(found[0])) << "the first attempt has no shift";
  for (std::size_t k = 1; k < found.size(); ++k) EXPECT_NEAR(found[k], expected[k], 1e-12) << "attempt " << k;
}

constexpr double kNone = -std::numeric_limits<double>::infinity();

TEST(ShiftTest, ScaledGrowsTenfoldThenBisectsTheExponent) {
  ShiftStrategy strategy(with(ShiftType::scaled, FactorKind::ic), 0.0);
  EXPECT_TRUE(strategy.shift().relative);
  // 0.1 suffices, then 10^-1.5 does not, 10^-1.25 does.
  expect_exponents(exponents(strategy, 0.05), {kNone, -3, -2, -1, -1.5, -1.25});
  EXPECT_EQ(strategy.shifts(), 5);
}

TEST(ShiftTest, ScaledRepeatsTheBestAttemptWhereTheLastStepFails) {
  ShiftStrategy strategy(with(ShiftType::scaled, FactorKind::ic), 0.0);
  expect_exponents(exponents(strategy, 0.9), {kNone, -3, -2, -1, 0, -0.5, -0.25, 0});
  EXPECT_EQ(strategy.shifts(), 7);
}

TEST(ShiftTest, ScaledLooksBelowAFirstGuessThatSuffices) {
  ShiftStrategy strategy(with(ShiftType::scaled, FactorKind::ic), 0.0);
  expect_exponents(exponents(strategy, 1e-9), {kNone, -3, -3.5, -3.75});
}

TEST(ShiftTest, ScaledEndsWithAnAmountThatSufficesInFewAttempts) {
  std::size_t most = 0;
  for (int k = -80; k <= 60; ++k) {
    const double needed = std::pow(10.0, k / 20.0);
    ShiftStrategy strategy(with(ShiftType::scaled, FactorKind::ic), 0.0);
    most = std::max(most, attempts(strategy, needed).size());
    EXPECT_GE(strategy.amount(), 0.9999 * needed);
    EXPECT_LE(strategy.amount(), 2 * std::max(needed, 1e-4));
  }
  EXPECT_EQ(most, static_cast<std::size_t>(kernels::ScaledShift::kMostAttempts));
}

TEST(ShiftTest, ScaledGivesUpAboveAThousand) {
  ShiftStrategy strategy(with(ShiftType::scaled, FactorKind::ic), 0.0);
  expect_exponents(exponents(strategy, 1e9), {kNone, -3, -2, -1, 0, 1, 2, 3});
}

TEST(ShiftTest, ScaledHoldsPivotsAgainstTheLargerTolerance) {
  FactorOptions options = with(ShiftType::scaled, FactorKind::ic);
  EXPECT_EQ(kernels::pivot_rule(options).zero_pivot, options.zero_pivot);
  options.zero_pivot = 1e-14;
  EXPECT_EQ(kernels::pivot_rule(options).zero_pivot, kernels::kLeastScaledPivot);
  options.shift = ShiftType::positive_definite;
  EXPECT_EQ(kernels::pivot_rule(options).zero_pivot, 1e-14);
}

TEST(ShiftTest, TopIsAtLeastTheZeroPivot) {
  ShiftStrategy strategy(with(ShiftType::positive_definite, FactorKind::ic), -3.0);
  EXPECT_EQ(attempts(strategy, 1e-9), (std::vector<double>{0.0, 0.5 * (1.1 * 1e-3)}));
}

}  // namespace
}  // namespace taskdag

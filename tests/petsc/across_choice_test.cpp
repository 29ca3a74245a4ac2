// What -pc_taskdag_across auto expects, from counts of rows. PETSc is not started here.
#include "pc/across_choice.hpp"

#include <gtest/gtest.h>

namespace taskdag::petsc {
namespace {

/// A slab of a 7-point grid with so many planes of side², between two others.
AcrossCounts slab(std::int64_t side, std::int64_t planes, bool on_gpus) {
  const std::int64_t rows = side * side * planes;
  return {.rows = rows, .entries = 7 * rows, .ghosts = 2 * side * side, .on_gpus = on_gpus};
}

TEST(AcrossChoice, OwnFactorsTakeMoreIterationsWhereRanksHaveMoreBoundary) {
  EXPECT_DOUBLE_EQ(estimate_across({.rows = 100, .entries = 500}).own_iterations, 1.0) << "nothing couples the ranks";
  EXPECT_NEAR(estimate_across(slab(40, 5, false)).own_iterations, 41.0 / 34.0, 0.06);
  EXPECT_NEAR(estimate_across({.rows = 1250, .entries = 8750, .ghosts = 2000}).own_iterations, 56.0 / 34.0, 0.06);
  EXPECT_NEAR(estimate_across({.rows = 20000, .entries = 100000, .ghosts = 200}).own_iterations, 124.0 / 110.0, 0.06);
}

/// Rows of h200-x2-krylov-ranks.csv.
TEST(AcrossChoice, TimesOfTwoGpusAreAboutThoseMeasured) {
  const struct {
    AcrossCounts counts;
    double own_us;
    double across_us;
  } measured[] = {
      {{.rows = 500000, .entries = 2500000, .ghosts = 1000, .on_gpus = true}, 81.87, 100.84},
      {{.rows = 500000, .entries = 3500000, .ghosts = 10000, .on_gpus = true}, 102.36, 118.48},
      {{.rows = 2048000, .entries = 14336000, .ghosts = 25600, .on_gpus = true}, 218.93, 291.18},
  };
  for (const auto& [counts, own_us, across_us] : measured) {
    const AcrossEstimate estimate = estimate_across(counts);
    EXPECT_NEAR(estimate.own_us, own_us, 0.12 * own_us);
    EXPECT_NEAR(estimate.across_us, across_us, 0.12 * across_us);
    EXPECT_LT(estimate.gain(), 1.0) << "own factors were the faster ones";
  }
}

TEST(AcrossChoice, TheWholeMatrixPaysWhereARankHasLessThanItsBoundary) {
  EXPECT_LT(estimate_across(slab(200, 25, true)).gain(), 1.0);
  EXPECT_LT(estimate_across(slab(80, 40, false)).gain(), 1.0);
  // A quarter of a plane of a 27-point grid between two others.
  EXPECT_GT(estimate_across({.rows = 20000, .entries = 540000, .ghosts = 80000}).gain(), 1.0);
}

}  // namespace
}  // namespace taskdag::petsc

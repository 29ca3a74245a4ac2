// Problems too large for every test: about ten million entries, wide levels.
#include "backends.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "support/effort.hpp"

namespace taskdag {
namespace {

TASKDAG_BACKEND_SUITE(LargeTest, test::once_per_backend());

TEST_P(LargeTest, FactorAndApplicationOfTenMillionEntries) {
  constexpr Index n = test::kSanitized ? 40 : 113;
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = n, .ny = n, .nz = n, .wind = 0.5});
  ASSERT_GT(a.entries(), test::kSanitized ? 400'000 : 9'900'000);
  Factorization f = factorization(a, {});
  ASSERT_TRUE(factor(f, a.values).ok());
  EXPECT_EQ(f.info().lower_levels, 3 * (n - 1) + 1);
  const CsrMatrix computed = f.copy_factor();
  FactorStatus unused;
  EXPECT_LE(test::factor_difference(computed, test::reference_factor(a, {}, 0.0, unused)), test::kForwardBound);
  EXPECT_LE(test::factor_error(a, computed, FactorKind::ilu), 1.0);
  const std::vector<double> b = test::right_hand_side(a.rows);
  const std::vector<double> x = apply(f, Apply::full, b);
  EXPECT_LE(test::difference(x, test::reference_apply(computed, FactorKind::ilu, false, b)), test::kForwardBound);
  EXPECT_TRUE(test::same_bits(apply_in_place(f, Apply::full, b), x));
  EXPECT_EQ(f.outcome(), SolveOutcome::success);
}

TEST_P(LargeTest, FactorOfWideLevelsWithManyUpdates) {
  // 829 rows a level: more than there are warps for some levels at once, so rows share them.
  const CsrMatrix a =
      make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 200, .ny = 60, .nz = 30 / test::kSmaller});
  for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
    FactorOptions options;
    options.kind = kind;
    Factorization f = factorization(a, options);
    for (int again = 0; again < (test::kSanitized ? 1 : 3); ++again) ASSERT_TRUE(factor(f, a.values).ok());
    FactorStatus unused;
    EXPECT_LE(test::factor_difference(f.copy_factor(), test::reference_factor(a, options, 0.0, unused)),
              test::kForwardBound);
  }
}

}  // namespace
}  // namespace taskdag

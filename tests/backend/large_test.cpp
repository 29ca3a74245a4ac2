// One problem of about ten million entries.
#include "backends.hpp"
#include "measure.hpp"
#include "problems.hpp"

namespace taskdag {
namespace {

TASKDAG_BACKEND_SUITE(LargeTest, test::once_per_backend());

TEST_P(LargeTest, FactorAndApplicationOfTenMillionEntries) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 113, .ny = 113, .nz = 113, .wind = 0.5});
  ASSERT_GT(a.entries(), 9'900'000);
  Factorization f = factorization(a, {});
  ASSERT_TRUE(factor(f, a.values).ok());
  EXPECT_EQ(f.info().lower_levels, 3 * 112 + 1);
  const CsrMatrix computed = f.copy_factor();
  FactorStatus unused;
  EXPECT_LE(test::factor_difference(computed, test::reference_factor(a, {}, 0.0, unused)), test::kForwardBound);
  EXPECT_LE(test::factor_error(a, computed, FactorKind::ilu0), 1.0);
  const std::vector<double> b = test::right_hand_side(a.rows);
  const std::vector<double> x = apply(f, Apply::full, b);
  EXPECT_LE(test::difference(x, test::reference_apply(computed, FactorKind::ilu0, false, b)), test::kForwardBound);
  EXPECT_TRUE(test::same_bits(apply_in_place(f, Apply::full, b), x));
  EXPECT_EQ(f.outcome(), SolveOutcome::success);
}

}  // namespace
}  // namespace taskdag

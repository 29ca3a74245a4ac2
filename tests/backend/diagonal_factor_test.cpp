// DILU and DIC: factors whose entries beside the diagonal are the matrix' own.
#include <functional>

#include "backends.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "support/openfoam.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

TASKDAG_BACKEND_SUITE(DiagonalFactorTest, test::everywhere_and_one_block());

FactorOptions options_for(FactorKind kind) {
  FactorOptions options;
  options.kind = kind;
  options.diagonal_only = true;
  return options;
}

/// `ic` looks at the upper triangle alone: so does DIC, whatever is below.
std::vector<test::Problem> problems() {
  std::vector<test::Problem> all = test::small_problems();
  all.push_back({"27-point", make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 7, .ny = 6, .nz = 5})});
  all.push_back({"long row", test::arrow(300)});
  return all;
}

TEST_P(DiagonalFactorTest, ApplicationsAreThoseOfOpenFoam) {
  for (const test::Problem& problem : problems()) {
    const std::vector<double> b = test::right_hand_side(problem.a.rows);
    for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
      const test::FacePreconditioner expected(problem.a, kind == FactorKind::ic);
      for (const FactorSchedule schedule : {FactorSchedule::automatic, FactorSchedule::lists, FactorSchedule::engine}) {
        SCOPED_TRACE(problem.name + (kind == FactorKind::ic ? ", dic, " : ", dilu, ") + to_string(schedule));
        FactorOptions options = options_for(kind);
        options.factor_schedule = schedule;
        Factorization f = factorization(problem.a, options);
        ASSERT_TRUE(factor(f, problem.a.values).ok());
        EXPECT_TRUE(f.info().diagonal_only);
        EXPECT_LE(test::difference(apply(f, Apply::full, b), expected.apply(b)), test::kForwardBound);
        const CsrMatrix computed = f.copy_factor();
        EXPECT_LE(test::difference(apply(f, Apply::transposed, b), test::reference_apply(computed, kind, true, b)),
                  test::kForwardBound);
      }
    }
  }
}

TEST_P(DiagonalFactorTest, EntriesBesideTheDiagonalAreTheMatrixs) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 6, .ny = 5, .nz = 4, .wind = 0.5});
  Factorization f = factorization(a, options_for(FactorKind::ilu));
  ASSERT_TRUE(factor(f, a.values).ok());
  const CsrMatrix factors = f.copy_factor();
  std::vector<double> pivots(static_cast<std::size_t>(a.rows));
  for (int round = 0; round < 2; ++round) {
    for (Index i = 0; i < a.rows; ++i) {
      for (auto e = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]);
           e < static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i) + 1]); ++e) {
        const Index j = a.col_indices[e];
        if (j == i) pivots[static_cast<std::size_t>(i)] = factors.values[e];
        if (round == 0 || j == i) continue;
        const double own = j < i ? factors.values[e] * pivots[static_cast<std::size_t>(j)] : factors.values[e];
        EXPECT_NEAR(own, a.values[e], 1e-14 * std::abs(a.values[e]));
      }
    }
  }
}

TEST_P(DiagonalFactorTest, IsIluAndIcWhereEliminationChangesNoMore) {
  for (const Stencil stencil : {Stencil::five_point, Stencil::seven_point, Stencil::twenty_seven_point}) {
    const bool flat = stencil == Stencil::five_point;
    const CsrMatrix a = make_stencil({.stencil = stencil, .nx = 12, .ny = 11, .nz = flat ? 1 : 10});
    for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
      Factorization full = factorization(a, {.kind = kind});
      Factorization diagonal = factorization(a, options_for(kind));
      ASSERT_TRUE(factor(full, a.values).ok());
      ASSERT_TRUE(factor(diagonal, a.values).ok());
      const bool same = stencil != Stencil::twenty_seven_point;
      EXPECT_EQ(full.info().diagonal_only, same);
      EXPECT_TRUE(diagonal.info().diagonal_only);
      const double difference = test::factor_difference(diagonal.copy_factor(), full.copy_factor());
      if (same) {
        EXPECT_LE(difference, 1e-14);
      } else {
        EXPECT_GE(difference, 1e-3);
      }
    }
  }
}

TEST_P(DiagonalFactorTest, ShiftsAndZeroPivotsAreThoseOfFactors) {
  CsrMatrix a = test::tridiagonal(5, -1.0, 1.0, -1.0);  // d = 1, 0
  Factorization f = factorization(a, options_for(FactorKind::ilu));
  const FactorStatus status = factor(f, a.values);
  EXPECT_EQ(status.outcome, FactorOutcome::zero_pivot);
  EXPECT_EQ(status.first_row, 1);
  FactorOptions shifted = options_for(FactorKind::ic);
  shifted.shift = ShiftType::scaled;
  Factorization g = factorization(a, shifted);
  const FactorStatus mended = factor(g, a.values);
  EXPECT_TRUE(mended.ok());
  EXPECT_GT(mended.shift_amount, 0.0);
}

TEST_P(DiagonalFactorTest, HalvesMakeUpTheWhole) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 6, .ny = 5, .nz = 4});
  const std::vector<double> b = test::right_hand_side(a.rows);
  const std::vector<Index> rcm = reverse_cuthill_mckee(context(), a.pattern(), MemorySpace::host);
  const auto half = [&](auto&& apply, const std::vector<double>& from) {
    test::Array<double> in = place(from);
    test::Array<double> out = place(std::vector<double>(from.size()));
    apply(in.data(), out.data());
    return out.read();
  };
  for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
    for (const bool diagonal_only : {false, true}) {
      for (const std::vector<Index>& order : {std::vector<Index>{}, rcm}) {
        FactorOptions options;
        options.kind = kind;
        options.diagonal_only = diagonal_only;
        Factorization f = factorization(a, options, order, order);
        ASSERT_TRUE(factor(f, a.values).ok());
        // M⁻¹ = (E + U)⁻¹ E (E + L)⁻¹
        test::Array<double> pivots = place(std::vector<double>(b.size()));
        f.pivots(pivots.data(), space(), stream());
        const std::vector<double> e = pivots.read();
        std::vector<double> middle =
            half([&](const double* from, double* to) { f.solve_lower(from, to, space(), stream()); }, b);
        for (std::size_t i = 0; i < e.size(); ++i) middle[i] *= e[i];
        const std::vector<double> x =
            half([&](const double* from, double* to) { f.solve_upper(from, to, space(), stream()); }, middle);
        EXPECT_LE(test::difference(x, apply(f, Apply::full, b)), test::kForwardBound);
        const std::vector<double> back =
            half([&](const double* from, double* to) { f.multiply_upper(from, to, space(), stream()); }, x);
        EXPECT_LE(test::difference(back, middle), test::kForwardBound);
        test::Array<double> same = place(b);
        EXPECT_THROW(f.solve_lower(same.data(), same.data(), space(), stream()), InvalidInput);
      }
    }
  }
}

TEST_P(DiagonalFactorTest, HalvesNeedOneOrder) {
  const CsrMatrix full{3, 3, {0, 3, 6, 9}, {0, 1, 2, 0, 1, 2, 0, 1, 2}, {4, 1, 1, 1, 5, 1, 1, 1, 6}};
  Factorization two = factorization(full, {}, {1, 0, 2}, {});
  ASSERT_TRUE(factor(two, full.values).ok());
  test::Array<double> b = place(std::vector<double>(3, 1.0));
  test::Array<double> x = place(std::vector<double>(3));
  EXPECT_THROW(two.solve_upper(b.data(), x.data(), space(), stream()), InvalidInput);
  EXPECT_THROW(two.pivots(x.data(), space(), stream()), InvalidInput);
}

TEST_P(DiagonalFactorTest, HasNoLevelsOfFill) {
  const CsrMatrix a = test::tridiagonal(5, -1.0, 2.0, -1.0);
  FactorOptions options = options_for(FactorKind::ilu);
  options.levels = 1;
  EXPECT_THROW(factorization(a, options), InvalidInput);
}

}  // namespace
}  // namespace taskdag

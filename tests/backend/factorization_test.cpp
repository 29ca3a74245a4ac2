// Incomplete factorisations and their application on both backends.
#include <cmath>
#include <limits>

#include "backends.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "support/effort.hpp"

namespace taskdag {
namespace {

using test::Problem;

TASKDAG_BACKEND_SUITE(FactorizationTest, test::everywhere_and_one_block());

constexpr FactorKind kKinds[] = {FactorKind::ilu, FactorKind::ic};

std::string to_text(const Problem& problem, FactorKind kind) {
  return problem.name + (kind == FactorKind::ic ? ", ic0" : ", ilu0");
}

TEST_P(FactorizationTest, FactorsMatchTheReference) {
  for (const Problem& problem : test::small_problems()) {
    for (const FactorKind kind : kKinds) {
      SCOPED_TRACE(to_text(problem, kind));
      Factorization f = factorization(problem.a, {.kind = kind});
      const FactorStatus status = factor(f, problem.a.values);
      EXPECT_TRUE(status.ok());
      EXPECT_EQ(status.first_row, -1);
      EXPECT_EQ(status.last_row, -1);
      EXPECT_EQ(status.shifts, 0);
      EXPECT_EQ(status.shift_amount, 0.0);
      FactorStatus unused;
      const CsrMatrix computed = f.copy_factor();
      EXPECT_LE(test::factor_difference(computed, test::reference_factor(problem.a, {.kind = kind}, 0.0, unused)),
                test::kForwardBound);
      EXPECT_LE(test::factor_error(problem.a, computed, kind), 1.0);
      EXPECT_EQ(f.info().rows, problem.a.rows);
      EXPECT_EQ(f.info().entries, computed.entries());
    }
  }
}

/// `a` with entries of the first row and the first column in the first `reach` rows; its diagonal dominates.
CsrMatrix with_long_first_row(const CsrMatrix& a, Index reach) {
  CsrMatrix result{a.rows, a.rows, {0}, {}, {}};
  const auto put = [&](Index column, double value) {
    result.col_indices.push_back(column);
    result.values.push_back(value);
  };
  for (Index i = 0; i < a.rows; ++i) {
    const auto begin = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]);
    const auto end = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i) + 1]);
    if (i > 0 && i < reach && a.col_indices[begin] != 0) put(0, -0.25);
    for (std::size_t e = begin; e < end; ++e) {
      if (i == 0 && a.col_indices[e] > 0) break;  // they come below
      put(a.col_indices[e], a.values[e]);
    }
    for (Index j = 1; i == 0 && j < reach; ++j) put(j, -0.25);
    result.row_offsets.push_back(static_cast<Offset>(result.values.size()));
  }
  return test::made_dominant(std::move(result));
}

// On CUDA rows of this grid stay in registers: beside them rows that are too long for that, without pivot rows and with
// them, and one whose entries a byte cannot count.
TEST_P(FactorizationTest, LongRowsAmongShortOnesWithManyUpdates) {
  const CsrMatrix grid = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 9, .ny = 9, .nz = 9});
  std::vector<Index> reversed(static_cast<std::size_t>(grid.rows));
  for (Index i = 0; i < grid.rows; ++i) reversed[static_cast<std::size_t>(i)] = grid.rows - 1 - i;
  for (const Index reach : {28, 40, 97, 150, 250, 256, 400}) {
    const CsrMatrix first = with_long_first_row(grid, reach);
    for (const CsrMatrix& a : {first, test::permuted(first, reversed, reversed)}) {
      for (const FactorKind kind : kKinds) {
        SCOPED_TRACE(to_text({"reach " + std::to_string(reach), {}}, kind));
        Factorization f = factorization(a, {.kind = kind});
        ASSERT_TRUE(factor(f, a.values).ok());
        FactorStatus unused;
        const CsrMatrix expected = test::reference_factor(a, {.kind = kind}, 0.0, unused);
        EXPECT_LE(test::factor_difference(f.copy_factor(), expected), test::kForwardBound);
        ASSERT_TRUE(factor(f, a.values).ok());
        EXPECT_LE(test::factor_difference(f.copy_factor(), expected), test::kForwardBound);
      }
    }
  }
}

/// Problems most of whose rows have updates, with more rows than a GPU has warps; rows of the second and the third have
/// up to 54 and 81 entries, 27 and 40 pivot rows, those of the last entries that the matrix has not.
struct LargeProblem {
  const char* name;
  StencilSpec grid;
  Index levels;
};
std::vector<LargeProblem> large_problems() {
  constexpr Index kSize = 30 / test::kSmaller;
  const auto coupled = [](Index unknowns) {
    return StencilSpec{.stencil = Stencil::twenty_seven_point,
                       .nx = kSize / 2,
                       .ny = kSize / 2,
                       .nz = kSize / 2,
                       .unknowns_per_node = unknowns};
  };
  return {{"27-point", {.stencil = Stencil::twenty_seven_point, .nx = kSize, .ny = kSize, .nz = kSize}, 0},
          {"27-point, 2 unknowns", coupled(2), 0},
          {"27-point, 3 unknowns", coupled(3), 0},
          {"7-point, 2 levels of fill",
           {.stencil = Stencil::seven_point, .nx = kSize, .ny = kSize, .nz = kSize, .wind = 1.5},
           2}};
}

TEST_P(FactorizationTest, ManyRowsWithUpdates) {
  for (const LargeProblem& problem : large_problems()) {
    const CsrMatrix a = make_stencil(problem.grid);
    std::vector<CsrMatrix> matrices(2, a);
    matrices[1].values = test::other_values(a.values);
    matrices[1] = test::made_dominant(matrices[1]);
    for (const FactorKind kind : kKinds) {
      for (const ShiftType shift : {ShiftType::none, ShiftType::nonzero}) {
        SCOPED_TRACE(to_text({problem.name, {}}, kind) + (shift == ShiftType::none ? "" : ", shift"));
        const FactorOptions options{.kind = kind, .shift = shift, .levels = problem.levels};
        Factorization f = factorization(a, options);
        for (const CsrMatrix& matrix : matrices) {
          ASSERT_TRUE(factor(f, matrix.values).ok());
          FactorStatus unused;
          const CsrMatrix expected = test::reference_factor(test::with_fill(matrix, options), options, 0.0, unused);
          EXPECT_LE(test::factor_difference(f.copy_factor(), expected), test::kForwardBound);
        }
      }
    }
  }
}

// A row that is not finite, or has no pivot, is found among many; the next factorisation is none the worse for it.
TEST_P(FactorizationTest, BadRowsAmongManyWithUpdates) {
  for (const LargeProblem& problem : large_problems()) {
    const CsrMatrix a = make_stencil(problem.grid);
    const Index row = a.rows / 3;
    const auto begin = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row)]);
    const auto end = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row) + 1]);
    for (const FactorKind kind : kKinds) {
      const FactorOptions options{.kind = kind, .levels = problem.levels};
      Factorization f = factorization(a, options);
      ASSERT_TRUE(factor(f, a.values).ok());
      const CsrMatrix good = f.copy_factor();
      for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(), 0.0}) {
        SCOPED_TRACE(to_text({problem.name, {}}, kind) + ", " + std::to_string(bad));
        CsrMatrix changed = a;
        for (std::size_t e = begin; e < end; ++e) {
          if (bad == 0.0 || a.col_indices[e] == row + 1) changed.values[e] = bad;
        }
        FactorStatus expected;
        static_cast<void>(test::reference_factor(test::with_fill(changed, options), options, 0.0, expected));
        const FactorStatus status = factor(f, changed.values);
        EXPECT_EQ(status.ok(), kind == FactorKind::ic && bad == 0.0) << "ic has a column above the diagonal left";
        EXPECT_EQ(status.outcome, expected.outcome);
        EXPECT_EQ(status.first_row, expected.first_row);
        ASSERT_TRUE(factor(f, a.values).ok());
        EXPECT_LE(test::factor_difference(f.copy_factor(), good), test::kForwardBound);
      }
    }
  }
}

TEST_P(FactorizationTest, ApplicationsMatchTheReference) {
  for (const Problem& problem : test::small_problems()) {
    for (const FactorKind kind : kKinds) {
      Factorization f = factorization(problem.a, {.kind = kind});
      ASSERT_TRUE(factor(f, problem.a.values).ok());
      const CsrMatrix computed = f.copy_factor();
      const std::vector<double> b = test::right_hand_side(problem.a.rows);
      for (const bool transposed : {false, true}) {
        SCOPED_TRACE(to_text(problem, kind) + (transposed ? ", transposed" : ""));
        const Apply part = transposed ? Apply::transposed : Apply::full;
        const std::vector<double> x = apply(f, part, b);
        EXPECT_LE(test::difference(x, test::reference_apply(computed, kind, transposed, b)), test::kForwardBound);
        EXPECT_LE(test::apply_error(computed, kind, transposed, b, x), 1.0);
        EXPECT_TRUE(test::same_bits(apply_in_place(f, part, b), x));
        EXPECT_TRUE(test::same_bits(apply(f, part, b), x));
      }
      EXPECT_EQ(f.outcome(), SolveOutcome::success);
    }
  }
}

TEST_P(FactorizationTest, SymmetricPartsAreTheHalvesOfTheApplication) {
  for (const Problem& problem : test::small_problems()) {
    SCOPED_TRACE(problem.name);
    Factorization f = factorization(problem.a, {.kind = FactorKind::ic});
    ASSERT_TRUE(factor(f, problem.a.values).ok());
    const CsrMatrix computed = f.copy_factor();
    const std::vector<double> b = test::right_hand_side(problem.a.rows);
    std::vector<double> left = test::reference_solve(computed, {Triangle::upper, true, true}, b);
    for (std::size_t i = 0; i < left.size(); ++i) {
      left[i] /= std::sqrt(computed.values[static_cast<std::size_t>(computed.row_offsets[i])]);
    }
    EXPECT_LE(test::difference(apply(f, Apply::symmetric_left, b), left), test::kForwardBound);
    EXPECT_LE(test::difference(apply_in_place(f, Apply::symmetric_right, left), apply(f, Apply::full, b)),
              test::kForwardBound);
  }
}

TEST_P(FactorizationTest, RepeatedFactorisationsGiveTheSameBits) {
  for (const Problem& problem : test::small_problems()) {
    for (const FactorKind kind : kKinds) {
      SCOPED_TRACE(to_text(problem, kind));
      Factorization f = factorization(problem.a, {.kind = kind});
      ASSERT_TRUE(factor(f, problem.a.values).ok());
      const CsrMatrix first = f.copy_factor();
      for (int repeat = 0; repeat < 3; ++repeat) {
        ASSERT_TRUE(factor(f, problem.a.values).ok());
        EXPECT_TRUE(test::same_bits(f.copy_factor().values, first.values));
      }
    }
  }
}

TEST_P(FactorizationTest, NewValuesEqualAFreshFactorisation) {
  for (const Problem& problem : test::small_problems()) {
    CsrMatrix other = problem.a;
    other.values = test::other_values(problem.a.values);
    other = test::made_dominant(other);
    const std::vector<double> b = test::right_hand_side(problem.a.rows);
    for (const FactorKind kind : kKinds) {
      SCOPED_TRACE(to_text(problem, kind));
      std::vector<Apply> parts = {Apply::full, Apply::transposed};
      if (kind == FactorKind::ic) parts.insert(parts.end(), {Apply::symmetric_left, Apply::symmetric_right});
      Factorization used = factorization(problem.a, {.kind = kind});
      ASSERT_TRUE(factor(used, problem.a.values).ok());
      for (const Apply part : parts) static_cast<void>(apply(used, part, b));
      ASSERT_TRUE(factor(used, other.values).ok());
      Factorization fresh = factorization(other, {.kind = kind});
      ASSERT_TRUE(factor(fresh, other.values).ok());
      if (GetParam().backend == Backend::host || kind == FactorKind::ic) {
        EXPECT_TRUE(test::same_bits(used.copy_factor().values, fresh.copy_factor().values));
        for (const Apply part : parts) EXPECT_TRUE(test::same_bits(apply(used, part, b), apply(fresh, part, b)));
      } else {
        // What the sweeps alone hold may lose a unit in the last place on its way back, and `fresh` asks for it later.
        EXPECT_LE(test::difference(used.copy_factor().values, fresh.copy_factor().values), 1e-15);
        for (const Apply part : parts) EXPECT_LE(test::difference(apply(used, part, b), apply(fresh, part, b)), 1e-13);
      }
    }
  }
}

TEST_P(FactorizationTest, Ic0DoesNotLookAtTheLowerTriangle) {
  CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 8});
  Factorization f = factorization(a, {.kind = FactorKind::ic});
  ASSERT_TRUE(factor(f, a.values).ok());
  const CsrMatrix expected = f.copy_factor();
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) {
    for (auto e = static_cast<std::size_t>(a.row_offsets[i]); static_cast<std::size_t>(a.col_indices[e]) < i; ++e) {
      a.values[e] = std::nan("");
    }
  }
  EXPECT_TRUE(factor(f, a.values).ok());
  EXPECT_TRUE(test::same_bits(f.copy_factor().values, expected.values));
}

/// The upper triangle of `a`, below it the columns of lower(i).
template <class Lower>
CsrMatrix with_lower(const CsrMatrix& a, const Lower& lower) {
  CsrMatrix b;
  b.rows = b.cols = a.rows;
  for (Index i = 0; i < a.rows; ++i) {
    for (const Index j : lower(i)) {
      b.col_indices.push_back(j);
      b.values.push_back(std::nan(""));
    }
    for (auto e = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i) + 1]); ++e) {
      if (a.col_indices[e] < i) continue;
      b.col_indices.push_back(a.col_indices[e]);
      b.values.push_back(a.values[e]);
    }
    b.row_offsets.push_back(static_cast<Offset>(b.col_indices.size()));
  }
  return b;
}

TEST_P(FactorizationTest, Ic0TakesAnyPatternBelowTheDiagonal) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 9, .ny = 8, .nz = 7});
  Factorization f = factorization(a, {.kind = FactorKind::ic});
  ASSERT_TRUE(factor(f, a.values).ok());
  const std::vector<double> b = test::right_hand_side(a.rows);
  const auto nothing = [](Index) { return std::vector<Index>(); };
  // As many entries as above the diagonal, in other places.
  std::vector<std::vector<Index>> above(static_cast<std::size_t>(a.rows));
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_offsets[static_cast<std::size_t>(i)]; e < a.row_offsets[static_cast<std::size_t>(i) + 1];
         ++e) {
      const Index j = a.col_indices[static_cast<std::size_t>(e)];
      if (j < i) above[static_cast<std::size_t>(i)].push_back(j);
    }
  }
  auto moved = above;
  moved.back().front() -= 1;
  for (const CsrMatrix& other :
       {with_lower(a, nothing), with_lower(a, [&](Index i) { return moved[static_cast<std::size_t>(i)]; }),
        with_lower(a, [&](Index i) { return above[static_cast<std::size_t>(i)]; })}) {
    SCOPED_TRACE(other.entries());
    Factorization g = factorization(other, {.kind = FactorKind::ic});
    ASSERT_TRUE(factor(g, other.values).ok());
    EXPECT_TRUE(test::same_bits(g.copy_factor().values, f.copy_factor().values));
    EXPECT_EQ(g.copy_factor().col_indices, f.copy_factor().col_indices);
    EXPECT_TRUE(test::same_bits(apply(g, Apply::full, b), apply(f, Apply::full, b)));
    EXPECT_EQ(g.info().entries, f.info().entries);
  }
}

TEST_P(FactorizationTest, ManyVectorsEqualOneByOne) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 30, .ny = 30});
  constexpr std::ptrdiff_t kLdb = 903;
  constexpr std::ptrdiff_t kLdx = 911;
  Factorization f = factorization(a, {});
  ASSERT_TRUE(factor(f, a.values).ok());
  const std::vector<double> b = test::right_hand_side(3 * kLdb);
  for (const Apply part : {Apply::full, Apply::transposed}) {
    test::Array<double> in = place(b);
    test::Array<double> out = place(std::vector<double>(3 * kLdx, -7.0));
    f.apply_many(part, 3, in.data(), kLdb, out.data(), kLdx, space(), stream());
    const std::vector<double> x = out.read();
    for (std::ptrdiff_t k = 0; k < 3; ++k) {
      const std::vector<double> one = apply(f, part, {b.begin() + k * kLdb, b.begin() + k * kLdb + a.rows});
      EXPECT_LE(test::difference({x.begin() + k * kLdx, x.begin() + k * kLdx + a.rows}, one), test::kForwardBound);
      for (std::ptrdiff_t gap = k * kLdx + a.rows; gap < (k + 1) * kLdx; ++gap) {
        EXPECT_EQ(x[static_cast<std::size_t>(gap)], -7.0) << "between the vectors, " << gap;
      }
    }
    f.apply_many(part, 0, nullptr, 0, nullptr, 0, space(), stream());
  }
}

TEST_P(FactorizationTest, InfoCountsLevelsAndMemory) {
  const CsrMatrix grid = make_stencil({.stencil = Stencil::five_point, .nx = 7, .ny = 5});
  for (const FactorKind kind : kKinds) {
    const Factorization f = factorization(grid, {.kind = kind});
    EXPECT_EQ(f.info().rows, 35);
    EXPECT_EQ(f.info().entries, kind == FactorKind::ic ? (grid.entries() + 35) / 2 : grid.entries());
    EXPECT_EQ(f.info().lower_levels, 11);
    EXPECT_EQ(f.info().upper_levels, 11);
    EXPECT_GT(f.info().bytes, 0);
    EXPECT_GE(f.info().numeric_bytes, 0);
    EXPECT_LT(f.info().numeric_bytes, f.info().bytes);
  }
}

TEST_P(FactorizationTest, FactorisationsCanBeMoved) {
  const CsrMatrix a = test::tridiagonal(33, -1, 3, -1);
  const std::vector<double> b = test::right_hand_side(33);
  Factorization first = factorization(a, {});
  ASSERT_TRUE(factor(first, a.values).ok());
  const std::vector<double> x = apply(first, Apply::full, b);
  Factorization second = std::move(first);
  EXPECT_TRUE(test::same_bits(apply(second, Apply::full, b), x));
}

}  // namespace
}  // namespace taskdag

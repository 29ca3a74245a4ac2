// One set of tests for every backend and thread count. Norms: solves ‖x − x_ref‖∞ / ‖x_ref‖∞; factors entrywise,
// relative to the largest entry of the reference row. The bound is 1e-12 in both.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/ic0/reference.hpp"
#include "kernels/ilu0/reference.hpp"
#include "kernels/jacobi/reference.hpp"
#include "kernels/sptrsv/reference.hpp"
#include "taskdag/taskdag.hpp"

namespace taskdag {
namespace {

constexpr double kBound = 1e-12;
constexpr auto kHost = MemorySpace::host;

struct Where {
  Backend backend;
  int threads;
};

struct Problem {
  std::string name;
  CsrMatrix a;
};

CsrMatrix tridiagonal(Index n, double low, double diagonal, double high) {
  CsrMatrix a{n, n, {0}, {}, {}};
  for (Index i = 0; i < n; ++i) {
    for (Index j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j) {
      const double value = j < i ? low : (j == i ? diagonal : high);
      if (value == 0.0) continue;
      a.col_indices.push_back(j);
      a.values.push_back(value);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.values.size()));
  }
  return a;
}

CsrMatrix arrow(Index n) {
  CsrMatrix a{n, n, {0}, {}, {}};
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      if (i != j && i != n - 1 && j != n - 1) continue;
      a.col_indices.push_back(j);
      a.values.push_back(i == j ? n : -1.0 / (1 + j));
    }
    a.row_offsets.push_back(static_cast<Offset>(a.values.size()));
  }
  return a;
}

std::vector<Problem> problems() {
  // The tridiagonal stays strictly dominant when ic0 mirrors its upper triangle: without that, rounding alone exceeds
  // the bound (condition number ~ n²).
  std::vector<Problem> result;
  for (const Index n : {0, 1, 2, 5, 33, 1500}) {
    result.push_back({"tridiagonal " + std::to_string(n), tridiagonal(n, -1, 2.75, -1.25)});
  }
  result.push_back({"chain", tridiagonal(5000, -0.5, 1, 0)});
  result.push_back({"diagonal", tridiagonal(2000, 0, 3, 0)});
  result.push_back({"arrow", arrow(1200)});
  result.push_back({"5-point", make_stencil({.stencil = Stencil::five_point, .nx = 60, .ny = 50})});
  result.push_back(
      {"7-point wind", make_stencil({.stencil = Stencil::seven_point, .nx = 14, .ny = 13, .nz = 12, .wind = 1.5})});
  result.push_back(
      {"27-point, 3 unknowns",
       make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 6, .ny = 6, .nz = 6, .unknowns_per_node = 3})});
  return result;
}

std::vector<double> right_hand_side(Index n) {
  std::vector<double> b(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1.0 + 0.5 * std::sin(0.7 * static_cast<double>(i));
  return b;
}

double difference(const std::vector<double>& x, const std::vector<double>& reference) {
  double error = 0;
  double size = std::numeric_limits<double>::min();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(std::abs(x[i] - reference[i]) <= error)) error = std::abs(x[i] - reference[i]);
    size = std::max(size, std::abs(reference[i]));
  }
  return error / size;
}

double factor_difference(const CsrMatrix& f, const CsrMatrix& reference) {
  if (f.col_indices != reference.col_indices || f.row_offsets != reference.row_offsets) return 1.0;
  double worst = 0;
  for (std::size_t i = 0; i + 1 < f.row_offsets.size(); ++i) {
    const std::vector<double> row(f.values.begin() + f.row_offsets[i], f.values.begin() + f.row_offsets[i + 1]);
    const std::vector<double> expected(reference.values.begin() + f.row_offsets[i],
                                       reference.values.begin() + f.row_offsets[i + 1]);
    worst = std::max(worst, difference(row, expected));
  }
  return worst;
}

std::vector<double> reference_apply(const CsrMatrix& f, FactorKind kind, bool transposed, std::vector<double> b) {
  std::vector<double> x(b.size());
  const auto solve = [&](Triangle triangle, bool unit, bool turn) {
    kernels::reference_sptrsv(f.view(), {triangle, unit, turn}, b.data(), x.data());
    b = x;
  };
  if (kind == FactorKind::ic0) {
    solve(Triangle::upper, true, true);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] /= f.values[static_cast<std::size_t>(f.row_offsets[i])];
    solve(Triangle::upper, true, false);
  } else if (transposed) {
    solve(Triangle::upper, false, true);
    solve(Triangle::lower, true, true);
  } else {
    solve(Triangle::lower, true, false);
    solve(Triangle::upper, false, false);
  }
  return x;
}

class Backends : public testing::TestWithParam<Where> {
 protected:
  void SetUp() override {
    if (GetParam().backend == Backend::cuda && probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  }
  static Context context() { return Context::create({.backend = GetParam().backend, .threads = GetParam().threads}); }
};

TEST_P(Backends, TriangularSolvesMatchTheReferenceAndRepeatBitwise) {
  const Context c = context();
  for (const Problem& problem : problems()) {
    for (int bits = 0; bits < 8; ++bits) {
      const TriangularOptions options{(bits & 1) != 0 ? Triangle::upper : Triangle::lower, (bits & 2) != 0,
                                      (bits & 4) != 0};
      SCOPED_TRACE(problem.name + " " + std::to_string(bits));
      TriangularSolver solver(c, problem.a.view(), kHost, options);
      const std::vector<double> b = right_hand_side(problem.a.rows);
      // With a unit diagonal some of the matrices grow without bound; then only the finite ones are compared.
      std::vector<double> expected(b.size());
      kernels::reference_sptrsv(problem.a.view(), options, b.data(), expected.data());
      if (!std::ranges::all_of(expected, [](double v) { return std::isfinite(v); })) continue;
      std::vector<double> x(b.size());
      solver.solve(b.data(), x.data(), kHost);
      EXPECT_LE(difference(x, expected), kBound);
      EXPECT_EQ(solver.outcome(), SolveOutcome::success);
      std::vector<double> in_place(b);
      solver.solve(in_place.data(), in_place.data(), kHost);
      EXPECT_EQ(in_place, x);
    }
  }
}

TEST_P(Backends, FactorsAndApplicationsMatchTheReference) {
  const Context c = context();
  for (const Problem& problem : problems()) {
    for (const FactorKind kind : {FactorKind::ilu0, FactorKind::ic0}) {
      SCOPED_TRACE(problem.name + (kind == FactorKind::ic0 ? " ic0" : " ilu0"));
      const FactorOptions options{.kind = kind};
      FactorStatus status;
      const CsrMatrix expected = kind == FactorKind::ic0
                                     ? kernels::reference_ic0(problem.a.view(), options, 0.0, status)
                                     : kernels::reference_ilu0(problem.a.view(), options, 0.0, status);
      Factorization factorization(c, problem.a.pattern(), kHost, options);
      EXPECT_TRUE(factorization.factor(problem.a.values.data(), kHost).ok());
      const CsrMatrix factor = factorization.copy_factor();
      EXPECT_LE(factor_difference(factor, expected), kBound);
      const std::vector<double> b = right_hand_side(problem.a.rows);
      std::vector<double> x(b.size());
      for (const bool transposed : {false, true}) {
        factorization.apply(transposed ? Apply::transposed : Apply::full, b.data(), x.data(), kHost);
        EXPECT_LE(difference(x, reference_apply(expected, kind, transposed, b)), kBound);
      }
      EXPECT_TRUE(factorization.factor(problem.a.values.data(), kHost).ok());
      EXPECT_EQ(factorization.copy_factor().values, factor.values);
      if (kind != FactorKind::ic0) continue;
      std::vector<double> halves(b.size());
      factorization.apply(Apply::symmetric_left, b.data(), halves.data(), kHost);
      factorization.apply(Apply::symmetric_right, halves.data(), halves.data(), kHost);
      EXPECT_LE(difference(halves, x), kBound);
    }
  }
}

TEST_P(Backends, OrderingsFactoriseThePermutedMatrix) {
  const Context c = context();
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 20, .ny = 17});
  std::vector<Index> order = reverse_cuthill_mckee(a.pattern());
  std::ranges::reverse(order);
  const std::vector<double> b = right_hand_side(a.rows);
  for (const FactorKind kind : {FactorKind::ilu0, FactorKind::ic0}) {
    Factorization factorization(c, a.pattern(), kHost, {.kind = kind}, order, order);
    ASSERT_TRUE(factorization.factor(a.values.data(), kHost).ok());
    const CsrMatrix f = factorization.copy_factor();
    std::vector<double> permuted;
    for (const Index row : order) permuted.push_back(b[static_cast<std::size_t>(row)]);
    for (const bool transposed : {false, true}) {
      const std::vector<double> z = reference_apply(f, kind, transposed, permuted);
      std::vector<double> expected(z.size());
      for (std::size_t i = 0; i < z.size(); ++i) expected[static_cast<std::size_t>(order[i])] = z[i];
      std::vector<double> x(b);
      factorization.apply(transposed ? Apply::transposed : Apply::full, x.data(), x.data(), kHost);
      EXPECT_LE(difference(x, expected), kBound);
    }
  }
}

TEST_P(Backends, ZeroPivotsAreReportedAndShiftsRepairThem) {
  const Context c = context();
  CsrMatrix a = tridiagonal(40, -1, 4, -1);
  a.values[0] = 0.0;
  for (const FactorKind kind : {FactorKind::ilu0, FactorKind::ic0}) {
    Factorization plain(c, a.pattern(), kHost, {.kind = kind});
    const FactorStatus status = plain.factor(a.values.data(), kHost);
    EXPECT_EQ(status.outcome, FactorOutcome::zero_pivot);
    EXPECT_EQ(status.first_row, 0);
    EXPECT_EQ(status.last_row, 0);
    for (const ShiftType shift : {ShiftType::nonzero, ShiftType::positive_definite, ShiftType::inblocks}) {
      Factorization shifted(c, a.pattern(), kHost, {.kind = kind, .shift = shift});
      const FactorStatus repaired = shifted.factor(a.values.data(), kHost);
      EXPECT_TRUE(repaired.ok());
      EXPECT_GE(repaired.shifts, 1);
      EXPECT_EQ(repaired.shift_amount > 0, shift != ShiftType::inblocks);
    }
  }
}

TEST_P(Backends, NonFiniteInputEndsAndIsReported) {
  const Context c = context();
  CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 40});
  for (const double bad :
       {std::bit_cast<double>(std::uint64_t{0xFFF87A5CDA600001}), std::numeric_limits<double>::infinity()}) {
    std::vector<double> b = right_hand_side(a.rows);
    b[7] = bad;
    TriangularSolver solver(c, a.view(), kHost, {});
    solver.solve(b.data(), b.data(), kHost);
    EXPECT_EQ(solver.outcome(), SolveOutcome::non_finite);
    EXPECT_EQ(solver.outcome(), SolveOutcome::success);
    CsrMatrix broken = a;
    broken.values[static_cast<std::size_t>(a.row_offsets[5])] = bad;
    Factorization factorization(c, a.pattern(), kHost, {});
    EXPECT_EQ(factorization.factor(broken.values.data(), kHost).outcome, FactorOutcome::non_finite);
  }
}

TEST_P(Backends, ManyVectorsEqualOneByOne) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 30, .ny = 30});
  Factorization factorization(context(), a.pattern(), kHost, {});
  ASSERT_TRUE(factorization.factor(a.values.data(), kHost).ok());
  const std::vector<double> b = right_hand_side(3 * 901);
  std::vector<double> x(b.size());
  factorization.apply_many(Apply::full, 3, b.data(), 901, x.data(), 901, kHost);
  for (std::ptrdiff_t k = 0; k < 3; ++k) {
    std::vector<double> one(900);
    factorization.apply(Apply::full, b.data() + k * 901, one.data(), kHost);
    EXPECT_TRUE(std::equal(one.begin(), one.end(), x.begin() + k * 901));
  }
}

TEST_P(Backends, JacobiMatchesTheReference) {
  const Context c = context();
  CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 35, .wind = 1.0});
  a.values[0] = 0.0;
  const std::vector<double> b = right_hand_side(a.rows);
  for (const JacobiDiagonal kind : {JacobiDiagonal::diagonal, JacobiDiagonal::row_max, JacobiDiagonal::row_sum}) {
    for (const int sweeps : {1, 2, 3}) {
      const JacobiOptions options{.sweeps = sweeps, .damping = 0.8, .diagonal = kind, .absolute = sweeps == 2};
      Jacobi jacobi(c, a.view(), kHost, options);
      EXPECT_EQ(jacobi.zero_diagonals(), kind == JacobiDiagonal::diagonal ? 1 : 0);
      for (const bool transposed : {false, true}) {
        std::vector<double> x(b.size());
        jacobi.apply(b.data(), x.data(), kHost, transposed);
        EXPECT_LE(difference(x, kernels::reference_jacobi(a.view(), options, b, transposed)), kBound);
      }
    }
  }
}

TEST_P(Backends, MisuseIsRefused) {
  const Context c = context();
  const CsrMatrix a = tridiagonal(6, -1, 3, -1);
  Factorization factorization(c, a.pattern(), kHost, {});
  std::vector<double> x(6, 1.0);
  EXPECT_THROW(factorization.apply(Apply::full, x.data(), x.data(), kHost), InvalidInput);
  EXPECT_TRUE(factorization.factor(a.values.data(), kHost).ok());
  EXPECT_THROW(factorization.apply(Apply::symmetric_left, x.data(), x.data(), kHost), InvalidInput);
  EXPECT_THROW(factorization.apply_many(Apply::full, 2, x.data(), 3, x.data(), 3, kHost), InvalidInput);
  if (c.backend() == Backend::host) {
    EXPECT_THROW(factorization.apply(Apply::full, x.data(), x.data(), MemorySpace::device), InvalidInput);
  }
  const CsrMatrix hollow = tridiagonal(3, 1, 0, 1);
  EXPECT_THROW(Factorization(c, hollow.pattern(), kHost, {}), InvalidInput);
}

INSTANTIATE_TEST_SUITE_P(All, Backends,
                         testing::Values(Where{Backend::host, 1}, Where{Backend::host, 2}, Where{Backend::host, 3},
                                         Where{Backend::host, 8}, Where{Backend::cuda, 0}),
                         [](const auto& parameter) {
                           return std::string(to_string(parameter.param.backend)) +
                                  std::to_string(parameter.param.threads);
                         });

}  // namespace
}  // namespace taskdag

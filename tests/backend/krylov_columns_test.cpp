// Several right-hand sides in one loop: each column is what it is in a loop of its own, bit by bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "columns.hpp"
#include "krylov_fixture.hpp"
#include "measure.hpp"
#include "taskdag/generators.hpp"
#include "taskdag/krylov.hpp"

namespace taskdag {
namespace {

using test::With;
using Vector = std::vector<double>;

struct ColumnsSetting {
  std::string name;
  KrylovOptions options;
};
std::vector<ColumnsSetting> columns_settings() {
  using M = KrylovMethod;
  using N = KrylovNorm;
  return {{"cg preconditioned", {.method = M::cg}},
          {"cg natural", {.method = M::cg, .norm = N::natural}},
          {"cg unpreconditioned", {.method = M::cg, .norm = N::unpreconditioned}},
          {"cg none", {.method = M::cg, .norm = N::none}},
          {"bicgstab left", {.method = M::bicgstab}},
          {"bicgstab right", {.method = M::bicgstab, .side = KrylovSide::right, .norm = N::unpreconditioned}}};
}

constexpr Index side = 18;
CsrMatrix columns_matrix() {
  CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = side, .ny = side});
  for (double& value : a.values) value /= 4.0;
  return a;
}
/// Of the matrix: one iteration of CG is enough for it.
Vector eigenvector() {
  Vector v;
  for (Index j = 1; j <= side; ++j) {
    for (Index i = 1; i <= side; ++i)
      v.push_back(std::sin(std::numbers::pi * i / (side + 1)) * std::sin(std::numbers::pi * j / (side + 1)));
  }
  return v;
}

/// Columns that end at different times and in different ways.
constexpr Index count = 7;
Vector mixed_columns(Index rows, std::ptrdiff_t ld) {
  Vector b = test::columns(rows, count, ld);
  const auto replace = [&](Index k, const Vector& by) { std::ranges::copy(by, b.begin() + test::at(k, ld)); };
  replace(1, Vector(static_cast<std::size_t>(rows), 0.0));
  replace(2, eigenvector());
  b[static_cast<std::size_t>(test::at(4, ld)) + 11] = std::numeric_limits<double>::quiet_NaN();
  replace(5, eigenvector());
  b[static_cast<std::size_t>(test::at(5, ld)) + 40] += 1e-3;
  return b;
}

class KrylovColumnsTest : public test::KrylovFixture {
 protected:
  struct SolvedColumns {
    std::vector<KrylovOutcome> outcomes;
    Vector x;
  };
  SolvedColumns solve_columns(Krylov& k, const Vector& b, std::ptrdiff_t ldb, const Vector& x, std::ptrdiff_t ldx,
                              bool guess, const KrylovTolerances& tolerances) const {
    test::Array<double> rhs = place(b);
    test::Array<double> solutions = place(x);
    auto outcomes = k.solve_columns(count, rhs.data(), ldb, solutions.data(), ldx, guess, tolerances, stream());
    return {std::move(outcomes), solutions.read()};
  }
  /// `all` of the system s is what a loop of one column gives for each.
  void expect_single_solves(System& s, KrylovOptions options, const Vector& b, std::ptrdiff_t ldb, const Vector& x,
                            std::ptrdiff_t ldx, bool guess, const KrylovTolerances& tolerances,
                            const SolvedColumns& all) const {
    options.columns = 1;
    Krylov one = krylov(s, options);
    ASSERT_EQ(all.outcomes.size(), static_cast<std::size_t>(count));
    for (Index c = 0; c < count; ++c) {
      SCOPED_TRACE("column " + std::to_string(c));
      const Solved alone = solve(one, test::column(b, c, ldb, s.a.rows), tolerances,
                                 guess ? test::column(x, c, ldx, s.a.rows) : Vector{});
      const KrylovOutcome& outcome = all.outcomes[static_cast<std::size_t>(c)];
      EXPECT_EQ(outcome.reason, alone.outcome.reason);
      EXPECT_EQ(outcome.iterations, alone.outcome.iterations);
      EXPECT_TRUE(test::same_bits(outcome.norms, alone.outcome.norms));
      EXPECT_TRUE(test::same_bits({outcome.norm}, {alone.outcome.norm}));
      EXPECT_TRUE(test::same_bits(test::column(all.x, c, ldx, s.a.rows), alone.x));
      for (std::ptrdiff_t i = s.a.rows; i < ldx; ++i)
        EXPECT_EQ(all.x[static_cast<std::size_t>(test::at(c, ldx) + i)], test::kGap);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(On, KrylovColumnsTest, testing::ValuesIn(test::krylov_places()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

TEST_P(KrylovColumnsTest, EachIsWhatItIsAlone) {
  const CsrMatrix a = columns_matrix();
  const std::ptrdiff_t ldb = a.rows + 5;
  const std::ptrdiff_t ldx = a.rows + 3;
  const Vector b = mixed_columns(a.rows, ldb);
  const Vector x = test::columns(a.rows, count, ldx);
  const KrylovTolerances tolerances{.relative = 1e-3, .iterations = 14};
  for (const ColumnsSetting& setting : columns_settings()) {
    for (const With with : {With::nothing, With::diagonal, With::factor}) {
      auto s = system(a, with);
      for (const KrylovForm form : forms(with)) {
        KrylovOptions options = setting.options;
        options.form = form;
        for (const Index at_a_time : {2, 3, 7, 9}) {
          options.columns = at_a_time;
          Krylov k = krylov(*s, options);
          for (const bool guess : {false, true}) {
            SCOPED_TRACE(setting.name + ", " + test::name_of(with) + ", " + to_string(form) + ", " +
                         std::to_string(at_a_time) + " at a time" + (guess ? ", guess" : ""));
            const SolvedColumns all = solve_columns(k, b, ldb, x, ldx, guess, tolerances);
            expect_single_solves(*s, options, b, ldb, x, ldx, guess, tolerances, all);
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

TEST_P(KrylovColumnsTest, EndDifferently) {
  const CsrMatrix a = columns_matrix();
  const std::ptrdiff_t ld = a.rows;
  auto s = system(a, With::nothing);
  for (const KrylovForm form : forms(With::nothing)) {
    SCOPED_TRACE(to_string(form));
    Krylov k = krylov(*s, {.form = form, .columns = count});
    const SolvedColumns all = solve_columns(k, mixed_columns(a.rows, ld), ld, test::columns(a.rows, count, ld), ld,
                                            false, {.relative = 1e-3, .iterations = 14});
    using R = KrylovReason;
    EXPECT_EQ(all.outcomes[0].reason, R::iteration_limit);
    EXPECT_EQ(all.outcomes[1].reason, R::absolute_tolerance);
    EXPECT_EQ(all.outcomes[1].iterations, 0);
    EXPECT_EQ(all.outcomes[2].reason, R::relative_tolerance);
    EXPECT_EQ(all.outcomes[2].iterations, 1);
    EXPECT_EQ(all.outcomes[4].reason, R::not_a_number);
    EXPECT_EQ(all.outcomes[5].reason, R::relative_tolerance);
    EXPECT_GT(all.outcomes[5].iterations, 1);
  }
}

/// Rows of which a worker has several, and rows that several workers share.
TEST_P(KrylovColumnsTest, OfLargerSystemsAndWideRows) {
  const Index n = GetParam().backend == Backend::host ? 14 : 68;  // on CUDA more rows than there are workers
  for (const CsrMatrix& a : {make_stencil({.stencil = Stencil::seven_point, .nx = n, .ny = n, .nz = n}),
                             test::mirrored(make_erdos_renyi_lower(500, 0.08, 7), 1.0)}) {
    auto s = system(a, With::diagonal);
    const std::ptrdiff_t ld = a.rows;
    const Vector b = test::columns(a.rows, count, ld);
    const Vector x(b.size(), 0.0);
    for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::bicgstab}) {
      SCOPED_TRACE(std::string(to_string(method)) + ", " + std::to_string(a.rows) + " rows");
      const KrylovOptions options{.method = method, .columns = count};
      Krylov k = krylov(*s, options);
      const KrylovTolerances tolerances{.relative = 1e-6, .iterations = 12};
      const SolvedColumns all = solve_columns(k, b, ld, x, ld, false, tolerances);
      expect_single_solves(*s, options, b, ld, x, ld, false, tolerances, all);
    }
  }
}

/// A factor that is applied to all columns at once: on host threads with the bits of single applications.
class FactorOfColumns final : public LinearMap {
 public:
  FactorOfColumns(Factorization& factor, MemorySpace space) : factor_(factor), space_(space) {}
  void apply(const double* x, double* y, Stream stream) override { factor_.apply(Apply::full, x, y, space_, stream); }
  void apply_columns(Index columns, const double* x, std::int64_t ldx, double* y, std::int64_t ldy,
                     Stream stream) override {
    factor_.apply_many(Apply::full, columns, x, ldx, y, ldy, space_, stream);
    ++at_once;
  }
  int at_once = 0;

 private:
  Factorization& factor_;
  MemorySpace space_;
};

TEST_P(KrylovColumnsTest, PreconditionerIsAppliedToAllAtOnce) {
  const CsrMatrix a = columns_matrix();
  const std::ptrdiff_t ld = a.rows;
  auto s = system(a, With::factor);
  FactorOfColumns map(*s->factor, space());
  const Vector b = test::columns(a.rows, count, ld);
  const KrylovTolerances tolerances{.relative = 1e-8};
  for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::bicgstab}) {
    for (const KrylovForm form : forms(With::factor)) {
      SCOPED_TRACE(std::string(to_string(method)) + ", " + to_string(form));
      KrylovOptions options{.method = method, .form = form, .columns = count};
      Krylov k(context(), s->matrix.view(), &map, options, stream());
      map.at_once = 0;
      const SolvedColumns all = solve_columns(k, b, ld, Vector(b.size(), 0.0), ld, false, tolerances);
      EXPECT_GT(map.at_once, 0);
      if (GetParam().backend == Backend::host) {
        expect_single_solves(*s, options, b, ld, {}, ld, false, tolerances, all);
        continue;
      }
      for (Index c = 0; c < count; ++c) {
        EXPECT_TRUE(all.outcomes[static_cast<std::size_t>(c)].converged());
        EXPECT_LE(test::relative_residual(a, test::column(b, c, ld, a.rows), test::column(all.x, c, ld, a.rows)), 1e-6);
      }
    }
  }
}

TEST_P(KrylovColumnsTest, ANullSpaceIsRemovedFromEach) {
  CsrMatrix a = columns_matrix();
  for (Index i = 0; i < a.rows; ++i) {
    double beside = 0.0;
    const auto row = static_cast<std::size_t>(i);
    for (Offset e = a.row_offsets[row]; e < a.row_offsets[row + 1]; ++e)
      beside += a.col_indices[static_cast<std::size_t>(e)] == i ? 0.0 : a.values[static_cast<std::size_t>(e)];
    for (Offset e = a.row_offsets[row]; e < a.row_offsets[row + 1]; ++e) {
      if (a.col_indices[static_cast<std::size_t>(e)] == i) a.values[static_cast<std::size_t>(e)] = -beside;
    }
  }
  const std::ptrdiff_t ld = a.rows;
  Vector b = test::columns(a.rows, count, ld);
  for (Index c = 0; c < count; ++c) {
    double mean = 0.0;
    for (std::ptrdiff_t i = 0; i < ld; ++i) mean += b[static_cast<std::size_t>(test::at(c, ld) + i)] / a.rows;
    for (std::ptrdiff_t i = 0; i < ld; ++i) b[static_cast<std::size_t>(test::at(c, ld) + i)] -= mean;
  }
  auto s = system(a, With::diagonal);
  Krylov k = krylov(*s, {.columns = 4});
  Krylov one = krylov(*s, {});
  k.set_null_space(true, {});
  one.set_null_space(true, {});
  const KrylovTolerances tolerances{.relative = 1e-8};
  const SolvedColumns all = solve_columns(k, b, ld, Vector(b.size(), 0.0), ld, false, tolerances);
  for (Index c = 0; c < count; ++c) {
    SCOPED_TRACE("column " + std::to_string(c));
    const Solved alone = solve(one, test::column(b, c, ld, a.rows), tolerances);
    EXPECT_TRUE(alone.outcome.converged());
    EXPECT_TRUE(test::same_bits(test::column(all.x, c, ld, a.rows), alone.x));
  }
}

TEST_P(KrylovColumnsTest, MoreIterationsThanNormsAreKept) {
  CsrMatrix line = make_stencil({.stencil = Stencil::five_point, .nx = 4000, .ny = 1});
  for (double& value : line.values) value = value > 0.0 ? 2.0 : value;  // slow to converge
  auto s = system(line, With::nothing);
  const std::ptrdiff_t ld = s->a.rows;
  test::Array<double> b = place(test::columns(s->a.rows, 2, ld));
  test::Array<double> x = place(Vector(static_cast<std::size_t>(2 * ld)));
  Krylov k = krylov(*s, {.norm = KrylovNorm::none, .columns = 2});
  for (const KrylovOutcome& one :
       k.solve_columns(2, b.data(), ld, x.data(), ld, false, {.iterations = 17000}, stream())) {
    EXPECT_EQ(one.iterations, 17000);
    EXPECT_EQ(one.norms.size(), 17001U);
  }
}

TEST_P(KrylovColumnsTest, WhatCannotBeIsRefused) {
  auto s = system(columns_matrix(), With::nothing);
  EXPECT_THROW(krylov(*s, {.columns = 0}), InvalidInput);
  EXPECT_THROW(krylov(*s, {.columns = most_krylov_columns + 1}), InvalidInput);
  for (const KrylovMethod method : {KrylovMethod::gmres, KrylovMethod::minres, KrylovMethod::richardson})
    EXPECT_THROW(krylov(*s, {.method = method, .columns = 2}), Unsupported);
  EXPECT_THROW(krylov(*s, {.columns = 2, .coefficients = true}), Unsupported);
  Krylov k = krylov(*s, {.columns = 2});
  const std::ptrdiff_t ld = s->a.rows;
  const Vector b = test::columns(s->a.rows, count, ld);
  test::Array<double> rhs = place(b);
  test::Array<double> x = place(b);
  EXPECT_THROW(static_cast<void>(k.solve_columns(-1, rhs.data(), ld, x.data(), ld, false, {}, stream())), InvalidInput);
  EXPECT_THROW(static_cast<void>(k.solve_columns(2, rhs.data(), ld - 1, x.data(), ld, false, {}, stream())),
               InvalidInput);
  EXPECT_THROW(static_cast<void>(k.solve_columns(2, rhs.data(), ld, x.data(), ld - 1, false, {}, stream())),
               InvalidInput);
  EXPECT_THROW(static_cast<void>(k.begin(rhs.data(), x.data(), false, {}, stream())), InvalidInput);
  EXPECT_TRUE(k.solve_columns(0, rhs.data(), ld, x.data(), ld, false, {}, stream()).empty());
  EXPECT_TRUE(k.solve(rhs.data(), x.data(), false, {}, stream()).converged());
}

}  // namespace
}  // namespace taskdag

// Conjugate gradients as a loop on both backends.
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "krylov_fixture.hpp"
#include "measure.hpp"
#include "problems.hpp"

namespace taskdag {
namespace {

using test::dot;
using test::relative_residual;
using test::residual;
using test::With;

constexpr With kPreconditioners[] = {With::nothing, With::diagonal, With::factor};
constexpr KrylovNorm kNorms[] = {KrylovNorm::preconditioned, KrylovNorm::unpreconditioned, KrylovNorm::natural};

/// The textbook's method: norms of all iterations.
std::vector<double> reference_norms(const CsrMatrix& a,
                                    const std::function<std::vector<double>(const std::vector<double>&)>& m,
                                    KrylovNorm norm, const std::vector<double>& b, std::vector<double> x,
                                    std::size_t iterations) {
  std::vector<double> r = residual(a, b, x);
  std::vector<double> z = m(r);
  std::vector<double> p = z;
  std::vector<double> w(b.size());
  double rz = dot(r, z);
  const auto value = [&] {
    return std::sqrt(norm == KrylovNorm::natural ? rz : norm == KrylovNorm::unpreconditioned ? dot(r, r) : dot(z, z));
  };
  std::vector<double> norms{value()};
  for (std::size_t k = 0; k < iterations; ++k) {
    multiply(a.view(), p, w);
    const double alpha = rz / dot(p, w);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * w[i];
    }
    z = m(r);
    const double before = rz;
    rz = dot(r, z);
    for (std::size_t i = 0; i < x.size(); ++i) p[i] = z[i] + rz / before * p[i];
    norms.push_back(value());
  }
  return norms;
}

class KrylovTest : public test::KrylovFixture {};
INSTANTIATE_TEST_SUITE_P(On, KrylovTest, testing::ValuesIn(test::krylov_places()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

CsrMatrix grid(Index n) { return make_stencil({.stencil = Stencil::five_point, .nx = n, .ny = n}); }

TEST_P(KrylovTest, NormsAreThoseOfTheTextbook) {
  const CsrMatrix a = grid(33);  // enough for three threads
  const std::vector<double> b = test::right_hand_side(a.rows);
  const std::vector<double> zero(b.size(), 0.0);
  for (const With with : kPreconditioners) {
    for (const KrylovNorm norm : kNorms) {
      for (const bool guess : {false, true}) {
        SCOPED_TRACE(std::string(name_of(with)) + ", norm " + std::to_string(static_cast<int>(norm)) +
                     (guess ? ", a guess" : ""));
        auto s = system(a, with);
        Krylov k = krylov(*s, {.norm = norm});
        const std::vector<double> start = guess ? test::right_hand_side(a.rows) : zero;
        const Solved solved = solve(k, b, {.relative = 1e-9}, guess ? start : std::vector<double>{});
        EXPECT_EQ(solved.outcome.reason, KrylovReason::relative_tolerance);
        EXPECT_LE(relative_residual(a, b, solved.x), 1e-6);
        const std::vector<double> expected =
            reference_norms(a, preconditioner(*s, with), norm, b, start, solved.outcome.norms.size() - 1);
        ASSERT_EQ(solved.outcome.norms.size(), static_cast<std::size_t>(solved.outcome.iterations) + 1);
        for (std::size_t n = 0; n < expected.size(); ++n) {
          EXPECT_NEAR(solved.outcome.norms[n], expected[n], 1e-6 * expected[n] + 1e-10 * expected[0])
              << "iteration " << n;
        }
        EXPECT_EQ(solved.outcome.norm, solved.outcome.norms.back());
      }
    }
  }
}

TEST_P(KrylovTest, EveryFormGivesTheSameBits) {
  for (const CsrMatrix& a : {grid(20), test::mirrored(make_erdos_renyi_lower(900, 0.02, 7), 1.0), test::arrow(300)}) {
    const std::vector<double> b = test::right_hand_side(a.rows);
    for (const With with : kPreconditioners) {
      auto s = system(a, with);
      std::optional<Solved> first;
      for (const KrylovForm form : forms(with)) {
        SCOPED_TRACE(std::string(name_of(with)) + ", " + to_string(form));
        Krylov k = krylov(*s, {.form = form});
        EXPECT_EQ(k.info().form, form);
        for (int repeat = 0; repeat < 20; ++repeat) {
          const Solved solved = solve(k, b, {.relative = 1e-8});
          if (!first) first = solved;
          ASSERT_EQ(solved.x, first->x);
          ASSERT_EQ(solved.outcome.norms, first->outcome.norms);
        }
        EXPECT_TRUE(first->outcome.converged());
      }
    }
  }
}

TEST_P(KrylovTest, PiecesGiveWhatOneSolveGives) {
  const CsrMatrix a = grid(25);
  const std::vector<double> b = test::right_hand_side(a.rows);
  for (const With with : kPreconditioners) {
    auto s = system(a, with);
    for (const KrylovForm form : forms(with)) {
      SCOPED_TRACE(std::string(name_of(with)) + ", " + to_string(form));
      Krylov k = krylov(*s, {.form = form});
      const Solved whole = solve(k, b, {});
      for (const std::int64_t at_a_time : {1, 7}) expect_pieces(k, b, {}, at_a_time, whole);
    }
  }
}

/// Driven by the host, a loop calls the preconditioner in each iteration.
TEST_P(KrylovTest, WhatThePreconditionerLaunchesCanChangeInASolve) {
  const CsrMatrix a = grid(25);
  auto b = place(test::right_hand_side(a.rows));
  auto x = place(std::vector<double>(static_cast<std::size_t>(a.rows)));
  auto first = system(a, With::factor);
  auto other = system(a, With::factor);
  factor(*other->factor, test::made_dominant(a).values);
  LinearMap* now = nullptr;
  const auto apply = [&now](const double* from, double* to, Stream stream) { now->apply(from, to, stream); };
  FunctionMap<decltype(apply)> map(apply);
  const auto norms = [&](KrylovForm form, bool changes) {
    now = first->map.get();
    Krylov k(context(), first->matrix.view(), &map, {.form = form}, stream());
    k.begin(b.data(), x.data(), false, {.relative = 1e-10}, stream());
    EXPECT_EQ(k.go_on(7, stream()).reason, KrylovReason::iterating);
    if (changes) now = other->map.get();
    k.capture_anew();
    KrylovOutcome outcome = k.go_on(1000, stream());
    k.end(stream());
    return outcome.norms;
  };
  std::optional<std::vector<double>> expected;
  for (const KrylovForm form : forms(With::factor)) {
    SCOPED_TRACE(to_string(form));
    const std::vector<double> changed = norms(form, true);
    EXPECT_NE(changed, norms(form, false));
    if (!expected) expected = changed;
    EXPECT_EQ(changed, *expected);
  }
}

TEST_P(KrylovTest, FewRowsAreLeftToOneThread) {
  if (GetParam().backend != Backend::host) GTEST_SKIP() << "has no host threads";
  const CsrMatrix a = grid(12);
  const std::vector<double> b = test::right_hand_side(a.rows);
  auto s = system(a, With::diagonal);
  Krylov on_three = krylov(*s, {});
  Krylov on_one(Context::create({.backend = Backend::host, .threads = 1}), a.view(), s->map.get(), {});
  const Solved expected = solve(on_one, b, {});
  const Solved solved = solve(on_three, b, {});
  EXPECT_EQ(solved.outcome.norms, expected.outcome.norms);
  EXPECT_EQ(solved.x, expected.x);
}

TEST_P(KrylovTest, EndsOnEveryInput) {
  const CsrMatrix a = grid(12);
  const std::vector<double> b = test::right_hand_side(a.rows);
  std::vector<double> bad = b;
  bad[17] = std::numeric_limits<double>::quiet_NaN();
  CsrMatrix infinite = a;
  infinite.values[40] = std::numeric_limits<double>::infinity();
  CsrMatrix negative = a;
  for (Offset e = negative.row_offsets[50]; e < negative.row_offsets[51]; ++e) {
    negative.values[static_cast<std::size_t>(e)] *= -100.0;
  }
  for (const With with : {With::nothing, With::diagonal}) {
    for (const KrylovForm form : forms(with)) {
      SCOPED_TRACE(std::string(name_of(with)) + ", " + to_string(form));
      auto s = system(a, with);
      Krylov k = krylov(*s, {.form = form});
      expect_ends(k, b, bad);
      EXPECT_GE(solve(k, b, {.relative = 0.5, .least_iterations = 9}).outcome.iterations, 9);
      // After all that a solve is what it was.
      EXPECT_LE(relative_residual(a, b, solve(k, b, {.relative = 1e-10}).x), 1e-8);
      auto broken = system(infinite, with);
      Krylov on_broken = krylov(*broken, {.form = form});
      EXPECT_EQ(solve(on_broken, b, {}).outcome.reason, KrylovReason::not_a_number);
      auto indefinite = system(negative, With::nothing);
      Krylov on_indefinite = krylov(*indefinite, {.form = form});
      EXPECT_EQ(solve(on_indefinite, b, {}).outcome.reason, KrylovReason::indefinite_matrix);
    }
  }
}

TEST_P(KrylovTest, WithoutANormAllIterationsAreMade) {
  const CsrMatrix a = grid(12);
  const std::vector<double> b = test::right_hand_side(a.rows);
  for (const KrylovForm form : forms(With::diagonal)) {
    auto s = system(a, With::diagonal);
    Krylov k = krylov(*s, {.norm = KrylovNorm::none, .form = form});
    const Solved solved = solve(k, b, {.iterations = 8});
    EXPECT_EQ(solved.outcome.reason, KrylovReason::iterations);
    EXPECT_EQ(solved.outcome.iterations, 8);
  }
}

TEST_P(KrylovTest, TakesOtherValuesAndVectors) {
  CsrMatrix a = grid(15);
  auto s = system(a, With::diagonal);
  Krylov k = krylov(*s, {});
  for (Index seed = 0; seed < 3; ++seed) {
    std::vector<double> b = test::right_hand_side(a.rows);
    b[static_cast<std::size_t>(seed)] += 1.0;
    EXPECT_LE(relative_residual(a, b, solve(k, b, {.relative = 1e-10}).x), 1e-8);
  }
}

TEST_P(KrylovTest, RefusesWhatItDoesNotHave) {
  auto s = system(grid(5), With::nothing);
  EXPECT_THROW(krylov(*s, {.side = KrylovSide::right}), InvalidInput);
  EXPECT_THROW(krylov(*s, {.form = GetParam().backend == Backend::host ? KrylovForm::graph : KrylovForm::threads}),
               Unsupported);
  Krylov k = krylov(*s, {});
  EXPECT_THROW(k.go_on(1, stream()), InvalidInput);
  EXPECT_THROW(solve(k, test::right_hand_side(25), {.relative = -1.0}), InvalidInput);
  EXPECT_THROW(solve(k, test::right_hand_side(25), {.iterations = -1}), InvalidInput);
}

/// The first and the last row are coupled.
CsrMatrix with_far_corners(CsrMatrix a) {
  const auto last = static_cast<std::size_t>(a.rows) - 1;
  const auto insert = [&](Offset at, Index column) {
    a.col_indices.insert(a.col_indices.begin() + at, column);
    a.values.insert(a.values.begin() + at, -0.5);
  };
  insert(a.row_offsets[last], 0);
  insert(a.row_offsets[1], a.rows - 1);
  for (std::size_t row = 1; row <= last; ++row) ++a.row_offsets[row];
  a.row_offsets[last + 1] += 2;
  return a;
}

/// On a GPU large matrices have columns in 16 bits where all entries are near the diagonal, and in 32 where one is not.
TEST_P(KrylovTest, LargeMatricesAreNearTheirDiagonalOrNot) {
  const CsrMatrix near = grid(460);
  const CsrMatrix far = with_far_corners(near);
  ASSERT_GT(near.values.size(), 1000000U);
  const std::vector<double> b = test::right_hand_side(near.rows);
  const auto info_of_solve = [&](const CsrMatrix& a) {
    auto s = system(a, With::diagonal);
    Krylov k = krylov(*s, {});
    const Solved solved = solve(k, b, {.relative = 1e-12, .iterations = 20});
    EXPECT_EQ(solved.outcome.iterations, 20);
    const std::vector<double> expected = reference_norms(
        a, preconditioner(*s, With::diagonal), KrylovNorm::preconditioned, b, std::vector<double>(b.size(), 0.0), 20);
    for (std::size_t n = 0; n < expected.size(); ++n)
      EXPECT_NEAR(solved.outcome.norms[n], expected[n], 1e-9 * expected[0]) << "iteration " << n;
    return k.info();
  };
  const KrylovInfo of_near = info_of_solve(near);
  const KrylovInfo of_far = info_of_solve(far);
  const bool cuda = GetParam().backend == Backend::cuda;
  EXPECT_EQ(of_near.bytes_of_iteration + 1e6 < of_far.bytes_of_iteration, cuda);
  EXPECT_EQ(of_near.bytes > of_far.bytes, cuda);
}

/// By all stages that multiply by the matrix, which are those of all methods.
TEST_P(KrylovTest, RowsWithTheSameColumnsAreTakenTogether) {
  struct Case {
    Index side;
    Index unknowns;
    int together;
  };
  const bool cuda = GetParam().backend == Backend::cuda;
  for (const Case& one : {Case{17, 3, 3}, {22, 2, 2}, {15, 4, 2}}) {
    const CsrMatrix a = test::cube_of_nodes(one.side, one.unknowns);
    ASSERT_GT(a.values.size(), 1000000U);
    const std::vector<double> b = test::right_hand_side(a.rows);
    auto s = system(a, With::diagonal);
    auto apart = system(test::with_a_row_of_its_own(a), With::diagonal);
    for (const KrylovOptions& options :
         {KrylovOptions{.method = KrylovMethod::cg},
          {.method = KrylovMethod::bicgstab},
          {.method = KrylovMethod::bicgstab, .side = KrylovSide::right, .norm = KrylovNorm::unpreconditioned},
          {.method = KrylovMethod::gmres},
          {.method = KrylovMethod::fgmres, .side = KrylovSide::right, .norm = KrylovNorm::unpreconditioned},
          {.method = KrylovMethod::minres},
          {.method = KrylovMethod::richardson, .damping = 0.8},
          {.method = KrylovMethod::chebyshev, .smallest = 0.2, .largest = 2.0}}) {
      SCOPED_TRACE(std::to_string(one.unknowns) + " unknowns, " + to_string(options.method));
      Krylov k = krylov(*s, options);
      Krylov by_rows = krylov(*apart, options);
      EXPECT_EQ(k.info().rows_together, one.together);
      EXPECT_EQ(by_rows.info().rows_together, 1);
      const Solved found = solve(k, b, {.relative = 1e-14, .iterations = 12});
      const Solved expected = solve(by_rows, b, {.relative = 1e-14, .iterations = 12});
      ASSERT_EQ(found.outcome.norms.size(), expected.outcome.norms.size());
      for (std::size_t n = 0; n < expected.outcome.norms.size(); ++n)
        EXPECT_NEAR(found.outcome.norms[n], expected.outcome.norms[n], 1e-11 * expected.outcome.norms[0]) << n;
      EXPECT_LT(test::difference(found.x, expected.x), 1e-9);
      if (!cuda) continue;
      KrylovOptions host_driven = options;
      host_driven.form = KrylovForm::host_driven;
      Krylov by_host = krylov(*s, host_driven);
      EXPECT_EQ(solve(by_host, b, {.relative = 1e-14, .iterations = 12}).x, found.x);
    }
  }
}

TEST_P(KrylovTest, AnEmptySystemIsSolvedAtOnce) {
  auto s = system(CsrMatrix{}, With::nothing);
  Krylov k = krylov(*s, {});
  EXPECT_EQ(solve(k, {}, {}).outcome.iterations, 0);
}

}  // namespace
}  // namespace taskdag

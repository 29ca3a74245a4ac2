// BiCGStab, MINRES, Richardson's and Chebyshev's methods as loops on both backends; null spaces and coefficients.
#include <limits>
#include <numbers>
#include <string>

#include "krylov_fixture.hpp"
#include "measure.hpp"
#include "point_blocks.hpp"
#include "problems.hpp"
#include "support/effort.hpp"

namespace taskdag {
namespace {

using test::With;
using Vector = std::vector<double>;
using Map = std::function<Vector(const Vector&)>;

constexpr With kPreconditioners[] = {With::nothing, With::diagonal, With::factor};

Vector sum_of(double a, const Vector& x, double b, const Vector& y) {
  Vector z(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) z[i] = a * x[i] + b * y[i];
  return z;
}
Vector product(const CsrMatrix& a, const Vector& x) {
  Vector y(x.size());
  multiply(a.view(), x, y);
  return y;
}
double length(const Vector& x) { return std::sqrt(test::dot(x, x)); }

/// The norms of the residuals of iterations 0, 1, …; the last solution.
struct History {
  Vector norms;
  Vector x;
};

/// The textbook's BiCGStab for K = M⁻¹ A or A M⁻¹.
History reference_bicgstab(const CsrMatrix& a, const Map& m, bool right, const Vector& b, const Vector& x,
                           std::size_t iterations) {
  const auto k = [&](const Vector& v) { return right ? product(a, m(v)) : m(product(a, v)); };
  Vector r = test::residual(a, b, x);
  if (!right) r = m(r);
  const Vector shadow = r;
  Vector p = r;
  Vector u(b.size(), 0.0);
  History history{{length(r)}, {}};
  double rho = test::dot(r, shadow);
  for (std::size_t i = 0; i < iterations; ++i) {
    const Vector v = k(p);
    const double alpha = rho / test::dot(v, shadow);
    const Vector s = sum_of(1.0, r, -alpha, v);
    const Vector t = k(s);
    const double omega = test::dot(t, s) / test::dot(t, t);
    u = sum_of(1.0, u, 1.0, sum_of(alpha, p, omega, s));
    r = sum_of(1.0, s, -omega, t);
    history.norms.push_back(length(r));
    const double before = rho;
    rho = test::dot(r, shadow);
    p = sum_of(1.0, r, rho / before * alpha / omega, sum_of(1.0, p, -omega, v));
  }
  history.x = sum_of(1.0, x, 1.0, right ? m(u) : u);
  return history;
}

/// The textbook's MINRES: Lanczos' process and Givens rotations. norms: √(rᵀ M⁻¹ r).
History reference_minres(const CsrMatrix& a, const Map& m, const Vector& b, Vector x, std::size_t iterations,
                         Vector* diagonal = nullptr) {
  Vector v = test::residual(a, b, x);
  Vector z = m(v);
  double gamma = std::sqrt(test::dot(z, v));
  double eta = gamma;
  double s_before = 0.0;
  double s = 0.0;
  double c_before = 1.0;
  double c = 1.0;
  double gamma_before = 1.0;
  Vector v_before(b.size(), 0.0);
  Vector w(b.size(), 0.0);
  Vector w_before(b.size(), 0.0);
  History history{{gamma}, {}};
  for (std::size_t i = 0; i < iterations; ++i) {
    z = sum_of(1.0 / gamma, z, 0.0, z);
    const Vector az = product(a, z);
    const double delta = test::dot(az, z);
    if (diagonal != nullptr) diagonal->push_back(delta);
    Vector next = sum_of(1.0, az, -delta / gamma, v);
    next = sum_of(1.0, next, i == 0 ? 0.0 : -gamma / gamma_before, v_before);
    v_before = v;
    v = next;
    const Vector z_next = m(v);
    const double gamma_next = std::sqrt(test::dot(z_next, v));
    const double a0 = c * delta - c_before * s * gamma;
    const double a1 = std::hypot(a0, gamma_next);
    const double a2 = s * delta + c_before * c * gamma;
    const double a3 = s_before * gamma;
    c_before = c;
    s_before = s;
    c = a0 / a1;
    s = gamma_next / a1;
    const Vector w_next = sum_of(1.0 / a1, z, -1.0 / a1, sum_of(a3, w_before, a2, w));
    w_before = w;
    w = w_next;
    x = sum_of(1.0, x, c * eta, w);
    eta *= -s;
    gamma_before = gamma;
    gamma = gamma_next;
    z = z_next;
    history.norms.push_back(std::fabs(eta));
  }
  history.x = x;
  return history;
}

/// x(k + 1) = x(k) + d(k), d from the residual and the change before.
template <class Change>
History reference_polynomial(const CsrMatrix& a, const Map& m, KrylovNorm norm, const Vector& b, Vector x,
                             std::size_t iterations, const Change& change) {
  Vector d(b.size(), 0.0);
  History history;
  for (std::size_t k = 0;; ++k) {
    const Vector r = test::residual(a, b, x);
    const Vector z = m(r);
    history.norms.push_back(norm == KrylovNorm::preconditioned ? length(z) : length(r));
    if (k == iterations) break;
    d = change(k, d, z);
    x = sum_of(1.0, x, 1.0, d);
  }
  history.x = x;
  return history;
}
History reference_richardson(const CsrMatrix& a, const Map& m, const KrylovOptions& options, const Vector& b,
                             const Vector& x, std::size_t iterations) {
  return reference_polynomial(a, m, options.norm, b, x, iterations, [&](std::size_t, const Vector& d, const Vector& z) {
    return sum_of(0.0, d, options.damping, z);
  });
}
/// After Saad's book, algorithm 12.1, and Lottes' paper for the fourth kind.
History reference_chebyshev(const CsrMatrix& a, const Map& m, const KrylovOptions& options, const Vector& b,
                            const Vector& x, std::size_t iterations) {
  const double theta = 0.5 * (options.largest + options.smallest);
  const double delta = 0.5 * (options.largest - options.smallest);
  double rho = 0.0;
  return reference_polynomial(
      a, m, options.norm, b, x, iterations, [&](std::size_t k, const Vector& d, const Vector& z) {
        if (options.kind == KrylovChebyshev::optimised_fourth) {
          EXPECT_EQ(options.degree, 3);
          constexpr double order[] = {1.0, 3.0, 5.0};  // of the roots
          const double u = std::numbers::pi / 14.0;
          const double y = std::cos(order[k % 3] * u);
          const double root = (y * y - std::sin(u) * std::sin(u)) / (std::cos(u) * std::cos(u));
          return sum_of(0.0, d, 1.0 / (root * options.largest), z);
        }
        if (options.kind == KrylovChebyshev::fourth) {
          const auto n = static_cast<double>(k);
          return sum_of(k == 0 ? 0.0 : (2 * n - 1) / (2 * n + 3), d, (8 * n + 4) / (2 * n + 3) / options.largest, z);
        }
        if (k == 0) {
          rho = delta / theta;
          return sum_of(0.0, d, 1.0 / theta, z);
        }
        const double next = 1.0 / (2.0 * theta / delta - rho);
        Vector change = sum_of(next * rho, d, 2.0 * next / delta, z);
        rho = next;
        return change;
      });
}

/// A method with its settings, for a matrix whose M⁻¹ A has eigenvalues up to 2 at most.
struct Setting {
  std::string name;
  KrylovOptions options;
};
std::vector<Setting> settings() {
  using M = KrylovMethod;
  using N = KrylovNorm;
  constexpr auto left = KrylovSide::left;
  const double low = 0.05;
  const double high = 2.0;
  return {{"bicgstab left", {.method = M::bicgstab, .norm = N::preconditioned}},
          {"bicgstab right", {.method = M::bicgstab, .side = KrylovSide::right, .norm = N::unpreconditioned}},
          {"minres preconditioned", {.method = M::minres, .norm = N::preconditioned}},
          {"minres unpreconditioned", {.method = M::minres, .norm = N::unpreconditioned}},
          {"richardson preconditioned", {.method = M::richardson, .norm = N::preconditioned, .damping = 0.9}},
          {"richardson unpreconditioned", {.method = M::richardson, .norm = N::unpreconditioned, .damping = 0.9}},
          {"chebyshev preconditioned",
           {.method = M::chebyshev, .side = left, .norm = N::preconditioned, .smallest = low, .largest = high}},
          {"chebyshev unpreconditioned",
           {.method = M::chebyshev, .side = left, .norm = N::unpreconditioned, .smallest = low, .largest = high}},
          {"chebyshev fourth",
           {.method = M::chebyshev,
            .side = left,
            .norm = N::preconditioned,
            .largest = high,
            .kind = KrylovChebyshev::fourth}},
          {"chebyshev optimised",
           {.method = M::chebyshev,
            .side = left,
            .norm = N::unpreconditioned,
            .largest = high,
            .kind = KrylovChebyshev::optimised_fourth,
            .degree = 3}}};
}
bool is_krylov(const KrylovOptions& options) {
  return options.method == KrylovMethod::bicgstab || options.method == KrylovMethod::minres;
}
History reference(const CsrMatrix& a, const Map& m, const KrylovOptions& options, const Vector& b, const Vector& x,
                  std::size_t iterations) {
  switch (options.method) {
    case KrylovMethod::bicgstab:
      return reference_bicgstab(a, m, options.side == KrylovSide::right, b, x, iterations);
    case KrylovMethod::minres:
      return reference_minres(a, m, b, x, iterations);
    case KrylovMethod::richardson:
      return reference_richardson(a, m, options, b, x, iterations);
    default:
      return reference_chebyshev(a, m, options, b, x, iterations);
  }
}

/// Scaled so that the largest eigenvalue is below 2, as that of D⁻¹ A.
CsrMatrix grid(Index n, double wind = 0.0) {
  CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = n, .ny = n, .wind = wind});
  for (double& value : a.values) value /= 4.0;
  return a;
}
/// Symmetric, with eigenvalues of both signs.
CsrMatrix indefinite(Index n) {
  CsrMatrix a = grid(n);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_offsets[static_cast<std::size_t>(i)]; e < a.row_offsets[static_cast<std::size_t>(i) + 1];
         ++e) {
      if (a.col_indices[static_cast<std::size_t>(e)] == i) a.values[static_cast<std::size_t>(e)] -= 0.1;
    }
  }
  return a;
}
/// D L D with the Laplacian L of a graph: its null space is D⁻¹ 1, of length 1 in `null`.
CsrMatrix singular(Index n, const Vector& scale, Vector* null) {
  CsrMatrix a = grid(n);
  for (Index i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    double beside = 0.0;
    for (Offset e = a.row_offsets[row]; e < a.row_offsets[row + 1]; ++e) {
      if (a.col_indices[static_cast<std::size_t>(e)] != i) beside += a.values[static_cast<std::size_t>(e)];
    }
    for (Offset e = a.row_offsets[row]; e < a.row_offsets[row + 1]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      if (a.col_indices[at] == i) a.values[at] = -beside;
      a.values[at] *= scale[row] * scale[static_cast<std::size_t>(a.col_indices[at])];
    }
  }
  *null = Vector(scale.size());
  for (std::size_t i = 0; i < scale.size(); ++i) (*null)[i] = 1.0 / scale[i];
  *null = sum_of(1.0 / length(*null), *null, 0.0, *null);
  return a;
}

class KrylovMethodsTest : public test::KrylovFixture {};
INSTANTIATE_TEST_SUITE_P(On, KrylovMethodsTest, testing::ValuesIn(test::krylov_places()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

TEST_P(KrylovMethodsTest, NormsAreThoseOfTheTextbook) {
  for (const Setting& setting : settings()) {
    const bool symmetric = setting.options.method == KrylovMethod::minres;
    const CsrMatrix a = grid(33, symmetric ? 0.0 : 0.2);
    const Vector b = test::right_hand_side(a.rows);
    for (const With with : kPreconditioners) {
      auto s = system(a, with, symmetric ? FactorKind::ic : FactorKind::ilu);
      Krylov k = krylov(*s, setting.options);
      for (const bool guess : {false, true}) {
        SCOPED_TRACE(setting.name + ", " + test::name_of(with) + (guess ? ", a guess" : ""));
        const Vector start = guess ? sum_of(0.5, b, 0.0, b) : Vector(b.size(), 0.0);
        const std::int64_t most = is_krylov(setting.options) ? 1000 : 60;
        const Solved solved = solve(k, b, {.relative = 1e-8, .iterations = most}, guess ? start : Vector{});
        ASSERT_EQ(solved.outcome.norms.size(), static_cast<std::size_t>(solved.outcome.iterations) + 1);
        EXPECT_EQ(solved.outcome.norm, solved.outcome.norms.back());
        if (is_krylov(setting.options)) {
          EXPECT_EQ(solved.outcome.reason, KrylovReason::relative_tolerance);
          EXPECT_LE(test::relative_residual(a, b, solved.x), 1e-6);
        }
        const History expected =
            reference(a, preconditioner(*s, with), setting.options, b, start, solved.outcome.norms.size() - 1);
        EXPECT_LE(test::difference(solved.x, expected.x), is_krylov(setting.options) ? 1e-5 : 1e-9);
        if (setting.name == "minres unpreconditioned") continue;
        // BiCGStab's roundings grow from iteration to iteration.
        const std::size_t compared = setting.options.method == KrylovMethod::bicgstab
                                         ? std::min<std::size_t>(expected.norms.size(), 15)
                                         : expected.norms.size();
        for (std::size_t n = 0; n < compared; ++n) {
          ASSERT_NEAR(solved.outcome.norms[n], expected.norms[n], 1e-6 * expected.norms[n] + 1e-10 * expected.norms[0])
              << "iteration " << n;
        }
      }
    }
  }
}

TEST_P(KrylovMethodsTest, TrueNormsOfMinresAreThoseOfItsSolutions) {
  const CsrMatrix a = indefinite(16);
  const Vector b = test::right_hand_side(a.rows);
  for (const With with : {With::nothing, With::diagonal}) {
    auto s = system(a, with);
    for (const KrylovNorm norm : {KrylovNorm::preconditioned, KrylovNorm::unpreconditioned}) {
      SCOPED_TRACE(std::string(test::name_of(with)) + ", norm " + std::to_string(static_cast<int>(norm)));
      Krylov k = krylov(*s, {.method = KrylovMethod::minres, .norm = norm});
      const Solved solved = solve(k, b, {.relative = 1e-9});
      EXPECT_EQ(solved.outcome.reason, KrylovReason::relative_tolerance);
      EXPECT_LE(test::relative_residual(a, b, solved.x), 1e-8);
      for (const std::int64_t stop : {1, 2, 5, 20}) {
        const Solved some = solve(k, b, {.relative = 1e-30, .iterations = stop});
        ASSERT_EQ(some.outcome.iterations, stop);
        const History expected =
            reference_minres(a, preconditioner(*s, with), b, Vector(b.size(), 0.0), static_cast<std::size_t>(stop));
        EXPECT_LE(test::difference(some.x, expected.x), 1e-9);
        if (norm == KrylovNorm::unpreconditioned) {
          EXPECT_NEAR(some.outcome.norm, length(test::residual(a, b, some.x)), 1e-12 * length(b));
        }
      }
    }
  }
}

TEST_P(KrylovMethodsTest, EveryFormAndRepetitionGivesTheSameBits) {
  for (const Setting& setting : settings()) {
    for (const CsrMatrix& a : {grid(20), test::mirrored(make_erdos_renyi_lower(700, 0.02, 7), 1.0), test::arrow(300)}) {
      const Vector b = test::right_hand_side(a.rows);
      for (const With with : kPreconditioners) {
        auto s = system(a, with);
        std::optional<Solved> first;
        for (const KrylovForm form : forms(with, setting.options.method)) {
          SCOPED_TRACE(setting.name + ", " + test::name_of(with) + ", " + to_string(form));
          KrylovOptions options = setting.options;
          options.form = form;
          Krylov k = krylov(*s, options);
          EXPECT_EQ(k.info().form, form);
          EXPECT_GT(k.info().bytes_of_iteration, 0.0);
          for (int repeat = 0; repeat < 20 / test::kReduction; ++repeat) {
            const Solved solved = solve(k, b, {.relative = 1e-8, .iterations = 25});
            if (!first) first = solved;
            ASSERT_TRUE(test::same_bits(solved.x, first->x));
            ASSERT_TRUE(test::same_bits(solved.outcome.norms, first->outcome.norms));
            ASSERT_EQ(solved.outcome.reason, first->outcome.reason);
          }
        }
      }
    }
  }
}

TEST_P(KrylovMethodsTest, PiecesGiveWhatOneSolveGives) {
  const CsrMatrix a = grid(20);
  const Vector b = test::right_hand_side(a.rows);
  for (const Setting& setting : settings()) {
    for (const With with : kPreconditioners) {
      auto s = system(a, with);
      for (const KrylovForm form : forms(with, setting.options.method)) {
        SCOPED_TRACE(setting.name + ", " + test::name_of(with) + ", " + to_string(form));
        KrylovOptions options = setting.options;
        options.form = form;
        options.coefficients = options.method == KrylovMethod::minres;
        Krylov k = krylov(*s, options);
        const KrylovTolerances tolerances{.iterations = 23};
        const Solved whole = solve(k, b, tolerances);
        for (const std::int64_t at_a_time : {1, 7}) expect_pieces(k, b, tolerances, at_a_time, whole);
      }
    }
  }
}

TEST_P(KrylovMethodsTest, AnEndBeforeTheEndGivesTheSolutionSoFar) {
  const CsrMatrix a = grid(20);
  const Vector b = test::right_hand_side(a.rows);
  for (const Setting& setting : settings()) {
    auto s = system(a, With::diagonal);
    Krylov k = krylov(*s, setting.options);
    for (const std::int64_t made : {0, 1, 2, 3, 8}) {
      SCOPED_TRACE(setting.name + ", " + std::to_string(made) + " iterations");
      test::Array<double> rhs = place(b);
      test::Array<double> x = place(Vector(b.size(), 0.5));
      static_cast<void>(k.begin(rhs.data(), x.data(), true, {.relative = 1e-30}, stream()));
      EXPECT_EQ(k.go_on(made, stream()).iterations, made);
      k.end(stream());
      EXPECT_TRUE(
          test::same_bits(x.read(), solve(k, b, {.relative = 1e-30, .iterations = made}, Vector(b.size(), 0.5)).x));
    }
  }
}

TEST_P(KrylovMethodsTest, EndsOnEveryInput) {
  const CsrMatrix a = grid(12);
  const Vector b = test::right_hand_side(a.rows);
  Vector bad = b;
  bad[17] = std::numeric_limits<double>::quiet_NaN();
  CsrMatrix infinite = a;
  infinite.values[40] = std::numeric_limits<double>::infinity();
  for (const Setting& setting : settings()) {
    for (const With with : {With::nothing, With::diagonal, With::factor}) {
      for (const KrylovForm form : forms(with, setting.options.method)) {
        SCOPED_TRACE(setting.name + ", " + test::name_of(with) + ", " + to_string(form));
        auto s = system(a, with);
        KrylovOptions options = setting.options;
        options.form = form;
        Krylov k = krylov(*s, options);
        const Solved limited = solve(k, b, {.relative = 1e-12, .iterations = 5});
        expect_ends(k, b, bad);
        EXPECT_GE(solve(k, b, {.relative = 0.5, .least_iterations = 4}).outcome.iterations, 4);
        // After all that a solve is what it was.
        EXPECT_TRUE(test::same_bits(solve(k, b, {.relative = 1e-12, .iterations = 5}).x, limited.x));
        if (with == With::factor) continue;
        if (with == With::diagonal) {
          test::Array<double> spoilt = place(bad);
          DiagonalMap map(spoilt.data());
          Krylov on_spoilt(context(), s->matrix.view(), &map, options, stream());
          EXPECT_EQ(solve(on_spoilt, b, {}).outcome.reason, KrylovReason::not_a_number);
        }
        auto broken = system(infinite, with);
        Krylov on_broken = krylov(*broken, options);
        EXPECT_EQ(solve(on_broken, b, {}).outcome.reason, KrylovReason::not_a_number);
      }
    }
  }
}

TEST_P(KrylovMethodsTest, WithoutANormAllIterationsAreMade) {
  const CsrMatrix a = grid(12);
  const Vector b = test::right_hand_side(a.rows);
  for (const Setting& setting : settings()) {
    for (const With with : kPreconditioners) {
      for (const KrylovForm form : forms(with, setting.options.method)) {
        SCOPED_TRACE(setting.name + ", " + test::name_of(with) + ", " + to_string(form));
        auto s = system(a, with);
        KrylovOptions options = setting.options;
        options.form = form;
        Krylov tested = krylov(*s, options);
        options.norm = KrylovNorm::none;
        Krylov k = krylov(*s, options);
        const Solved solved = solve(k, b, {.iterations = 6});
        EXPECT_EQ(solved.outcome.reason, KrylovReason::iterations);
        EXPECT_EQ(solved.outcome.iterations, 6);
        EXPECT_TRUE(test::same_bits(solved.x, solve(tested, b, {.relative = 1e-30, .iterations = 6}).x));
      }
    }
  }
}

/// Above a number of rows directions have stages of their own.
TEST_P(KrylovMethodsTest, LargeSystemsGiveTheSame) {
  if (GetParam().backend == Backend::host) GTEST_SKIP() << "host threads have such stages at all sizes";
  const CsrMatrix a = test::tridiagonal(2600000, -0.4, 1.0, -0.4);
  const Vector b = test::right_hand_side(a.rows);
  auto s = system(a, With::diagonal);
  for (const Setting& setting : settings()) {
    std::optional<Solved> first;
    for (const KrylovForm form : forms(With::factor)) {
      SCOPED_TRACE(setting.name + ", " + to_string(form));
      KrylovOptions options = setting.options;
      options.form = form;
      Krylov k = krylov(*s, options);
      const Solved solved = solve(k, b, {.relative = 1e-30, .iterations = 3});
      if (first) {
        EXPECT_TRUE(test::same_bits(solved.x, first->x));
        continue;
      }
      first = solved;
      const Map m = preconditioner(*s, With::diagonal);
      EXPECT_LE(test::difference(solved.x, reference(a, m, options, b, Vector(b.size(), 0.0), 3).x), 1e-10);
    }
  }
}

CsrMatrix two_by_two(double a, double b, double c, double d) { return {2, 2, {0, 2, 4}, {0, 1, 0, 1}, {a, b, c, d}}; }

TEST_P(KrylovMethodsTest, BicgstabBreaksDownAsPetscs) {
  for (const Setting& setting : settings()) {
    if (setting.options.method != KrylovMethod::bicgstab) continue;
    SCOPED_TRACE(setting.name);
    const auto outcome = [&](const CsrMatrix& a, const Vector& b) {
      auto s = system(a, With::nothing);
      Krylov k = krylov(*s, setting.options);
      return solve(k, b, {});
    };
    const Solved turned = outcome(two_by_two(0, 1, -1, 0), {1, 0});
    EXPECT_EQ(turned.outcome.reason, KrylovReason::breakdown);
    EXPECT_EQ(turned.outcome.iterations, 0);
    EXPECT_EQ(turned.x, Vector(2, 0.0));
    const Solved lost = outcome(two_by_two(0, 0, 1, 1), {1, 1});
    EXPECT_EQ(lost.outcome.reason, KrylovReason::breakdown);
    EXPECT_EQ(lost.x, Vector(2, 0.0));
    const Solved half = outcome(two_by_two(2, 0, 0, 2), {1, 3});
    EXPECT_EQ(half.outcome.reason, KrylovReason::relative_tolerance);
    EXPECT_EQ(half.outcome.iterations, 1);
    EXPECT_EQ(half.outcome.norm, 0.0);
    EXPECT_EQ(half.x, (Vector{0.5, 1.5}));
  }
}

TEST_P(KrylovMethodsTest, MinresNeedsAPositivePreconditioner) {
  const CsrMatrix a = grid(6);
  const Vector b = test::right_hand_side(a.rows);
  test::MatrixArrays matrix = place(a);
  Vector signs(b.size(), 1.0);
  for (const double first : {-1000.0, -1.0}) {
    signs[0] = first;
    test::Array<double> diagonal = place(signs);
    DiagonalMap map(diagonal.data());
    Krylov k(context(), matrix.view(), &map, {.method = KrylovMethod::minres}, stream());
    const Solved solved = solve(k, b, {.relative = 1e-12});
    EXPECT_EQ(solved.outcome.reason, KrylovReason::indefinite_preconditioner);
    EXPECT_TRUE(test::all_finite(solved.x) || solved.outcome.iterations == 0);
  }
}

TEST_P(KrylovMethodsTest, SolutionsAreWithoutTheNullSpace) {
  std::vector<Setting> all = settings();
  all.push_back({"cg", {.method = KrylovMethod::cg}});
  all.push_back({"gmres", {.method = KrylovMethod::gmres}});
  for (const bool constant : {true, false}) {
    Vector scale(324, 1.0);
    if (!constant) {
      for (std::size_t i = 0; i < scale.size(); ++i) scale[i] = 0.8 + 0.002 * static_cast<double>(i % 100);
    }
    Vector null;
    const CsrMatrix a = singular(18, scale, &null);
    Vector b = test::right_hand_side(a.rows);
    b = sum_of(1.0, b, -test::dot(null, b), null);
    test::Array<double> null_array = place(null);
    for (const Setting& setting : all) {
      if (setting.options.side == KrylovSide::right) continue;
      for (const With with : {With::nothing, With::diagonal}) {
        auto s = system(a, with);
        std::optional<Solved> first;
        for (const KrylovForm form : forms(with, setting.options.method)) {
          SCOPED_TRACE(setting.name + ", " + test::name_of(with) + ", " + to_string(form));
          KrylovOptions options = setting.options;
          options.form = form;
          Krylov k = krylov(*s, options);
          const KrylovInfo before = k.info();
          k.set_null_space(constant,
                           constant ? std::vector<const double*>{} : std::vector<const double*>{null_array.data()});
          const Solved solved = solve(k, b, {.relative = 1e-9, .iterations = 400});
          EXPECT_LE(std::fabs(test::dot(null, solved.x)), 1e-12 * length(solved.x));
          if (is_krylov(options) || options.method == KrylovMethod::cg || options.method == KrylovMethod::gmres) {
            EXPECT_EQ(solved.outcome.reason, KrylovReason::relative_tolerance);
            EXPECT_LE(test::relative_residual(a, b, solved.x), 1e-7);
          }
          if (!first) first = solved;
          EXPECT_TRUE(test::same_bits(solved.x, first->x));
          k.set_null_space(false, {});
          EXPECT_EQ(k.info().stages, before.stages);
        }
      }
    }
  }
}

TEST_P(KrylovMethodsTest, ManyVectorsOfANullSpaceAreRemoved) {
  // Ten blocks of a singular matrix: a vector each, more than a stage adds up at a time.
  constexpr Index kBlock = 12;
  constexpr Index kBlocks = 10;
  CsrMatrix a{0, 0, {0}, {}, {}};
  for (Index i = 0; i < kBlock * kBlocks; ++i) {
    const bool begins = i % kBlock == 0;
    const bool ends = i % kBlock == kBlock - 1;
    if (!begins) a.col_indices.push_back(i - 1), a.values.push_back(-1.0);
    a.col_indices.push_back(i), a.values.push_back(begins || ends ? 1.0 : 2.0);
    if (!ends) a.col_indices.push_back(i + 1), a.values.push_back(-1.0);
    a.row_offsets.push_back(static_cast<Offset>(a.values.size()));
  }
  a.rows = a.cols = kBlock * kBlocks;
  std::vector<test::Array<double>> arrays;
  std::vector<const double*> vectors;
  std::vector<Vector> nulls;
  Vector b = test::right_hand_side(a.rows);
  for (std::size_t block = 0; block < kBlocks; ++block) {
    Vector null(b.size(), 0.0);
    for (std::size_t i = 0; i < kBlock; ++i) null[block * kBlock + i] = 1.0 / std::sqrt(static_cast<double>(kBlock));
    b = sum_of(1.0, b, -test::dot(null, b), null);
    nulls.push_back(null);
    arrays.push_back(place(null));
  }
  vectors.reserve(arrays.size());
  for (test::Array<double>& array : arrays) vectors.push_back(array.data());
  auto s = system(a, With::diagonal);
  for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::minres, KrylovMethod::bicgstab}) {
    SCOPED_TRACE(to_string(method));
    Krylov k = krylov(*s, {.method = method});
    k.set_null_space(false, vectors);
    const Solved solved = solve(k, b, {.relative = 1e-10});
    EXPECT_LE(test::relative_residual(a, b, solved.x), 1e-8);
    for (const Vector& null : nulls) EXPECT_LE(std::fabs(test::dot(null, solved.x)), 1e-11 * length(solved.x));
  }
}

TEST_P(KrylovMethodsTest, CoefficientsOfConjugateGradientsAreThoseOfTheTextbook) {
  const CsrMatrix a = grid(20);
  const Vector b = test::right_hand_side(a.rows);
  for (const With with : kPreconditioners) {
    SCOPED_TRACE(test::name_of(with));
    auto s = system(a, with);
    const Map m = preconditioner(*s, with);
    Krylov k = krylov(*s, {.coefficients = true});
    const KrylovOutcome outcome = solve(k, b, {.relative = 1e-30, .iterations = 12}).outcome;
    ASSERT_EQ(outcome.alpha.size(), 13U);
    ASSERT_EQ(outcome.beta.size(), 13U);
    EXPECT_EQ(outcome.alpha[0], 0.0);
    EXPECT_EQ(outcome.beta[0], 0.0);
    Vector r = b;
    Vector z = m(r);
    Vector p = z;
    double rz = test::dot(r, z);
    double beta = 0.0;
    for (std::size_t n = 1; n <= 12; ++n) {
      const Vector w = product(a, p);
      const double alpha = rz / test::dot(p, w);
      EXPECT_NEAR(outcome.alpha[n], alpha, 1e-8 * alpha);
      EXPECT_NEAR(outcome.beta[n], beta, 1e-8);
      r = sum_of(1.0, r, -alpha, w);
      z = m(r);
      const double before = rz;
      rz = test::dot(r, z);
      beta = rz / before;
      p = sum_of(1.0, z, beta, p);
    }
  }
}

TEST_P(KrylovMethodsTest, CoefficientsOfMinresAreThoseOfLanczos) {
  const CsrMatrix a = indefinite(16);
  const Vector b = test::right_hand_side(a.rows);
  auto s = system(a, With::nothing);
  Krylov k = krylov(*s, {.method = KrylovMethod::minres, .coefficients = true});
  const KrylovOutcome outcome = solve(k, b, {.relative = 1e-30, .iterations = 10}).outcome;
  Vector diagonal;
  static_cast<void>(reference_minres(a, preconditioner(*s, With::nothing), b, Vector(b.size(), 0.0), 10, &diagonal));
  ASSERT_EQ(outcome.alpha.size(), 11U);
  for (std::size_t n = 0; n < 10; ++n) EXPECT_NEAR(outcome.alpha[n + 1], diagonal[n], 1e-9);
  EXPECT_NEAR(outcome.beta[1], length(b), 1e-10 * length(b));
}

/// But for rounding where rows are cut elsewhere.
TEST_P(KrylovMethodsTest, DenseBlocksAreAsGoodAsTheirRows) {
  using M = KrylovMethod;
  std::vector<Setting> all = settings();
  all.push_back({"cg", {.method = M::cg}});
  all.push_back({"gmres", {.method = M::gmres}});
  all.push_back({"fgmres", {.method = M::fgmres, .side = KrylovSide::right, .norm = KrylovNorm::unpreconditioned}});
  for (const Index n : {2, 3, 4, 7, 9}) {
    const CsrMatrix blocks = test::with_blocks(grid(17), n, true);
    const CsrMatrix rows = test::by_rows(blocks, n);
    test::MatrixArrays arrays = place(blocks);
    const Vector b = test::right_hand_side(rows.rows);
    for (const With with : kPreconditioners) {
      auto s = system(rows, with);
      for (const Setting& setting : all) {
        for (const KrylovForm form : forms(with, setting.options.method)) {
          SCOPED_TRACE(setting.name + ", " + test::name_of(with) + ", " + to_string(form) + ", " + std::to_string(n));
          KrylovOptions options = setting.options;
          options.form = form;
          Krylov by_rows = krylov(*s, options);
          options.block_size = n;
          Krylov by_blocks(context(), arrays.view(), s->map.get(), options, stream());
          const Solved expected = solve(by_rows, b, {.relative = 1e-9, .iterations = 12});
          const Solved solved = solve(by_blocks, b, {.relative = 1e-9, .iterations = 12});
          ASSERT_EQ(solved.outcome.iterations, expected.outcome.iterations);
          EXPECT_LE(test::difference(solved.x, expected.x), 1e-8);
          EXPECT_LT(by_blocks.info().bytes_of_iteration, by_rows.info().bytes_of_iteration);
        }
      }
    }
  }
}

TEST_P(KrylovMethodsTest, RefusesWhatItDoesNotHave) {
  auto s = system(grid(5), With::nothing);
  using M = KrylovMethod;
  EXPECT_THROW(krylov(*s, {.block_size = 0}), InvalidInput);
  EXPECT_THROW(krylov(*s, {.block_size = std::numeric_limits<Index>::max()}), InvalidInput);
  for (const int degree : {0, 17})
    EXPECT_THROW(krylov(*s, {.method = KrylovMethod::chebyshev,
                             .largest = 2.0,
                             .kind = KrylovChebyshev::optimised_fourth,
                             .degree = degree}),
                 InvalidInput);
  EXPECT_THROW(krylov(*s, {.method = M::bicgstab, .norm = KrylovNorm::unpreconditioned}), InvalidInput);
  EXPECT_THROW(krylov(*s, {.method = M::bicgstab, .side = KrylovSide::right}), InvalidInput);
  EXPECT_THROW(krylov(*s, {.method = M::bicgstab, .norm = KrylovNorm::natural}), InvalidInput);
  for (const M method : {M::minres, M::richardson, M::chebyshev}) {
    EXPECT_THROW(krylov(*s, {.method = method, .side = KrylovSide::right, .smallest = 0.1, .largest = 2.0}),
                 InvalidInput);
    EXPECT_THROW(krylov(*s, {.method = method, .norm = KrylovNorm::natural, .smallest = 0.1, .largest = 2.0}),
                 InvalidInput);
  }
  EXPECT_THROW(krylov(*s, {.method = M::chebyshev}), InvalidInput);
  EXPECT_THROW(krylov(*s, {.method = M::chebyshev, .smallest = 2.0, .largest = 1.0}), InvalidInput);
  EXPECT_THROW(krylov(*s, {.method = M::chebyshev, .smallest = std::nan(""), .largest = 1.0}), InvalidInput);
  EXPECT_THROW(krylov(*s, {.method = M::bicgstab, .coefficients = true}), InvalidInput);
}

TEST_P(KrylovMethodsTest, AnEmptySystemIsSolvedAtOnce) {
  auto s = system(CsrMatrix{}, With::nothing);
  for (const Setting& setting : settings()) {
    SCOPED_TRACE(setting.name);
    Krylov k = krylov(*s, setting.options);
    EXPECT_EQ(solve(k, {}, {}).outcome.iterations, 0);
  }
}

}  // namespace
}  // namespace taskdag

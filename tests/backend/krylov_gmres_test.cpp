// GMRES and flexible GMRES as loops on both backends.
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "krylov_fixture.hpp"
#include "problems.hpp"
#include "support/effort.hpp"

namespace taskdag {
namespace {

using test::dot;
using test::relative_residual;
using test::residual;
using test::With;
using Vector = std::vector<double>;
using Map = std::function<Vector(const Vector&)>;

constexpr With kPreconditioners[] = {With::nothing, With::diagonal, With::factor};

/// A method with a side, and the way to make a basis.
struct Kind {
  const char* name;
  KrylovMethod method;
  KrylovSide side;
  [[nodiscard]] bool right() const { return side == KrylovSide::right; }
  [[nodiscard]] KrylovNorm norm() const { return right() ? KrylovNorm::unpreconditioned : KrylovNorm::preconditioned; }
};
constexpr Kind kKinds[] = {{"gmres left", KrylovMethod::gmres, KrylovSide::left},
                           {"gmres right", KrylovMethod::gmres, KrylovSide::right},
                           {"fgmres", KrylovMethod::fgmres, KrylovSide::right}};
struct Basis {
  const char* name;
  KrylovOrthogonalisation orthogonalisation;
  KrylovRefinement refinement;
};
constexpr Basis kBases[] = {{"classical", KrylovOrthogonalisation::classical, KrylovRefinement::never},
                            {"if needed", KrylovOrthogonalisation::classical, KrylovRefinement::if_needed},
                            {"twice", KrylovOrthogonalisation::classical, KrylovRefinement::always},
                            {"modified", KrylovOrthogonalisation::modified, KrylovRefinement::never}};

KrylovOptions options_of(const Kind& kind, const Basis& basis, Index restart, KrylovForm form = KrylovForm::automatic) {
  KrylovOptions options;
  options.method = kind.method;
  options.side = kind.side;
  options.norm = kind.norm();
  options.form = form;
  options.restart = restart;
  options.orthogonalisation = basis.orthogonalisation;
  options.refinement = basis.refinement;
  return options;
}

void add(Vector& y, double factor, const Vector& x) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += factor * x[i];
}
double norm_of(const Vector& x) { return std::sqrt(dot(x, x)); }

/// A cycle of the textbook: an orthonormal basis, and the small least squares problem by its normal equations' factor,
/// which is the upper triangle that rotations make.
class Cycle {
 public:
  Cycle(Vector r, std::size_t most) : rhs_{norm_of(r)}, most_(most) {
    scale(r, 1.0 / rhs_[0]);
    basis_.push_back(std::move(r));
  }
  [[nodiscard]] bool full() const { return triangle_.size() == most_; }
  [[nodiscard]] const Vector& last() const { return basis_.back(); }
  /// Takes the operator's image of last(). Returns the norm of the residual.
  double take(Vector w) {
    Vector column(basis_.size(), 0.0);
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t k = 0; k < basis_.size(); ++k) {
        const double h = dot(w, basis_[k]);
        column[k] += h;
        add(w, -h, basis_[k]);
      }
    }
    const double below = norm_of(w);
    scale(w, 1.0 / below);
    basis_.push_back(std::move(w));
    column.push_back(below);
    hessenberg_.push_back(column);
    for (std::size_t k = 0; k < rotations_.size(); ++k) turn(rotations_[k], column[k], column[k + 1]);
    const double length = std::hypot(column[column.size() - 2], below);
    rotations_.push_back({column[column.size() - 2] / length, below / length});
    turn(rotations_.back(), column[column.size() - 2], column.back());
    triangle_.push_back(std::move(column));
    rhs_.push_back(0.0);
    turn(rotations_.back(), rhs_[rhs_.size() - 2], rhs_.back());
    return std::abs(rhs_.back());
  }
  /// Column k of the small matrix before its rotations.
  [[nodiscard]] const Vector& hessenberg(std::size_t k) const { return hessenberg_[k]; }
  [[nodiscard]] Vector solution() const {
    Vector weight(triangle_.size());
    Vector sum(basis_[0].size(), 0.0);
    for (std::size_t k = triangle_.size(); k-- > 0;) {
      double rest = rhs_[k];
      for (std::size_t j = k + 1; j < weight.size(); ++j) rest -= triangle_[j][k] * weight[j];
      weight[k] = rest / triangle_[k][k];
      add(sum, weight[k], basis_[k]);
    }
    return sum;
  }

 private:
  using Rotation = std::array<double, 2>;
  static void scale(Vector& x, double by) {
    for (double& value : x) value *= by;
  }
  static void turn(const Rotation& by, double& above, double& below) {
    const double before = above;
    above = by[0] * before + by[1] * below;
    below = by[0] * below - by[1] * before;
  }

  std::vector<Vector> basis_;
  std::vector<Vector> hessenberg_;
  std::vector<Vector> triangle_;
  std::vector<Rotation> rotations_;
  Vector rhs_;
  std::size_t most_;
};

Vector unchanged(const Vector& x) { return x; }

/// The textbook's method: norms of so many iterations, with what is applied on the left and on the right. A cycle's
/// first norm is that of its residual.
Vector reference_norms(const CsrMatrix& a, const Map& left, const Map& right, std::size_t restart, const Vector& b,
                       Vector x, std::size_t iterations) {
  const auto first = [&] { return left(residual(a, b, x)); };
  const auto image = [&](const Vector& v) {
    Vector product(v.size());
    multiply(a.view(), right(v), product);
    return left(product);
  };
  Cycle cycle(first(), restart);
  Vector norms{norm_of(first())};
  while (norms.size() <= iterations) {
    norms.push_back(cycle.take(image(cycle.last())));
    if (!cycle.full()) continue;
    add(x, 1.0, right(cycle.solution()));
    cycle = Cycle(first(), restart);
    norms.back() = norm_of(first());
  }
  return norms;
}

CsrMatrix windy(Index n) { return make_stencil({.stencil = Stencil::five_point, .nx = n, .ny = n, .wind = 0.7}); }

class KrylovGmresTest : public test::KrylovFixture {
 protected:
  std::unique_ptr<System> windy_system(Index n, With with) const { return system(windy(n), with, FactorKind::ilu); }
};
INSTANTIATE_TEST_SUITE_P(On, KrylovGmresTest, testing::ValuesIn(test::krylov_places()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

TEST_P(KrylovGmresTest, NormsAreThoseOfTheTextbook) {
  auto check = [&](System& s, With with, const Kind& kind, const Basis& basis, Index restart, const Vector& guess) {
    SCOPED_TRACE(std::string(kind.name) + ", " + basis.name + ", " + name_of(with) + ", restart " +
                 std::to_string(restart) + (guess.empty() ? "" : ", a guess"));
    const Vector b = test::right_hand_side(s.a.rows);
    Krylov k = krylov(s, options_of(kind, basis, restart));
    const Solved solved = solve(k, b, {.relative = 1e-8, .iterations = 45}, guess);
    const KrylovOutcome& outcome = solved.outcome;
    ASSERT_EQ(outcome.norms.size(), static_cast<std::size_t>(outcome.iterations) + 1);
    EXPECT_EQ(outcome.reason,
              outcome.iterations < 45 ? KrylovReason::relative_tolerance : KrylovReason::iteration_limit);
    const Vector start = guess.empty() ? Vector(b.size(), 0.0) : guess;
    const Map m = preconditioner(s, with);
    const Vector expected = reference_norms(s.a, kind.right() ? unchanged : m, kind.right() ? m : unchanged,
                                            static_cast<std::size_t>(restart), b, start, outcome.norms.size() - 1);
    for (std::size_t n = 0; n < expected.size(); ++n) {
      EXPECT_NEAR(outcome.norms[n], expected[n], 1e-6 * expected[n] + 1e-11 * expected[0]) << "iteration " << n;
    }
    // The norm says what is so for x.
    const Vector r = residual(s.a, b, solved.x);
    const double is = norm_of(kind.right() ? r : preconditioner(s, with)(r));
    EXPECT_NEAR(outcome.norm, is, 1e-6 * is + 1e-11 * expected[0]);
  };
  for (const With with : kPreconditioners) {
    auto s = windy_system(14, with);
    auto large = windy_system(33, with);  // enough for three threads
    const Vector guess = test::right_hand_side(s->a.rows);
    for (const Kind& kind : kKinds) {
      for (const Basis& basis : kBases) {
        for (const Index restart : {1, 8, 9, 30}) check(*s, with, kind, basis, restart, {});
        check(*s, with, kind, basis, 10, guess);
        if (with == With::factor) check(*large, with, kind, basis, 12, {});
      }
    }
  }
}

/// Both parts of an incomplete Cholesky factorisation.
class Parts final : public LinearMap {
 public:
  Parts(Factorization& factor, MemorySpace space) : factor_(factor), space_(space) {}
  void apply(const double* x, double* y, Stream stream) override { run(Apply::full, x, y, stream); }
  void apply_left(const double* x, double* y, Stream stream) override { run(Apply::symmetric_left, x, y, stream); }
  void apply_right(const double* x, double* y, Stream stream) override { run(Apply::symmetric_right, x, y, stream); }

 private:
  void run(Apply part, const double* x, double* y, Stream stream) { factor_.apply(part, x, y, space_, stream); }
  Factorization& factor_;
  MemorySpace space_;
};

TEST_P(KrylovGmresTest, TheSymmetricSideHasAPartOnEither) {
  const Kind symmetric{"gmres symmetric", KrylovMethod::gmres, KrylovSide::symmetric};
  const CsrMatrix grid = make_stencil({.stencil = Stencil::five_point, .nx = 33, .ny = 33});
  const Vector b = test::right_hand_side(grid.rows);
  for (const With with : kPreconditioners) {
    auto s = system(grid, with);
    if (with == With::factor) s->map = std::make_unique<Parts>(*s->factor, space());
    const auto part = [&](Apply which) -> Map {
      if (with != With::factor) return preconditioner(*s, with);
      return [this, &s, which](const Vector& x) { return apply(*s->factor, which, x); };
    };
    for (const Vector& guess : {Vector(), Vector(b.size(), 0.5)}) {
      const Vector start = guess.empty() ? Vector(b.size(), 0.0) : guess;
      const Vector expected =
          reference_norms(grid, part(Apply::symmetric_left), part(Apply::symmetric_right), 9, b, start, 30);
      for (const Basis& basis : kBases) {
        std::optional<Vector> first;
        for (const KrylovForm form : forms(with, KrylovMethod::gmres)) {
          SCOPED_TRACE(std::string(basis.name) + ", " + name_of(with) + ", " + to_string(form));
          Krylov k = krylov(*s, options_of(symmetric, basis, 9, form));
          const Solved solved = solve(k, b, {.relative = 1e-30, .iterations = 30}, guess);
          if (!first) first = solved.x;
          EXPECT_EQ(solved.x, *first);
          ASSERT_EQ(solved.outcome.norms.size(), expected.size());
          for (std::size_t n = 0; n < expected.size(); ++n) {
            EXPECT_NEAR(solved.outcome.norms[n], expected[n], 1e-6 * expected[n] + 1e-11 * expected[0]) << n;
          }
          const double is = norm_of(part(Apply::symmetric_left)(residual(grid, b, solved.x)));
          EXPECT_NEAR(solved.outcome.norm, is, 1e-6 * is + 1e-11 * expected[0]);
        }
      }
    }
  }
  auto s = system(grid, With::factor);
  Krylov k = krylov(*s, options_of(symmetric, kBases[0], 9));
  EXPECT_THROW(solve(k, b, {}), Unsupported);
}

TEST_P(KrylovGmresTest, EveryFormGivesTheSameBits) {
  for (const With with : kPreconditioners) {
    auto s = windy_system(40, with);
    const Vector b = test::right_hand_side(s->a.rows);
    for (const Kind& kind : kKinds) {
      for (const Basis& basis : kBases) {
        std::optional<Solved> first;
        for (const KrylovForm form : forms(with, KrylovMethod::gmres)) {
          SCOPED_TRACE(std::string(kind.name) + ", " + basis.name + ", " + name_of(with) + ", " + to_string(form));
          Krylov k = krylov(*s, options_of(kind, basis, 9, form));
          EXPECT_EQ(k.info().form, form);
          for (int repeat = 0; repeat < 20 / test::kReduction; ++repeat) {
            const Solved solved = solve(k, b, {.relative = 1e-9, .iterations = 14});
            if (!first) first = solved;
            ASSERT_EQ(solved.x, first->x);
            ASSERT_EQ(solved.outcome.norms, first->outcome.norms);
            ASSERT_EQ(solved.outcome.reason, first->outcome.reason);
          }
        }
      }
    }
  }
}

TEST_P(KrylovGmresTest, PiecesGiveWhatOneSolveGives) {
  for (const With with : kPreconditioners) {
    auto s = windy_system(15, with);
    const Vector b = test::right_hand_side(s->a.rows);
    for (const Kind& kind : kKinds) {
      for (const Basis& basis : kBases) {
        for (const KrylovForm form : forms(with, KrylovMethod::gmres)) {
          SCOPED_TRACE(std::string(kind.name) + ", " + basis.name + ", " + name_of(with) + ", " + to_string(form));
          Krylov k = krylov(*s, options_of(kind, basis, 6, form));
          const Solved whole = solve(k, b, {});
          EXPECT_TRUE(whole.outcome.converged());
          for (const std::int64_t at_a_time : {1, 4, 6}) expect_pieces(k, b, {}, at_a_time, whole);
        }
      }
    }
  }
}

TEST_P(KrylovGmresTest, ACallerMayStopAnywhere) {
  auto s = windy_system(12, With::factor);
  const Vector b = test::right_hand_side(s->a.rows);
  for (const Kind& kind : kKinds) {
    for (const KrylovForm form : forms(With::factor)) {
      for (const std::int64_t stop : {0, 1, 4, 5, 7}) {
        SCOPED_TRACE(std::string(kind.name) + ", after " + std::to_string(stop) + ", " + to_string(form));
        Krylov k = krylov(*s, options_of(kind, kBases[0], 5, form));
        const Solved limited = solve(k, b, {.relative = 1e-14, .iterations = stop});
        test::Array<double> rhs = place(b);
        test::Array<double> x = place(Vector(b.size(), std::nan("")));
        EXPECT_EQ(k.begin(rhs.data(), x.data(), false, {.relative = 1e-14}, stream()).reason, KrylovReason::iterating);
        EXPECT_EQ(k.go_on(stop, stream()).iterations, stop);
        k.end(stream());
        EXPECT_EQ(x.read(), limited.x);
      }
    }
  }
}

TEST_P(KrylovGmresTest, EndsOnEveryInput) {
  const CsrMatrix a = windy(12);
  const Vector b = test::right_hand_side(a.rows);
  const Vector zero(b.size(), 0.0);
  Vector bad = b;
  bad[17] = std::numeric_limits<double>::quiet_NaN();
  CsrMatrix infinite = a;
  infinite.values[40] = std::numeric_limits<double>::infinity();
  CsrMatrix not_numbers = a;
  not_numbers.values[40] = std::numeric_limits<double>::quiet_NaN();
  for (const With with : {With::nothing, With::diagonal}) {
    for (const Kind& kind : kKinds) {
      for (const Basis& basis : kBases) {
        for (const KrylovForm form : forms(with, KrylovMethod::gmres)) {
          SCOPED_TRACE(std::string(kind.name) + ", " + basis.name + ", " + name_of(with) + ", " + to_string(form));
          const KrylovOptions options = options_of(kind, basis, 4, form);
          auto s = system(a, with);
          Krylov k = krylov(*s, options);
          expect_ends(k, b, bad);
          EXPECT_TRUE(solve(k, zero, {.relative = 1e-8, .absolute = 1e-9}, b).outcome.converged());
          EXPECT_EQ(solve(k, b, {.relative = 0.5, .least_iterations = 9}).outcome.iterations, 9);
          // After all that a solve is what it was.
          EXPECT_LE(relative_residual(a, b, solve(k, b, {.relative = 1e-10}).x), 1e-9);
          for (const CsrMatrix& matrix : {infinite, not_numbers}) {
            auto broken = system(matrix, with);
            Krylov on_broken = krylov(*broken, options);
            const Solved solved = solve(on_broken, b, {});
            EXPECT_EQ(solved.outcome.reason, KrylovReason::not_a_number);
            EXPECT_EQ(solved.outcome.iterations, 0);
          }
        }
      }
    }
  }
}

TEST_P(KrylovGmresTest, WithoutANormAllIterationsAreMade) {
  for (const With with : kPreconditioners) {
    auto s = windy_system(12, with);
    const Vector b = test::right_hand_side(s->a.rows);
    for (const Kind& kind : kKinds) {
      for (const KrylovForm form : forms(with, KrylovMethod::gmres)) {
        SCOPED_TRACE(std::string(kind.name) + ", " + name_of(with) + ", " + to_string(form));
        KrylovOptions options = options_of(kind, kBases[0], 4, form);
        Krylov with_norm = krylov(*s, options);
        options.norm = KrylovNorm::none;
        Krylov k = krylov(*s, options);
        const Solved solved = solve(k, b, {.iterations = 8});
        EXPECT_EQ(solved.outcome.reason, KrylovReason::iterations);
        EXPECT_EQ(solved.outcome.iterations, 8);
        EXPECT_EQ(solved.x, solve(with_norm, b, {.relative = 1e-15, .iterations = 8}).x);
      }
    }
  }
}

TEST_P(KrylovGmresTest, KeepsTheHessenbergMatrixOfItsCycle) {
  auto check = [&](System& s, With with, const Kind& kind, const Basis& basis, KrylovForm form) {
    SCOPED_TRACE(std::string(kind.name) + ", " + basis.name + ", " + name_of(with) + ", " + to_string(form));
    constexpr std::size_t restart = 6;
    const Vector b = test::right_hand_side(s.a.rows);
    const Map m = preconditioner(s, with);
    KrylovOptions options = options_of(kind, basis, restart, form);
    options.coefficients = true;
    Krylov k = krylov(s, options);
    Cycle cycle(kind.right() ? b : m(b), restart);
    for (std::size_t columns = 1; columns <= restart; ++columns) {
      Vector product(b.size());
      multiply(s.a.view(), kind.right() ? m(cycle.last()) : cycle.last(), product);
      cycle.take(kind.right() ? product : m(product));
      const KrylovOutcome outcome =
          solve(k, b, {.relative = 1e-30, .iterations = static_cast<std::int64_t>(columns)}).outcome;
      ASSERT_EQ(outcome.hessenberg.size(), (restart + 1) * columns);
      for (std::size_t j = 0; j < columns; ++j) {
        for (std::size_t i = 0; i < j + 2; ++i) {
          EXPECT_NEAR(outcome.hessenberg[j * (restart + 1) + i], cycle.hessenberg(j)[i], 1e-9) << i << ", " << j;
        }
      }
    }
    EXPECT_EQ(solve(k, b, {.relative = 1e-30, .iterations = restart + 2}).outcome.hessenberg.size(), 2 * (restart + 1));
    test::Array<double> rhs = place(b);
    test::Array<double> x = place(Vector(b.size(), 0.0));
    EXPECT_TRUE(k.begin(rhs.data(), x.data(), false, {.relative = 1e-30}, stream()).hessenberg.empty());
    EXPECT_TRUE(k.go_on(restart, stream()).hessenberg.empty());  // a cycle begins with the last of them
  };
  for (const With with : kPreconditioners) {
    auto s = windy_system(14, with);
    for (const Kind& kind : kKinds) {
      for (const Basis& basis : kBases) {
        for (const KrylovForm form : forms(with, KrylovMethod::gmres)) check(*s, with, kind, basis, form);
      }
    }
  }
}

/// Where the last vector of the basis is zero, or next to it, methods and norms differ in what PETSc calls it.
TEST_P(KrylovGmresTest, FindsASolutionInTheSpace) {
  const CsrMatrix identity = test::tridiagonal(40, 0.0, 1.0, 0.0);
  Vector b(40, 0.0);  // nothing is rounded
  b[3] = 2.0;
  auto s = system(identity, With::nothing);
  for (const Kind& kind : kKinds) {
    for (const Basis& basis : kBases) {
      for (const KrylovForm form : forms(With::nothing, KrylovMethod::gmres)) {
        SCOPED_TRACE(std::string(kind.name) + ", " + basis.name + ", " + to_string(form));
        KrylovOptions options = options_of(kind, basis, 3, form);
        options.happy_tolerance = 1e-8;
        Krylov k = krylov(*s, options);
        const Solved solved = solve(k, b, {});
        EXPECT_TRUE(solved.outcome.converged());
        EXPECT_EQ(solved.outcome.iterations, 1);
        EXPECT_LE(relative_residual(identity, b, solved.x), 1e-12);
        // Convergence is not looked at, but there is nothing more to be had.
        EXPECT_LT(static_cast<int>(solve(k, b, {.least_iterations = 5}).outcome.reason), 0);
        options.norm = KrylovNorm::none;
        Krylov without = krylov(*s, options);
        const Solved unseen = solve(without, b, {.iterations = 5});
        EXPECT_EQ(unseen.outcome.iterations, 1);
        EXPECT_LE(relative_residual(identity, b, unseen.x), 1e-12);
        EXPECT_EQ(unseen.outcome.reason,
                  kind.method == KrylovMethod::fgmres ? KrylovReason::breakdown : KrylovReason::breakdown_gmres);
      }
    }
  }
}

TEST_P(KrylovGmresTest, SaysWhyItBreaksDown) {
  const Vector b = test::right_hand_side(144);
  auto s = windy_system(12, With::nothing);
  CsrMatrix zero = windy(12);
  for (double& value : zero.values) value = 0.0;
  auto nothing = system(zero, With::nothing);
  for (const KrylovForm form : forms(With::nothing, KrylovMethod::gmres)) {
    SCOPED_TRACE(to_string(form));
    // A residual at a restart is never exactly the one expected.
    KrylovOptions strict = options_of(kKinds[0], kBases[0], 6, form);
    strict.breakdown_tolerance = 0.0;
    Krylov k = krylov(*s, strict);
    const Solved broken = solve(k, b, {.relative = 1e-14});
    EXPECT_EQ(broken.outcome.reason, KrylovReason::breakdown);
    EXPECT_EQ(broken.outcome.iterations % 6, 0);
    EXPECT_EQ(broken.outcome.norms.size(), static_cast<std::size_t>(broken.outcome.iterations) + 1);
    // Nothing to rotate.
    Krylov on_zero = krylov(*nothing, options_of(kKinds[0], kBases[0], 6, form));
    const Solved none = solve(on_zero, b, {});
    EXPECT_EQ(none.outcome.reason, KrylovReason::breakdown_gmres);
    EXPECT_EQ(none.outcome.iterations, 0);
    EXPECT_EQ(none.x, Vector(b.size(), 0.0));
    // There the flexible method calls it a happy end that is none.
    Krylov flexible = krylov(*nothing, options_of(kKinds[2], kBases[0], 6, form));
    const Solved happy = solve(flexible, b, {});
    EXPECT_EQ(happy.outcome.iterations, 1);
    EXPECT_EQ(happy.x, Vector(b.size(), 0.0));
  }
}

TEST_P(KrylovGmresTest, RefinesWhereMuchHasCancelled) {
  // Columns that are nearly equal: a product is nearly in the space that there is.
  CsrMatrix a = test::tridiagonal(60, 1e-9, 1.0, 1e-9);
  for (double& value : a.values) value += 1e-10;
  auto s = system(a, With::nothing);
  const Vector b = test::right_hand_side(a.rows);
  for (const KrylovForm form : forms(With::nothing, KrylovMethod::gmres)) {
    Krylov once = krylov(*s, options_of(kKinds[0], kBases[0], 5, form));
    Krylov needed = krylov(*s, options_of(kKinds[0], kBases[1], 5, form));
    Krylov twice = krylov(*s, options_of(kKinds[0], kBases[2], 5, form));
    const KrylovTolerances all{.relative = 1e-300, .absolute = 0.0, .iterations = 4};
    EXPECT_EQ(solve(needed, b, all).outcome.norms, solve(twice, b, all).outcome.norms);
    EXPECT_NE(solve(needed, b, all).outcome.norms, solve(once, b, all).outcome.norms);
  }
}

TEST_P(KrylovGmresTest, RefusesWhatItDoesNotHave) {
  auto s = windy_system(5, With::nothing);
  const auto make = [&](auto change) {
    KrylovOptions options = options_of(kKinds[0], kBases[0], 5);
    change(options);
    return krylov(*s, options);
  };
  EXPECT_THROW(make([](KrylovOptions& o) { o.method = KrylovMethod::fgmres; }), InvalidInput);
  EXPECT_THROW(make([](KrylovOptions& o) { o.side = KrylovSide::right; }), InvalidInput);
  for (const KrylovMethod other : {KrylovMethod::cg, KrylovMethod::bicgstab, KrylovMethod::fgmres, KrylovMethod::minres,
                                   KrylovMethod::richardson, KrylovMethod::chebyshev}) {
    EXPECT_THROW(make([&](KrylovOptions& o) {
                   o.method = other;
                   o.side = KrylovSide::symmetric;
                   o.smallest = 0.1;
                   o.largest = 2.0;
                 }),
                 InvalidInput);
  }
  EXPECT_THROW(make([](KrylovOptions& o) { o.norm = KrylovNorm::unpreconditioned; }), InvalidInput);
  EXPECT_THROW(make([](KrylovOptions& o) { o.norm = KrylovNorm::natural; }), InvalidInput);
  EXPECT_THROW(make([](KrylovOptions& o) { o.restart = 0; }), InvalidInput);
  EXPECT_THROW(make([](KrylovOptions& o) { o.breakdown_tolerance = std::nan(""); }), InvalidInput);
  EXPECT_THROW(make([](KrylovOptions& o) { o.happy_tolerance = -1.0; }), InvalidInput);
}

TEST_P(KrylovGmresTest, AnEmptySystemIsSolvedAtOnce) {
  auto s = system(CsrMatrix{}, With::nothing);
  Krylov k = krylov(*s, options_of(kKinds[0], kBases[0], 5));
  EXPECT_EQ(solve(k, {}, {}).outcome.iterations, 0);
}

}  // namespace
}  // namespace taskdag

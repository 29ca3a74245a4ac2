// Krylov methods for complex systems as loops on both backends, against the textbook's with complex numbers.
#include <complex>
#include <limits>
#include <string>

#include "krylov_fixture.hpp"
#include "problems.hpp"
#include "taskdag/complex.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

using Number = std::complex<double>;
using Numbers = std::vector<Number>;
using Map = std::function<Numbers(const Numbers&)>;
using test::parts_of;
using test::With;

constexpr With kPreconditioners[] = {With::nothing, With::diagonal, With::factor};

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

Numbers numbers_of(const std::vector<double>& parts) {
  Numbers x;
  for (std::size_t k = 0; k < parts.size(); k += 2) x.emplace_back(parts[k], parts[k + 1]);
  return x;
}
/// xᴴ y
Number dot(const Numbers& x, const Numbers& y) {
  Number sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += std::conj(x[i]) * y[i];
  return sum;
}
double length(const Numbers& x) { return std::sqrt(dot(x, x).real()); }
/// x + a y
Numbers sum_of(Numbers x, Number a, const Numbers& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += a * y[i];
  return x;
}
Numbers product(const ComplexMatrix& a, const Numbers& x) {
  Numbers y(at(a.rows));
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_offsets[at(i)]; e < a.row_offsets[at(i) + 1]; ++e)
      y[at(i)] += a.values[at(e)] * x[at(a.col_indices[at(e)])];
  }
  return y;
}

enum class Nature { hermitian, general };
/// Values on the pattern of a grid, diagonally dominant.
ComplexMatrix complex_grid(Index n, Nature nature) {
  const CsrMatrix pattern = make_stencil({.stencil = Stencil::five_point, .nx = n, .ny = n});
  ComplexMatrix a{pattern.rows, pattern.cols, pattern.row_offsets, pattern.col_indices, {}};
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_offsets[at(i)]; e < a.row_offsets[at(i) + 1]; ++e) {
      const Index j = a.col_indices[at(e)];
      const Number upper = std::polar(1.0, 0.7 * std::min(i, j) + 1.3 * std::max(i, j));
      if (i == j)
        a.values.push_back(nature == Nature::hermitian ? Number(4.2) : std::polar(4.5, 0.05 * (i % 11)));
      else
        a.values.push_back(nature == Nature::general ? std::polar(1.0, 0.3 * i + 0.2 * j)
                           : i < j                   ? upper
                                                     : std::conj(upper));
    }
  }
  return a;
}
Numbers right_side(Index rows) {
  Numbers b;
  for (Index i = 0; i < rows; ++i) b.push_back(std::polar(1.0 + 0.01 * (i % 13), 0.9 * i));
  return b;
}
/// One that is not Hermitian for any matrix, so scalars of the methods are not real.
Numbers diagonal_of(const ComplexMatrix& a) {
  Numbers d;
  for (Index i = 0; i < a.rows; ++i) d.push_back(std::polar(0.25 + 0.01 * (i % 5), 0.1 * (i % 3)));
  return d;
}

std::vector<double> reference_cg(const ComplexMatrix& a, const Map& m, KrylovNorm norm, const Numbers& b, Numbers x,
                                 std::size_t iterations) {
  Numbers r = sum_of(b, -1.0, product(a, x));
  Numbers z = m(r);
  Numbers p = z;
  Number rz = dot(r, z);
  const auto value = [&] {
    return norm == KrylovNorm::natural ? std::sqrt(std::abs(rz)) : length(norm == KrylovNorm::preconditioned ? z : r);
  };
  std::vector<double> norms{value()};
  for (std::size_t k = 0; k < iterations; ++k) {
    const Numbers w = product(a, p);
    const Number alpha = rz / dot(w, p);
    x = sum_of(x, alpha, p);
    r = sum_of(r, -alpha, w);
    z = m(r);
    const Number before = rz;
    rz = dot(r, z);
    p = sum_of(z, rz / before, p);
    norms.push_back(value());
  }
  return norms;
}

std::vector<double> reference_bicgstab(const ComplexMatrix& a, const Map& m, bool right, const Numbers& b,
                                       const Numbers& x, std::size_t iterations) {
  const auto k = [&](const Numbers& v) { return right ? product(a, m(v)) : m(product(a, v)); };
  Numbers r = sum_of(b, -1.0, product(a, x));
  if (!right) r = m(r);
  const Numbers shadow = r;
  Numbers p = r;
  Number rho = dot(shadow, r);
  std::vector<double> norms{length(r)};
  for (std::size_t i = 0; i < iterations; ++i) {
    const Numbers v = k(p);
    const Number alpha = rho / dot(shadow, v);
    const Numbers s = sum_of(r, -alpha, v);
    const Numbers t = k(s);
    const Number omega = dot(t, s) / dot(t, t).real();
    r = sum_of(s, -omega, t);
    norms.push_back(length(r));
    const Number before = rho;
    rho = dot(shadow, r);
    p = sum_of(r, rho / before * alpha / omega, sum_of(p, -omega, v));
  }
  return norms;
}

/// Norms of the smallest residuals in spaces of 0, 1, … dimensions: what is left of r without its parts along images of
/// an orthonormal basis, made orthonormal themselves.
std::vector<double> reference_gmres(const ComplexMatrix& a, const Map& m, bool right, const Numbers& b,
                                    const Numbers& x, std::size_t iterations) {
  const auto k = [&](const Numbers& v) { return right ? product(a, m(v)) : m(product(a, v)); };
  Numbers r = sum_of(b, -1.0, product(a, x));
  if (!right) r = m(r);
  std::vector<double> norms{length(r)};
  std::vector<Numbers> basis{sum_of(Numbers(r.size()), 1.0 / length(r), r)};
  std::vector<Numbers> images;
  for (std::size_t i = 0; i < iterations; ++i) {
    Numbers image = k(basis.back());
    Numbers next = image;
    for (int pass = 0; pass < 2; ++pass) {
      for (const Numbers& v : basis) next = sum_of(next, -dot(v, next), v);
      for (const Numbers& q : images) image = sum_of(image, -dot(q, image), q);
    }
    basis.push_back(sum_of(Numbers(r.size()), 1.0 / length(next), next));
    images.push_back(sum_of(Numbers(r.size()), 1.0 / length(image), image));
    r = sum_of(r, -dot(images.back(), r), images.back());
    norms.push_back(length(r));
  }
  return norms;
}

class KrylovComplexTest : public test::KrylovFixture {
 protected:
  std::unique_ptr<System> complex_system(const ComplexMatrix& a, With with) const {
    CsrMatrix pairs{a.rows, a.cols, a.row_offsets, a.col_indices, parts_of(a.values)};
    auto s = std::unique_ptr<System>(new System{pairs, place(pairs), place(parts_of(diagonal_of(a))), {}, {}});
    if (with == With::diagonal) s->map = std::make_unique<DiagonalMap>(s->diagonal.data());
    if (with == With::factor) {
      const CsrMatrix blocks{a.rows, a.cols, a.row_offsets, a.col_indices, real_blocks(a.values)};
      s->factor.emplace(factorization(blocks, {.kind = FactorKind::ilu, .block_size = 2, .complex_blocks = true}));
      EXPECT_TRUE(factor(*s->factor, blocks.values).ok());
      const auto apply = [f = &*s->factor, space = space()](const double* x, double* y, Stream stream) {
        f->apply(Apply::full, x, y, space, stream);
      };
      s->map = std::make_unique<FunctionMap<decltype(apply)>>(apply);
    }
    return s;
  }
  Map map_of(System& s, const ComplexMatrix& a, With with) const {
    if (with == With::nothing) return [](const Numbers& r) { return r; };
    if (with == With::factor)
      return [this, &s](const Numbers& r) { return numbers_of(apply(*s.factor, Apply::full, parts_of(r))); };
    return [d = diagonal_of(a)](Numbers r) {
      for (std::size_t i = 0; i < r.size(); ++i) r[i] *= d[i];
      return r;
    };
  }
  void expect_norms(const Solved& solved, const ComplexMatrix& a, const Numbers& b,
                    const std::vector<double>& expected) const {
    EXPECT_EQ(solved.outcome.reason, KrylovReason::relative_tolerance);
    EXPECT_LE(length(sum_of(b, -1.0, product(a, numbers_of(solved.x)))), 1e-6 * length(b));
    ASSERT_EQ(solved.outcome.norms.size(), expected.size());
    for (std::size_t n = 0; n < expected.size(); ++n)
      EXPECT_NEAR(solved.outcome.norms[n], expected[n], 1e-6 * expected[n] + 1e-9 * expected[0]) << "iteration " << n;
  }
  static KrylovOptions options_of(KrylovMethod method, KrylovSide side = KrylovSide::left) {
    const bool right = side == KrylovSide::right;
    return {.method = method,
            .side = side,
            .norm = right ? KrylovNorm::unpreconditioned : KrylovNorm::preconditioned,
            .complex_numbers = true,
            .restart = 200};
  }
};
INSTANTIATE_TEST_SUITE_P(On, KrylovComplexTest, testing::ValuesIn(test::krylov_places()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

TEST_P(KrylovComplexTest, CgHasTheNormsOfTheTextbook) {
  const ComplexMatrix a = complex_grid(33, Nature::hermitian);  // enough for three threads
  const Numbers b = right_side(a.rows);
  for (const With with : {With::nothing, With::factor}) {
    for (const KrylovNorm norm : {KrylovNorm::preconditioned, KrylovNorm::unpreconditioned, KrylovNorm::natural}) {
      for (const bool guess : {false, true}) {
        SCOPED_TRACE(std::string(name_of(with)) + ", norm " + std::to_string(static_cast<int>(norm)));
        auto s = complex_system(a, with);
        Krylov k = krylov(*s, {.norm = norm, .complex_numbers = true});
        const Numbers start = guess ? diagonal_of(a) : Numbers(b.size());
        const Solved solved =
            solve(k, parts_of(b), {.relative = 1e-9}, guess ? parts_of(start) : std::vector<double>{});
        expect_norms(solved, a, b, reference_cg(a, map_of(*s, a, with), norm, b, start, at(solved.outcome.iterations)));
      }
    }
  }
}

// With a preconditioner that is not Hermitian CG need not converge, and its scalars are complex.
TEST_P(KrylovComplexTest, CgHasComplexScalars) {
  const ComplexMatrix a = complex_grid(20, Nature::hermitian);
  const Numbers b = right_side(a.rows);
  auto s = complex_system(a, With::diagonal);
  Krylov k = krylov(*s, {.complex_numbers = true});
  const Solved solved = solve(k, parts_of(b), {.relative = 1e-30, .iterations = 8});
  const std::vector<double> expected =
      reference_cg(a, map_of(*s, a, With::diagonal), KrylovNorm::preconditioned, b, Numbers(b.size()), 8);
  ASSERT_EQ(solved.outcome.norms.size(), expected.size());
  for (std::size_t n = 0; n < expected.size(); ++n)
    EXPECT_NEAR(solved.outcome.norms[n], expected[n], 1e-9 * expected[n]);
}

TEST_P(KrylovComplexTest, BicgstabAndGmresHaveTheNormsOfTheTextbook) {
  const ComplexMatrix a = complex_grid(33, Nature::general);
  const Numbers b = right_side(a.rows);
  for (const With with : kPreconditioners) {
    for (const KrylovSide side : {KrylovSide::left, KrylovSide::right}) {
      for (const bool guess : {false, true}) {
        const bool right = side == KrylovSide::right;
        SCOPED_TRACE(std::string(name_of(with)) + (right ? ", right" : ", left"));
        auto s = complex_system(a, with);
        const Map m = map_of(*s, a, with);
        const Numbers start = guess ? diagonal_of(a) : Numbers(b.size());
        const auto solved_by = [&](const KrylovOptions& options) {
          Krylov k = krylov(*s, options);
          return solve(k, parts_of(b), {.relative = 1e-9}, guess ? parts_of(start) : std::vector<double>{});
        };
        const Solved one = solved_by(options_of(KrylovMethod::bicgstab, side));
        expect_norms(one, a, b, reference_bicgstab(a, m, right, b, start, at(one.outcome.iterations)));
        KrylovOptions options = options_of(KrylovMethod::gmres, side);
        const Solved classical = solved_by(options);
        const std::vector<double> smallest = reference_gmres(a, m, right, b, start, at(classical.outcome.iterations));
        expect_norms(classical, a, b, smallest);
        options.orthogonalisation = KrylovOrthogonalisation::modified;
        expect_norms(solved_by(options), a, b, smallest);
        options.orthogonalisation = KrylovOrthogonalisation::classical;
        for (const KrylovRefinement refinement : {KrylovRefinement::if_needed, KrylovRefinement::always}) {
          options.refinement = refinement;
          expect_norms(solved_by(options), a, b, smallest);
        }
        if (right) expect_norms(solved_by(options_of(KrylovMethod::fgmres, side)), a, b, smallest);
      }
    }
  }
}

TEST_P(KrylovComplexTest, RestartsAreMade) {
  const ComplexMatrix a = complex_grid(25, Nature::general);
  const Numbers b = right_side(a.rows);
  for (const KrylovSide side : {KrylovSide::left, KrylovSide::right}) {
    auto s = complex_system(a, With::diagonal);
    KrylovOptions options = options_of(KrylovMethod::gmres, side);
    options.restart = 5;
    Krylov k = krylov(*s, options);
    const Solved solved = solve(k, parts_of(b), {.relative = 1e-9});
    EXPECT_GT(solved.outcome.iterations, 10);
    const Numbers r = sum_of(b, -1.0, product(a, numbers_of(solved.x)));
    const double left = length(side == KrylovSide::left ? map_of(*s, a, With::diagonal)(r) : r);
    EXPECT_NEAR(left, solved.outcome.norm, 1e-6 * left);
  }
}

// Methods whose scalars are real see the parts alone: those of a real matrix are two systems of their own.
TEST_P(KrylovComplexTest, MethodsOfRealScalarsComputeWithTheParts) {
  const CsrMatrix real = make_stencil({.stencil = Stencil::five_point, .nx = 21, .ny = 21});
  ComplexMatrix a{real.rows, real.cols, real.row_offsets, real.col_indices, {}};
  for (const double value : real.values) a.values.emplace_back(value);
  const std::vector<double> b = test::right_hand_side(a.rows);
  Numbers turned;
  for (const double one : b) turned.emplace_back(0.6 * one, 0.8 * one);
  for (const KrylovMethod method : {KrylovMethod::minres, KrylovMethod::richardson, KrylovMethod::chebyshev}) {
    SCOPED_TRACE(to_string(method));
    auto s = system(real, With::nothing);
    auto of_numbers = complex_system(a, With::nothing);
    const KrylovOptions options{.method = method, .damping = 0.2, .smallest = 0.01, .largest = 8.0};
    KrylovOptions complex_options = options;
    complex_options.complex_numbers = true;
    Krylov k = krylov(*s, options);
    Krylov of_parts = krylov(*of_numbers, complex_options);
    const KrylovTolerances tolerances{.relative = 1e-6, .iterations = 200};
    const Solved expected = solve(k, b, tolerances);
    const Solved solved = solve(of_parts, parts_of(turned), tolerances);
    EXPECT_EQ(solved.outcome.reason, expected.outcome.reason);
    EXPECT_NEAR(static_cast<double>(solved.outcome.iterations), static_cast<double>(expected.outcome.iterations), 1.0);
    EXPECT_NEAR(solved.outcome.norms[5], expected.outcome.norms[5], 1e-9 * expected.outcome.norms[0]);
  }
}

TEST_P(KrylovComplexTest, EveryFormGivesTheSameBitsAndSoDoPieces) {
  const ComplexMatrix a = complex_grid(20, Nature::hermitian);
  const std::vector<double> b = parts_of(right_side(a.rows));
  for (const KrylovMethod method :
       {KrylovMethod::cg, KrylovMethod::bicgstab, KrylovMethod::gmres, KrylovMethod::fgmres}) {
    const KrylovSide side = method == KrylovMethod::fgmres ? KrylovSide::right : KrylovSide::left;
    for (const With with : {With::nothing, With::factor}) {
      SCOPED_TRACE(std::string(to_string(method)) + ", " + name_of(with));
      auto s = complex_system(a, with);
      std::optional<Solved> first;
      for (const KrylovForm form : forms(With::factor, method)) {
        KrylovOptions options = options_of(method, side);
        options.form = form;
        Krylov k = krylov(*s, options);
        EXPECT_EQ(k.info().form, form);
        for (int repeat = 0; repeat < 5; ++repeat) {
          const Solved solved = solve(k, b, {.relative = 1e-8});
          if (!first) first = solved;
          ASSERT_EQ(solved.x, first->x);
          ASSERT_EQ(solved.outcome.norms, first->outcome.norms);
        }
        expect_pieces(k, b, {.relative = 1e-8}, 3, *first);
      }
    }
  }
}

// What compute-sanitizer can look at: in graphs with loops its memcheck fails by itself (docs/testing.md).
TEST_P(KrylovComplexTest, LoopsWithoutGraphsSolveTheSystem) {
  const ComplexMatrix a = complex_grid(33, Nature::hermitian);
  const Numbers b = right_side(a.rows);
  const bool host = GetParam().backend == Backend::host;
  for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::bicgstab, KrylovMethod::gmres, KrylovMethod::fgmres,
                                    KrylovMethod::minres, KrylovMethod::richardson, KrylovMethod::chebyshev}) {
    SCOPED_TRACE(to_string(method));
    KrylovOptions options = options_of(method, method == KrylovMethod::fgmres ? KrylovSide::right : KrylovSide::left);
    options.form = host ? KrylovForm::threads : KrylovForm::host_driven;
    options.restart = 7;
    options.smallest = 0.01;
    options.largest = 2.0;
    auto s = complex_system(a, With::factor);
    Krylov k = krylov(*s, options);
    const Solved solved = solve(k, parts_of(b), {.relative = 1e-8});
    EXPECT_TRUE(solved.outcome.converged());
    EXPECT_LE(length(sum_of(b, -1.0, product(a, numbers_of(solved.x)))), 1e-6 * length(b));
  }
}

TEST_P(KrylovComplexTest, EndsOnEveryInput) {
  const ComplexMatrix a = complex_grid(15, Nature::hermitian);
  const std::vector<double> b = parts_of(right_side(a.rows));
  for (const std::size_t part : {20U, 21U}) {
    std::vector<double> bad = b;
    bad[part] = std::numeric_limits<double>::quiet_NaN();
    for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::bicgstab, KrylovMethod::gmres}) {
      SCOPED_TRACE(to_string(method));
      auto s = complex_system(a, With::diagonal);
      Krylov k = krylov(*s, options_of(method));
      expect_ends(k, b, bad);
    }
  }
}

TEST_P(KrylovComplexTest, RefusesWhatItDoesNotHave) {
  auto s = complex_system(complex_grid(5, Nature::hermitian), With::nothing);
  const auto refused = [&](KrylovOptions options) {
    options.complex_numbers = true;
    EXPECT_THROW(krylov(*s, options), Unsupported);
  };
  refused({.block_size = 2});
  refused({.columns = 2});
  refused({.coefficients = true});
  refused({.method = KrylovMethod::gmres, .side = KrylovSide::symmetric});
  refused({.method = KrylovMethod::richardson, .norm = KrylovNorm::natural});
  Krylov k = krylov(*s, {.complex_numbers = true});
  EXPECT_THROW(k.set_null_space(true, {}), Unsupported);
}

}  // namespace
}  // namespace taskdag

/// \file
/// Systems for tests of Krylov methods, on both backends.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backends.hpp"

namespace taskdag::test {

/// Where the system is in memory of the backend.
inline std::vector<Where> krylov_places() {
  std::vector<Where> result;
  for (const Where& where : everywhere()) {
    if (where.backend == Backend::host || where.space == MemorySpace::device) result.push_back(where);
  }
  return result;
}

enum class With { nothing, diagonal, factor };
inline const char* name_of(With with) {
  return with == With::nothing ? "no preconditioner" : with == With::diagonal ? "diagonal" : "factor";
}
inline std::vector<double> inverse_diagonal(const CsrMatrix& a) {
  std::vector<double> result(static_cast<std::size_t>(a.rows), 1.0);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_offsets[static_cast<std::size_t>(i)]; e < a.row_offsets[static_cast<std::size_t>(i) + 1];
         ++e) {
      const auto at = static_cast<std::size_t>(e);
      if (a.col_indices[at] == i) result[static_cast<std::size_t>(i)] = 1.0 / a.values[at];
    }
  }
  return result;
}

inline double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

inline std::vector<double> residual(const CsrMatrix& a, const std::vector<double>& b, const std::vector<double>& x) {
  std::vector<double> r(b.size());
  multiply(a.view(), x, r);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
  return r;
}
inline double relative_residual(const CsrMatrix& a, const std::vector<double>& b, const std::vector<double>& x) {
  const std::vector<double> r = residual(a, b, x);
  return std::sqrt(dot(r, r) / dot(b, b));
}

class KrylovFixture : public BackendTest {
 protected:
  /// A system in memory of the backend, and what it needs.
  struct System {
    CsrMatrix a;
    MatrixArrays matrix;
    Array<double> diagonal;
    std::optional<Factorization> factor;
    std::unique_ptr<LinearMap> map;
  };
  std::unique_ptr<System> system(const CsrMatrix& a, With with, FactorKind kind = FactorKind::ic) const {
    auto s = std::unique_ptr<System>(new System{
        a, place(a), place(with == With::diagonal ? inverse_diagonal(a) : std::vector<double>{0.0}), {}, {}});
    if (with == With::diagonal) s->map = std::make_unique<DiagonalMap>(s->diagonal.data());
    if (with == With::factor) {
      s->factor.emplace(factorization(a, {.kind = kind}));
      factor(*s->factor, a.values);
      const auto apply = [f = &*s->factor, space = space()](const double* x, double* y, Stream stream) {
        f->apply(Apply::full, x, y, space, stream);
      };
      s->map = std::make_unique<FunctionMap<decltype(apply)>>(apply);
    }
    return s;
  }
  Krylov krylov(System& s, const KrylovOptions& options) const {
    return {context(), s.matrix.view(), s.map.get(), options, stream()};
  }
  struct Solved {
    KrylovOutcome outcome;
    std::vector<double> x;
  };
  Solved solve(Krylov& k, const std::vector<double>& b, const KrylovTolerances& tolerances,
               const std::vector<double>& guess = {}) const {
    Array<double> rhs = place(b);
    Array<double> x = place(guess.empty() ? std::vector<double>(b.size(), std::nan("")) : guess);
    KrylovOutcome outcome = k.solve(rhs.data(), x.data(), !guess.empty(), tolerances, stream());
    return {std::move(outcome), x.read()};
  }
  /// A solve by pieces of so many iterations gives the bits of `whole`, which was one solve.
  void expect_pieces(Krylov& k, const std::vector<double>& b, const KrylovTolerances& tolerances,
                     std::int64_t at_a_time, const Solved& whole) const {
    Array<double> rhs = place(b);
    Array<double> x = place(std::vector<double>(b.size(), 0.0));
    KrylovOutcome outcome = k.begin(rhs.data(), x.data(), false, tolerances, stream());
    EXPECT_EQ(outcome.norms.size(), 1U);
    while (outcome.reason == KrylovReason::iterating) {
      const std::int64_t before = outcome.iterations;
      outcome = k.go_on(at_a_time, stream());
      EXPECT_LE(outcome.iterations, before + at_a_time);
      if (outcome.iterations == before) break;
    }
    k.end(stream());
    EXPECT_EQ(outcome.norms, whole.outcome.norms);
    EXPECT_EQ(outcome.alpha, whole.outcome.alpha);
    EXPECT_EQ(outcome.beta, whole.outcome.beta);
    EXPECT_EQ(outcome.reason, whole.outcome.reason);
    EXPECT_EQ(x.read(), whole.x);
  }
  /// How solves end that no method can finish: `bad` has a NaN, b is of a system that it can solve.
  void expect_ends(Krylov& k, const std::vector<double>& b, const std::vector<double>& bad) const {
    const std::vector<double> zero(b.size(), 0.0);
    EXPECT_EQ(solve(k, bad, {}).outcome.reason, KrylovReason::not_a_number);
    EXPECT_EQ(solve(k, b, {}, bad).outcome.reason, KrylovReason::not_a_number);
    const Solved nothing = solve(k, zero, {});
    EXPECT_EQ(nothing.outcome.reason, KrylovReason::absolute_tolerance);
    EXPECT_EQ(nothing.outcome.iterations, 0);
    EXPECT_EQ(nothing.x, zero);
    const Solved limited = solve(k, b, {.relative = 1e-12, .iterations = 5});
    EXPECT_EQ(limited.outcome.reason, KrylovReason::iteration_limit);
    EXPECT_EQ(limited.outcome.iterations, 5);
    EXPECT_EQ(solve(k, b, {.relative = 1e-12, .iterations = 0}).outcome.iterations, 0);
    EXPECT_EQ(solve(k, b, {.relative = 1e-30, .divergence = 1e-3}).outcome.reason, KrylovReason::divergence);
  }
  /// M⁻¹ of a system on the host.
  std::function<std::vector<double>(const std::vector<double>&)> preconditioner(System& s, With with) const {
    if (with == With::nothing) return [](const std::vector<double>& r) { return r; };
    if (with == With::factor)
      return [this, &s](const std::vector<double>& r) { return apply(*s.factor, Apply::full, r); };
    return [d = inverse_diagonal(s.a)](std::vector<double> r) {
      for (std::size_t i = 0; i < r.size(); ++i) r[i] *= d[i];
      return r;
    };
  }
  /// Those that can run a system.
  std::vector<KrylovForm> forms(With with, KrylovMethod method = KrylovMethod::cg) const {
    if (GetParam().backend == Backend::host) return {KrylovForm::threads};
    std::vector<KrylovForm> result = {KrylovForm::host_driven};
    if (graphs_have_loops()) result.push_back(KrylovForm::graph);
    using M = KrylovMethod;
    const bool in_one_block = method == M::cg || method == M::bicgstab || method == M::minres;
    if (with != With::factor && in_one_block) result.push_back(KrylovForm::one_block);
    return result;
  }
  /// Not in a library that was built without device link.
  bool graphs_have_loops() const {
    auto s = system({1, 1, {0, 1}, {0}, {1.0}}, With::nothing);
    try {
      krylov(*s, {.form = KrylovForm::graph});
    } catch (const Unsupported&) {
      return false;
    }
    return true;
  }
};

}  // namespace taskdag::test

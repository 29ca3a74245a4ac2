/// \file
/// The coefficients of Chebyshev's iteration: x(k+1) = x(k) + h(k) M⁻¹ r(k) + g(k) (x(k) − x(k−1)).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "taskdag/engine/platform.hpp"
#include "taskdag/error.hpp"
#include "taskdag/krylov.hpp"

namespace taskdag::krylov {

struct PolynomialCoefficients {
  double h;      ///< factor of M⁻¹ r
  double g;      ///< factor of the change before; 0: there is none
  double ratio;  ///< what a rule remembers
};

/// The roots of Lottes' optimised polynomial of the fourth kind and of this degree, for eigenvalues up to 1.
///
/// Of all polynomials p of a degree n with p(0) = 1 it has the smallest γ for which p(λ)² (λ + γ) <= γ on [0, 1], as
/// the bound of a V-cycle wants it. With y² = (λ + γ) / (1 + γ) the left side is γ T(y)² for T, Chebyshev's polynomial
/// of the first kind and of degree 2 n + 1, whose smallest positive extremum is where λ = 0: y = sin u, γ = tan² u with
/// u = π / (4 n + 2). So p is T(y) / y but for a factor, and has the positive roots of T.
inline std::vector<double> optimised_roots(int degree) {
  const double u = std::numbers::pi / (4.0 * degree + 2.0);
  std::vector<double> roots;
  for (int j = 1; j <= degree; ++j) {
    const double y = std::cos((2.0 * j - 1.0) * u);
    roots.push_back((y * y - std::sin(u) * std::sin(u)) / (std::cos(u) * std::cos(u)));
  }
  return roots;
}
/// In the order of Leja: each as far as can be from 0 and from those before. No product of the first factors exceeds 1
/// then.
inline void spread(std::vector<double>& roots) {
  const auto distance = [&](double root, std::size_t before) {
    double product = root;
    for (std::size_t k = 0; k < before; ++k) product *= std::abs(root - roots[k]);
    return product;
  };
  for (std::size_t k = 0; k < roots.size(); ++k) {
    const auto next = std::max_element(roots.begin() + static_cast<std::ptrdiff_t>(k), roots.end(),
                                       [&](double a, double b) { return distance(a, k) < distance(b, k); });
    std::iter_swap(roots.begin() + static_cast<std::ptrdiff_t>(k), next);
  }
}

/// With polynomials of the first kind for eigenvalues between two bounds, or of the fourth kind for those up to one.
/// The optimised ones of the fourth kind are products: each iteration is a step of Richardson's with a root's inverse.
struct ChebyshevRule {
  static constexpr bool momentum = true;
  double smallest;
  double largest;
  KrylovChebyshev kind;
  int degree;
  double steps[most_optimised_degree];

  static ChebyshevRule of(const KrylovOptions& options) {
    ChebyshevRule rule{options.smallest, options.largest, options.kind, options.degree, {}};
    const bool positive = rule.kind != KrylovChebyshev::first || rule.smallest > 0.0;
    if (!positive || !(rule.largest > rule.smallest) || !(rule.largest > 0.0) || !std::isfinite(rule.largest)) {
      throw InvalidInput("Chebyshev's iteration needs bounds of the eigenvalues, 0 < smallest < largest");
    }
    if (rule.kind == KrylovChebyshev::optimised_fourth) rule.take_roots();
    return rule;
  }
  [[nodiscard]] TASKDAG_TASK PolynomialCoefficients next(const PolynomialCoefficients& before, std::int64_t k) const {
    if (kind == KrylovChebyshev::optimised_fourth) return {steps[k % degree], 0.0, 0.0};
    return kind == KrylovChebyshev::fourth ? fourth_kind(static_cast<double>(k)) : first_kind(before.ratio, k);
  }

 private:
  void take_roots() {
    if (degree < 1 || degree > most_optimised_degree) {
      throw InvalidInput("optimised polynomials of the fourth kind have a degree of 1 to 16");
    }
    std::vector<double> roots = optimised_roots(degree);
    spread(roots);
    for (std::size_t k = 0; k < roots.size(); ++k) steps[k] = 1.0 / (roots[k] * largest);
  }
  /// μ = (largest + smallest) / (largest − smallest). The ratio T(k) / T(k + 1) of the polynomials at μ stays below 1,
  /// where they themselves overflow.
  [[nodiscard]] TASKDAG_TASK PolynomialCoefficients first_kind(double ratio, std::int64_t k) const {
    const double mu = (largest + smallest) / (largest - smallest);
    const double step = 2.0 / (largest + smallest);
    if (k == 0) return {step, 0.0, 1.0 / mu};
    const double next = 1.0 / (2.0 * mu - ratio);
    const double omega = 2.0 * mu * next;
    return {omega * step, omega - 1.0, next};
  }
  [[nodiscard]] TASKDAG_TASK PolynomialCoefficients fourth_kind(double k) const {
    const double denominator = 2.0 * k + 3.0;
    return {(8.0 * k + 4.0) / (denominator * largest), k == 0.0 ? 0.0 : (2.0 * k - 1.0) / denominator, 0.0};
  }
};

}  // namespace taskdag::krylov

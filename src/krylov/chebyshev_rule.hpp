/// \file
/// The coefficients of Chebyshev's iteration: x(k+1) = x(k) + h(k) M⁻¹ r(k) + g(k) (x(k) − x(k−1)).
#pragma once

#include <cmath>
#include <cstdint>

#include "taskdag/engine/platform.hpp"
#include "taskdag/error.hpp"
#include "taskdag/krylov.hpp"

namespace taskdag::krylov {

struct PolynomialCoefficients {
  double h;      ///< factor of M⁻¹ r
  double g;      ///< factor of the change before; 0: there is none
  double ratio;  ///< what a rule remembers
};

/// With polynomials of the first kind for eigenvalues between two bounds, or of the fourth kind for those up to one.
struct ChebyshevRule {
  static constexpr bool momentum = true;
  double smallest;
  double largest;
  bool fourth;

  static ChebyshevRule of(const KrylovOptions& options) {
    const ChebyshevRule rule{options.smallest, options.largest, options.kind == KrylovChebyshev::fourth};
    const bool positive = rule.fourth || rule.smallest > 0.0;
    if (!positive || !(rule.largest > rule.smallest) || !(rule.largest > 0.0) || !std::isfinite(rule.largest)) {
      throw InvalidInput("Chebyshev's iteration needs bounds of the eigenvalues, 0 < smallest < largest");
    }
    return rule;
  }
  [[nodiscard]] TASKDAG_TASK PolynomialCoefficients next(const PolynomialCoefficients& before, std::int64_t k) const {
    return fourth ? fourth_kind(static_cast<double>(k)) : first_kind(before.ratio, k);
  }

 private:
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

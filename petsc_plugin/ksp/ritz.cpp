#include "ksp/ritz.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace taskdag::petsc {
namespace {

/// Symmetric tridiagonal.
struct Tridiagonal {
  std::vector<double> diagonal;
  std::vector<double> beside;  ///< beside[k]: of k and k + 1
};

/// Of conjugate gradients' steps α and β, as PETSc has it. A step of 0 is one that has not been taken.
Tridiagonal of_conjugate_gradients(const KrylovOutcome& outcome, std::size_t iterations) {
  Tridiagonal t;
  for (std::size_t k = 1; k <= iterations && outcome.alpha[k] != 0.0; ++k) {
    const double root = std::sqrt(std::abs(outcome.beta[k]));
    const double above = k > 1 ? root / outcome.alpha[k - 1] : 0.0;
    if (k > 1) t.beside.push_back(above);
    t.diagonal.push_back(root * above + 1.0 / outcome.alpha[k]);
  }
  return t;
}

Tridiagonal of_lanczos(const KrylovOutcome& outcome, std::size_t iterations) {
  const auto end = static_cast<std::ptrdiff_t>(iterations) + 1;
  Tridiagonal t;
  t.diagonal.assign(outcome.alpha.begin() + 1, outcome.alpha.begin() + end);
  if (iterations > 1) t.beside.assign(outcome.beta.begin() + 2, outcome.beta.begin() + end);
  return t;
}

/// Wilkinson's: the eigenvalue of the last two rows that is nearer to the last diagonal element.
double shift_of(const Tridiagonal& t, std::size_t last) {
  const double beside = t.beside[last - 1];
  const double half = (t.diagonal[last - 1] - t.diagonal[last]) / 2.0;
  return t.diagonal[last] - beside * beside / (half + std::copysign(std::hypot(half, beside), half));
}

/// A QR step on rows first, …, last: the first rotation is that of the shifted matrix, and those after it take away
/// the element that the one before has put outside the diagonals.
void step(Tridiagonal& t, std::size_t first, std::size_t last) {
  double x = t.diagonal[first] - shift_of(t, last);
  double z = t.beside[first];
  for (std::size_t k = first; k < last; ++k) {
    const double length = std::hypot(x, z);
    const double c = length > 0.0 ? x / length : 1.0;
    const double s = length > 0.0 ? z / length : 0.0;
    const double a = t.diagonal[k];
    const double b = t.beside[k];
    const double d = t.diagonal[k + 1];
    if (k > first) t.beside[k - 1] = length;
    t.diagonal[k] = c * c * a + 2.0 * c * s * b + s * s * d;
    t.diagonal[k + 1] = s * s * a - 2.0 * c * s * b + c * c * d;
    t.beside[k] = (c * c - s * s) * b + c * s * (d - a);
    if (k + 1 == last) break;
    x = t.beside[k];
    z = s * t.beside[k + 1];
    t.beside[k + 1] *= c;
  }
}

bool is_negligible(const Tridiagonal& t, std::size_t k) {
  const double scale = std::abs(t.diagonal[k]) + std::abs(t.diagonal[k + 1]);
  return std::abs(t.beside[k]) <= std::numeric_limits<double>::epsilon() * scale;
}

/// By QR steps from the last row on, two or three for each; their number is limited whatever the elements are.
std::vector<double> eigenvalues_of(Tridiagonal t) {
  std::size_t last = t.diagonal.empty() ? 0 : t.diagonal.size() - 1;
  for (std::size_t remaining = 30 * (last + 1); last > 0 && remaining > 0; --remaining) {
    std::size_t first = last;
    while (first > 0 && !is_negligible(t, first - 1)) --first;
    if (first == last)
      --last;
    else
      step(t, first, last);
  }
  std::ranges::sort(t.diagonal);
  return std::move(t.diagonal);
}

}  // namespace

bool has_ritz_values(KrylovMethod method) { return method == KrylovMethod::cg || method == KrylovMethod::minres; }

std::vector<double> ritz_values(KrylovMethod method, const KrylovOutcome& outcome, std::size_t iterations) {
  const std::size_t known = outcome.alpha.empty() ? 0 : std::min(iterations, outcome.alpha.size() - 1);
  return eigenvalues_of(method == KrylovMethod::cg ? of_conjugate_gradients(outcome, known)
                                                   : of_lanczos(outcome, known));
}

}  // namespace taskdag::petsc

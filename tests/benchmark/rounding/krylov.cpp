#include "krylov.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

namespace taskdag::benchmark {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
double norm(const Vector& a) { return std::sqrt(dot(a, a)); }

void add(Vector& y, double factor, const Vector& x) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += factor * x[i];
}

Vector product(const CsrMatrix& a, const Vector& x) {
  Vector y(x.size());
  multiply(a.view(), x, y);
  return y;
}

double relative_residual(const CsrMatrix& a, const Vector& b, const Vector& x) {
  Vector r = b;
  add(r, -1.0, product(a, x));
  return norm(r) / norm(b);
}

}  // namespace

Solve conjugate_gradients(const CsrMatrix& a, const Vector& b, const Preconditioner& m, double tolerance, int most) {
  Solve solve;
  Vector x(b.size());
  Vector r = b;
  Vector z = m(r);
  Vector p = z;
  double rz = dot(r, z);
  const double goal = tolerance * norm(z);
  while (solve.iterations < most && !solve.converged) {
    const Vector ap = product(a, p);
    const double step = rz / dot(p, ap);
    if (!std::isfinite(step) || step <= 0.0) break;  // not definite
    add(x, step, p);
    add(r, -step, ap);
    z = m(r);
    ++solve.iterations;
    solve.converged = norm(z) <= goal;
    const double next = dot(r, z);
    const double share = next / rz;
    rz = next;
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = z[i] + share * p[i];
  }
  solve.residual = relative_residual(a, b, x);
  return solve;
}

Solve bicgstab(const CsrMatrix& a, const Vector& b, const Preconditioner& m, double tolerance, int most) {
  Solve solve;
  Vector x(b.size());
  Vector r = m(b);
  const Vector shadow = r;
  Vector p(b.size());
  Vector v(b.size());
  double rho = 1.0;
  double alpha = 1.0;
  double omega = 1.0;
  const double goal = tolerance * norm(r);
  while (solve.iterations < most && !solve.converged) {
    const double next = dot(shadow, r);
    const double share = next / rho * (alpha / omega);
    if (!std::isfinite(share) || next == 0.0) break;
    rho = next;
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = r[i] + share * (p[i] - omega * v[i]);
    v = m(product(a, p));
    alpha = rho / dot(shadow, v);
    Vector s = r;
    add(s, -alpha, v);
    const Vector t = m(product(a, s));
    omega = dot(t, s) / dot(t, t);
    if (!std::isfinite(alpha) || !std::isfinite(omega)) break;
    add(x, alpha, p);
    add(x, omega, s);
    r = std::move(s);
    add(r, -omega, t);
    ++solve.iterations;
    solve.converged = norm(r) <= goal;
  }
  solve.residual = relative_residual(a, b, x);
  return solve;
}

}  // namespace taskdag::benchmark

/// \file
/// Iterations whose coefficients are known beforehand: x(k+1) = x(k) + h(k) M⁻¹ r(k) + g(k) (x(k) − x(k−1)).
/// Richardson's method and Chebyshev's, as PETSc's KSPRICHARDSON and KSPCHEBYSHEV but for one count: where the test of
/// a residual ends Chebyshev's, PETSc has begun to count the next iteration.
///
/// An iteration is one stage where M is a diagonal or none: the new x is made on the way, in the product of the new
/// residual, so it stands beside the x before.
#pragma once

#include <cmath>
#include <string>

#include "krylov/chebyshev_rule.hpp"
#include "krylov/run.hpp"
#include "taskdag/error.hpp"

namespace taskdag::krylov {

/// Rule has
///   static constexpr bool momentum           whether g is ever other than 0
///   static Rule of(const KrylovOptions&)     @throws InvalidInput
///   Coefficients next(Coefficients before, std::int64_t k) const   those of iteration k, from those of k − 1
struct PolynomialScalars {
  PolynomialCoefficients next;  ///< of the next iteration
  std::uint32_t turns;          ///< iterations made, modulo 6
};

template <class Rule>
struct PolynomialData {
  /// Solutions that are alive: x(k + 1), x(k) and where it is needed x(k − 1).
  static constexpr std::uint32_t solutions = Rule::momentum ? 3 : 2;

  LoopState loop;
  System system;
  Rule rule;
  PolynomialScalars* scalars;
  double* others[solutions - 1];  ///< solutions; the first is in the caller's x
  double* r;                      ///< where M is applied apart
  double* z[2];                   ///< M⁻¹ r; one array where M is applied apart
  KrylovNorm norm;
  bool large;

  [[nodiscard]] TASKDAG_TASK double* solution(std::uint32_t turn) const {
    const std::uint32_t place = turn % solutions;
    return place == 0 ? loop.control->x : others[place - 1];
  }
  /// Whether the test is that of the residual, which needs no preconditioner.
  [[nodiscard]] TASKDAG_TASK bool tests_residual() const {
    return system.fused() || norm != KrylovNorm::preconditioned;
  }
  [[nodiscard]] TASKDAG_TASK double norm_from(double sum) const { return norm == KrylovNorm::none ? 0.0 : sqrt(sum); }
  /// The square that the norm adds up.
  [[nodiscard]] TASKDAG_TASK double square(double residual, double preconditioned) const {
    return norm == KrylovNorm::preconditioned ? preconditioned * preconditioned : residual * residual;
  }
  /// Without a norm the residual of the last iteration is not needed.
  [[nodiscard]] TASKDAG_TASK bool needs_no_residual() const {
    return norm == KrylovNorm::none && loop.control->iterations + 1 >= loop.control->limit;
  }
};

/// The next solution.
template <class Rule>
struct PolynomialUpdate {
  const double* x;
  const double* before;
  const double* z;
  double h;
  double g;
  explicit TASKDAG_TASK PolynomialUpdate(const PolynomialData<Rule>& d)
      : x(d.solution(d.scalars->turns)),
        before(d.solution(d.scalars->turns + d.solutions - 1)),
        z(d.z[d.scalars->turns % 2]),
        h(d.scalars->next.h),
        g(d.scalars->next.g) {}
  template <class Number>
  [[nodiscard]] TASKDAG_TASK double operator()(Number i) const {
    const double next = x[i] + h * z[i];
    if constexpr (Rule::momentum) {
      // There may be anything before the first.
      if (g != 0.0) return next + g * (x[i] - before[i]);
    }
    return next;
  }
};

/// The new x of a large system.
template <class Rule>
struct PolynomialSolution {
  static constexpr const char* name = "solution";
  PolynomialData<Rule> d;
  struct Worker {
    PolynomialUpdate<Rule> update;
    double* x;
    TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const { x[i] = update(i); }
  };
  [[nodiscard]] TASKDAG_TASK Worker worker() const {
    return {PolynomialUpdate<Rule>(d), d.solution(d.scalars->turns + 1)};
  }
};
/// The new x unless that is there, its residual, and where M is not applied apart z and the test.
template <class Rule>
struct PolynomialStep {
  static constexpr const char* name = "solution and residual";
  static constexpr int sums = 1;
  PolynomialData<Rule> d;
  struct Worker {
    System system;
    PolynomialUpdate<Rule> update;
    const double* b;
    double* x;
    double* r;
    double* z;
    bool made;      ///< x is there; on host threads always
    bool residual;  ///< is needed
    bool of_z;      ///< the norm is that of z
    /// Of the new x, also where it is there.
    [[nodiscard]] TASKDAG_TASK PolynomialUpdate<Rule> operand() const { return update; }
    template <class Rows>
    TASKDAG_TASK auto part(Rows row, int rank, int size) const {
      if (!residual) return decltype(system.product_part(row, rank, size, update)){};
      if constexpr (!rows_on_host<Rows>) {
        if (!made) return system.product_part(row, rank, size, update);
      }
      return system.product_part(row, rank, size, [&](Index j) { return x[j]; });
    }
    TASKDAG_TASK void execute(std::uint32_t row, double product, double* sum) const {
      if (!made) x[row] = update(row);
      const double rest = b[row] - product;
      if (system.fused()) {
        const double preconditioned = system.scaled(row, rest);
        z[row] = preconditioned;
        sum[0] += of_z ? preconditioned * preconditioned : rest * rest;
      } else {
        r[row] = rest;
        sum[0] += rest * rest;
      }
    }
  };
  [[nodiscard]] TASKDAG_TASK Worker worker() const {
    const std::uint32_t next = d.scalars->turns + 1;
    return {d.system,
            PolynomialUpdate<Rule>(d),
            d.loop.control->b,
            d.solution(next),
            d.r,
            d.z[next % 2],
            d.large,
            !d.needs_no_residual(),
            d.norm == KrylovNorm::preconditioned};
  }
  TASKDAG_TASK void finish(const double* sum) const {
    Control c = d.loop.read();
    PolynomialScalars s = *d.scalars;
    s.turns = (s.turns + 1) % 6;
    s.next = d.rule.next(s.next, ++c.iterations);
    *d.scalars = s;
    if (!d.tests_residual()) return d.loop.write_within(c);
    d.loop.take_norm(c, d.norm_from(sum[0]));
    d.loop.write(c);
  }
};

/// Of r and z as they are.
template <class Rule>
struct PolynomialTest {
  static constexpr const char* name = "norm of the residual";
  static constexpr int sums = 1;
  PolynomialData<Rule> d;
  TASKDAG_TASK void execute(std::uint32_t i, double* sum) const { sum[0] += d.square(d.r[i], d.z[0][i]); }
  TASKDAG_TASK void finish(const double* sum) const { d.loop.test(d.norm_from(sum[0])); }
};
template <class Rule>
struct PolynomialBegin {
  static constexpr const char* name = "begin with coefficients";
  PolynomialData<Rule> d;
  TASKDAG_TASK void execute(std::uint32_t /*i*/, double* /*sum*/) const {}
  TASKDAG_TASK void finish(const double* /*sum*/) const { *d.scalars = {d.rule.next({}, 0), 0}; }
};
/// The last solution to where the caller wants it.
template <class Rule>
struct PolynomialEnd {
  static constexpr const char* name = "end with the solution";
  PolynomialData<Rule> d;
  TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const {
    const double* last = d.solution(d.scalars->turns);
    if (last != d.loop.control->x) d.loop.control->x[i] = last[i];
  }
};

template <class Rule>
struct Polynomial {
  using Data = PolynomialData<Rule>;
  static constexpr int turns_at_once = 8;

  static Data prepare(Workspace& work, const LoopInput& input) {
    const std::string name = to_string(input.options.method);
    if (input.options.side != KrylovSide::left) throw InvalidInput(name + " has the left side alone");
    if (input.options.norm == KrylovNorm::natural) throw InvalidInput(name + " has no natural norm");
    Data d{};
    d.system = input.system;
    d.norm = input.options.norm;
    d.rule = Rule::of(input.options);
    d.large = operand_apart(input, Rule::momentum ? 3 : 2);
    d.scalars = work.make<PolynomialScalars>(1);
    for (double*& other : d.others) other = work.vector();
    d.r = work.vector();
    d.z[0] = work.vector();
    d.z[1] = d.system.fused() ? work.vector() : d.z[0];
    return d;
  }
  template <class Flow>
  static void start(Flow& flow, const Data& d, const Calls& calls, const Start& start) {
    const bool preconditioned = d.system.fused() || d.norm == KrylovNorm::preconditioned;
    flow.stage(PolynomialBegin<Rule>{d}, 1);
    first_residual(flow, d.loop, d.system, calls, start.guess, start.b, d.norm, d.r, d.z[0]);
    if (preconditioned) precondition(flow, d.system, calls, d.r, d.z[0]);
    flow.stage(PolynomialTest<Rule>{d}, d.system.rows);
  }
  /// Where the norm needs no preconditioner it comes first: an iteration that is not made does not apply it.
  TASKDAG_ENGINE_ANY_SIDE
  template <class Flow>
  TASKDAG_TASK static void turn(Flow& flow, const Data& d, const Calls& calls) {
    const bool first = !d.system.fused() && d.norm != KrylovNorm::preconditioned;
    if (first) precondition(flow, d.system, calls, d.r, d.z[0]);
    if (d.large) flow.stage(PolynomialSolution<Rule>{d}, d.system.rows);
    multiply(flow, d.system, PolynomialStep<Rule>{d});
    if (d.tests_residual()) return;
    precondition(flow, d.system, calls, d.r, d.z[0]);
    flow.stage(PolynomialTest<Rule>{d}, d.system.rows);
  }
  template <class Flow>
  static void end(Flow& flow, const Data& d, const Calls& /*calls*/) {
    flow.stage(PolynomialEnd<Rule>{d}, d.system.rows);
  }
  static int stages(const Data& d) { return (d.large ? 2 : 1) + (d.tests_residual() ? 0 : 1); }
  /// x, z and b, x and z (r) again; x once more in large systems; the x before, the diagonal, and z for a test apart.
  static int passes(const Data& d) {
    const bool diagonal = d.system.fused() && d.system.preconditioning == Preconditioning::diagonal;
    return (d.large ? 6 : 5) + (Rule::momentum ? 1 : 0) + (diagonal ? 1 : 0) + (d.tests_residual() ? 0 : 1);
  }
  static int products(const Data& /*d*/) { return 1; }
};

}  // namespace taskdag::krylov

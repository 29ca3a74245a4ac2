// MINRES for symmetric matrices, definite or not, with a symmetric positive definite preconditioner. Compiled as a CUDA
// source where CUDA is.
//
// An iteration of Lanczos' process is w = A v with v = z / β made on the way, and α = wᵀ v; then the next residual r of
// that process, z = M⁻¹ r and β² = rᵀ z. What follows are rotations of single numbers. The solution's change by the
// direction of this iteration waits for the next one's first stage, or for the end, so an iteration is two stages where
// M is a diagonal or none. Estimates of norms and tests are those of PETSc's KSPMINRES without its option
// -ksp_minres_qlp, after Choi, Paige and Saunders (SISC 33, 2011).
#include <cfloat>
#include <cmath>

#include "krylov/run.hpp"
#include "taskdag/error.hpp"

namespace taskdag::krylov {
namespace {

/// A reflection [c s; s −c] that turns (a, b) into (length, 0).
struct Reflection {
  double c;
  double s;
  double length;
  static TASKDAG_TASK Reflection of(double a, double b) {
    const double length = hypot(a, b);
    if (length == 0.0) return {1.0, 0.0, 0.0};
    return {a / length, b / length, length};
  }
};

/// a b + c d. A compiler that may contract either product need not take the same one in each form of the loop.
TASKDAG_TASK inline double sum_of_products(double a, double b, double c, double d) {
#if defined(__CUDA_ARCH__)
  return __fma_rn(a, b, __dmul_rn(c, d));
#else
  return a * b + c * d;
#endif
}
TASKDAG_TASK inline double norm_of(double a, double b, double c) { return sqrt(sum_of_products(a, a, b, b) + c * c); }

/// The norm of the solution, from the system that is triangular on both sides.
struct MinresSolutionNorm {
  static constexpr double most = 67108864.0;  ///< 1 / √ε
  double earlier;                             ///< of all elements but the last two
  double u[3];                                ///< elements k − 3, k − 2 and k − 1 as they are now
  double tau[2];                              ///< of the iterations before
  double gamma[2];  ///< diagonal: of k − 2 and k − 1, which are final but for one reflection and two
  double current;   ///< diagonal of k
  double off[2];    ///< beside the diagonal: of k − 1 and k
  double far[2];    ///< two beside it
  double off_before;
  double far_before;
  double c2;
  double s2;
};

struct MinresScalars {
  double beta_first;
  double beta_before;
  double beta;   ///< of this iteration: v = z / β
  double ratio;  ///< β / β before; 0 in iteration 1
  double alpha;
  double phi;   ///< norm of the residual as the rotations have it
  double norm;  ///< the same as long as the solution changes
  double c;
  double s;
  double delta_next;
  double epsilon_next;
  double a_norm;
  double tau;
  MinresSolutionNorm x;
  std::uint32_t stopped;  ///< the solution changes no more
  std::uint32_t
      pending;  ///< whether the change of x is still to be made: by w = (v − δ w before − ε w before that) / γ
  double gamma;
  double delta;
  double epsilon;
  KrylovReason otherwise;  ///< why the loop ends if the test of the norm does not say so
  std::uint32_t parity;    ///< which of the two w is that of the iteration before
};

struct MinresData {
  LoopState loop;
  System system;
  MinresScalars* scalars;
  double* r[2];  ///< of Lanczos' process: the one before, and the last one
  double* z;
  double* v;
  double* w[2];
  KrylovNorm norm;
};

/// The change of x that waits.
struct MinresChange {
  const double* v;
  const double* w_before;
  double* w;  ///< that of before w_before, then the new one
  double* x;
  double delta;
  double epsilon;
  double gamma;
  double tau;
  bool pending;
  explicit TASKDAG_TASK MinresChange(const MinresData& d)
      : v(d.v),
        w_before(d.w[d.scalars->parity]),
        w(d.w[1U - d.scalars->parity]),
        x(d.loop.control->x),
        delta(d.scalars->delta),
        epsilon(d.scalars->epsilon),
        gamma(d.scalars->gamma),
        tau(d.scalars->tau),
        pending(d.scalars->pending != 0) {}
  TASKDAG_TASK void at(std::uint32_t i) const {
    if (!pending) return;
    double now = v[i];
    // There may be anything before the first two.
    if (delta != 0.0) now -= delta * w_before[i];
    if (epsilon != 0.0) now -= epsilon * w[i];
    now /= gamma;
    w[i] = now;
    x[i] += tau * now;
  }
};
TASKDAG_TASK inline void solution_changed(const MinresData& d) {
  MinresScalars& s = *d.scalars;
  if (s.pending != 0) s.parity = 1U - s.parity;
  s.pending = 0;
}

/// The element of the solution that has become known, those before it, and its norm with them. @return whether it may
/// change x
TASKDAG_TASK inline bool estimate_solution(MinresSolutionNorm& x, double tau, std::int64_t k, double& norm,
                                           bool& too_large) {
  const double u4 = x.u[0];
  const double u3 = x.u[1];
  double u2 = x.u[1];
  double u1 = x.u[2];
  if (k > 2) u2 = (x.tau[0] - x.far_before * u4 - x.off_before * u3) / x.gamma[0];
  if (k > 1) u1 = (x.tau[1] - x.far[0] * u3 - x.off[0] * u2) / x.gamma[1];
  x.u[0] = u3;
  x.u[1] = u2;
  x.u[2] = u1;
  const double known = norm_of(x.earlier, u2, u1);
  double last = 0.0;
  const bool possible = fabs(x.current) > DBL_MIN && known < MinresSolutionNorm::most;
  if (possible) last = (tau - x.far[1] * u2 - x.off[1] * u1) / x.current;
  too_large = norm_of(known, last, 0.0) > MinresSolutionNorm::most;
  if (too_large) last = 0.0;
  x.earlier = norm_of(x.earlier, u2, 0.0);
  norm = norm_of(x.earlier, u1, last);
  return possible;
}

/// The reflections from the right that make the triangle a diagonal band, of iteration k.
TASKDAG_TASK inline void reflect_right(MinresSolutionNorm& x, double gamma, double delta, std::int64_t k) {
  x.gamma[0] = x.gamma[1];
  x.gamma[1] = x.current;
  x.current = gamma;
  if (k > 2) {
    x.off_before = x.off[0];
    x.far_before = x.far[0];
    x.far[0] = x.far[1];
    x.off[0] = sum_of_products(x.c2, x.off[1], x.s2, delta);
    delta = sum_of_products(x.s2, x.off[1], -x.c2, delta);
    x.far[1] = x.s2 * gamma;
    x.current = -x.c2 * gamma;
  }
  if (k > 1) {
    const Reflection one = Reflection::of(x.gamma[1], delta);
    x.gamma[1] = one.length;
    x.off[1] = one.s * x.current;
    x.current = -one.c * x.current;
  }
}

/// What follows from α and the next β. @return a reason to end but for the test of the norm, iterating where there is
/// none
TASKDAG_TASK inline KrylovReason rotate(MinresScalars& s, double beta_next, std::int64_t k) {
  const double delta_bar = s.delta_next;
  s.epsilon = s.epsilon_next;
  s.delta = sum_of_products(s.c, delta_bar, s.s, s.alpha);
  const double gamma_bar = sum_of_products(s.s, delta_bar, -s.c, s.alpha);
  s.epsilon_next = s.s * beta_next;
  s.delta_next = -s.c * beta_next;
  const Reflection left = Reflection::of(gamma_bar, beta_next);
  s.c = left.c;
  s.s = left.s;
  s.gamma = left.length;

  MinresSolutionNorm& x = s.x;
  x.tau[0] = x.tau[1];
  x.tau[1] = s.tau;
  s.tau = s.c * s.phi;
  s.phi = s.s * s.phi;
  reflect_right(x, s.gamma, s.delta, k);
  double x_norm = 0.0;
  bool too_large = false;
  const bool possible = estimate_solution(x, s.tau, k, x_norm, too_large);
  if (!possible) s.stopped = 1;
  too_large = too_large || (s.stopped == 0 && !(x_norm < MinresSolutionNorm::most));
  s.pending = s.stopped == 0 && !too_large ? 1U : 0U;

  const Reflection next = Reflection::of(x.gamma[1], s.epsilon_next);
  x.gamma[1] = next.length;
  x.c2 = next.c;
  x.s2 = next.s;
  const double lanczos = norm_of(s.beta_before, s.alpha, beta_next);
  s.a_norm = fmax(fmax(s.a_norm, lanczos), fmax(x.gamma[1], fabs(x.current)));
  if (too_large) return KrylovReason::step_length;
  if (s.stopped == 0) s.norm = s.phi;
  const bool eigenvector = s.a_norm * x_norm * DBL_EPSILON >= s.beta_first;
  return eigenvector ? KrylovReason::relative_tolerance : KrylovReason::iterating;
}

/// The test, and what ends the iteration beside it.
TASKDAG_TASK inline void conclude(const MinresData& d, const MinresScalars& s, Control& c, double norm) {
  d.loop.keep(c, s.alpha, s.beta_before);
  d.loop.take_norm(c, d.norm == KrylovNorm::none ? 0.0 : norm);
  const bool open = c.reason == 0 || c.reason == static_cast<std::int32_t>(KrylovReason::iteration_limit);
  if (open && s.otherwise != KrylovReason::iterating) end_with(c, s.otherwise);
}

/// After rᵀ z.
TASKDAG_TASK inline void finish_lanczos(const MinresData& d, double dot) {
  Control c = d.loop.read();
  MinresScalars s = *d.scalars;
  if (!is_finite(dot)) {
    end_with(c, KrylovReason::not_a_number);
  } else if (dot < 0.0) {
    end_with(c, KrylovReason::indefinite_preconditioner);
  } else {
    const double beta_next = sqrt(dot);
    s.otherwise = rotate(s, beta_next, c.iterations);
    s.beta_before = s.beta;
    s.beta = beta_next;
    s.ratio = beta_next / s.beta_before;
    if (d.norm != KrylovNorm::unpreconditioned) conclude(d, s, c, s.norm);
  }
  *d.scalars = s;
  if (d.norm == KrylovNorm::unpreconditioned) return d.loop.write_within(c);
  d.loop.write(c);
}

/// An element of v.
struct MinresOperand {
  const double* z;
  double factor;
  [[nodiscard]] TASKDAG_TASK double operator()(Index j) const { return factor * z[j]; }
};
/// What waits for x; v = z / β, A v − (β / β before) r before, and α.
struct MinresProduct {
  static constexpr const char* name = "minres solution and product";
  static constexpr int sums = 1;
  MinresData d;
  struct Worker {
    System system;
    MinresChange change;
    const double* z;
    double* v;
    double* r;  ///< the one before
    double factor;
    double ratio;
    [[nodiscard]] TASKDAG_TASK MinresOperand operand() const { return {z, factor}; }
    template <class Rows>
    TASKDAG_TASK auto part(Rows row, int rank, int size) const {
      return system.product_part(row, rank, size, operand());
    }
    TASKDAG_TASK void execute(std::uint32_t row, double product, double* sum) const {
      change.at(row);
      const double now = factor * z[row];
      const double w = ratio == 0.0 ? product : product - ratio * r[row];
      v[row] = now;
      r[row] = w;
      sum[0] += w * now;
    }
  };
  [[nodiscard]] TASKDAG_TASK Worker worker() const {
    return {d.system, MinresChange(d), d.z, d.v, d.r[0], 1.0 / d.scalars->beta, d.scalars->ratio};
  }
  TASKDAG_TASK void finish(const double* sum) const {
    solution_changed(d);
    ++d.loop.control->iterations;
    d.scalars->alpha = sum[0];
  }
};

/// The step of Lanczos' process.
struct MinresLanczos {
  double* before;
  double* r;
  double factor;
  explicit TASKDAG_TASK MinresLanczos(const MinresData& d)
      : before(d.r[1]), r(d.r[0]), factor(d.scalars->alpha / d.scalars->beta) {}
  /// @returns the new residual
  TASKDAG_TASK double at(std::uint32_t i) const {
    const double last = before[i];
    const double now = r[i] - factor * last;
    r[i] = last;
    before[i] = now;
    return now;
  }
};
/// The next residual of Lanczos' process and rᵀ z.
struct MinresResidualAndDot {
  static constexpr const char* name = "minres residual and dot";
  static constexpr int sums = 1;
  MinresData d;
  struct Worker {
    System system;
    MinresLanczos lanczos;
    double* z;
    TASKDAG_TASK void execute(std::uint32_t i, double* sum) const {
      const double r = lanczos.at(i);
      const double now = system.scaled(i, r);
      z[i] = now;
      sum[0] += r * now;
    }
  };
  [[nodiscard]] TASKDAG_TASK Worker worker() const { return {d.system, MinresLanczos(d), d.z}; }
  TASKDAG_TASK void finish(const double* sum) const { finish_lanczos(d, sum[0]); }
};
/// The same where M is applied apart.
struct MinresResidual {
  static constexpr const char* name = "minres residual";
  MinresData d;
  struct Worker {
    MinresLanczos lanczos;
    TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const { static_cast<void>(lanczos.at(i)); }
  };
  [[nodiscard]] TASKDAG_TASK Worker worker() const { return {MinresLanczos(d)}; }
};
struct MinresDot {
  static constexpr const char* name = "minres dot";
  static constexpr int sums = 1;
  MinresData d;
  TASKDAG_TASK void execute(std::uint32_t i, double* sum) const { sum[0] += d.r[1][i] * d.z[i]; }
  TASKDAG_TASK void finish(const double* sum) const { finish_lanczos(d, sum[0]); }
};

/// What waits for x.
struct MinresSolution {
  static constexpr const char* name = "minres solution";
  MinresData d;
  TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const { MinresChange(d).at(i); }
  TASKDAG_TASK void finish(const double* /*sum*/) const { solution_changed(d); }
};
/// The norm of b − A x and the test.
struct MinresTrueNorm {
  static constexpr const char* name = "minres norm of the residual";
  static constexpr int sums = 1;
  MinresData d;
  [[nodiscard]] TASKDAG_TASK Elements operand() const { return {d.loop.control->x}; }
  template <class Rows>
  TASKDAG_TASK auto part(Rows row, int rank, int size) const {
    return d.system.product_part(row, rank, size, operand());
  }
  TASKDAG_TASK void execute(std::uint32_t row, double product, double* sum) const {
    const double r = d.loop.control->b[row] - product;
    sum[0] += r * r;
  }
  TASKDAG_TASK void finish(const double* sum) const {
    Control c = d.loop.read();
    if (c.reason != 0) return;
    conclude(d, *d.scalars, c, sqrt(sum[0]));
    d.loop.write(c);
  }
};

/// The first β and the test of iteration 0.
struct MinresBegin {
  static constexpr const char* name = "minres begin";
  static constexpr int sums = 2;
  MinresData d;
  TASKDAG_TASK void execute(std::uint32_t i, double* sum) const {
    const double r = d.r[1][i];
    sum[0] += r * d.z[i];
    sum[1] += r * r;
  }
  TASKDAG_TASK void finish(const double* sum) const {
    Control c = d.loop.read();
    MinresScalars s{};
    s.c = s.x.c2 = -1.0;
    if (!is_finite(sum[0])) {
      end_with(c, KrylovReason::not_a_number);
    } else if (sum[0] < 0.0) {
      end_with(c, KrylovReason::indefinite_preconditioner);
    } else {
      s.beta = s.beta_first = s.phi = s.norm = sqrt(sum[0]);
      d.loop.keep(c, 0.0, 0.0);
      d.loop.take_norm(c, first_norm(sum));
    }
    *d.scalars = s;
    d.loop.write(c);
  }

 private:
  [[nodiscard]] TASKDAG_TASK double first_norm(const double* sum) const {
    if (d.norm == KrylovNorm::none) return 0.0;
    return sqrt(sum[d.norm == KrylovNorm::unpreconditioned ? 1 : 0]);
  }
};

struct Minres {
  using Data = MinresData;
  // Measured as CG's: a block 12.5 and a graph 14.7 at 2,025 rows; a cluster 11.9 and 15.2 at 10,000, 15.4 and 15.4 at
  // 22,500.
  static constexpr OneBlock one_block() { return {2100, 130000}; }
  static constexpr int turns_at_once = 4;

  static Data prepare(Workspace& work, const LoopInput& input) {
    if (input.options.side != KrylovSide::left) throw InvalidInput("MINRES has the left side alone");
    if (input.options.norm == KrylovNorm::natural) {
      throw InvalidInput("MINRES has no natural norm; what it calls preconditioned is that");
    }
    Data d{};
    d.system = input.system;
    d.norm = input.options.norm;
    d.scalars = work.make<MinresScalars>(1);
    for (double** vector : {&d.r[0], &d.r[1], &d.z, &d.v, &d.w[0], &d.w[1]}) *vector = work.vector();
    return d;
  }
  template <class Flow>
  static void start(Flow& flow, const Data& d, const Calls& calls, const Start& start) {
    first_residual(flow, d.loop, d.system, calls, start.guess, start.b, d.norm, d.r[1], d.z);
    precondition(flow, d.system, calls, d.r[1], d.z);
    flow.stage(MinresBegin{d}, d.system.rows);
  }
  TASKDAG_ENGINE_ANY_SIDE
  template <class Flow>
  TASKDAG_TASK static void turn(Flow& flow, const Data& d, const Calls& calls) {
    const std::uint32_t rows = d.system.rows;
    multiply(flow, d.system, MinresProduct{d});
    if (d.system.fused()) {
      flow.stage(MinresResidualAndDot{d}, rows);
    } else {
      flow.stage(MinresResidual{d}, rows);
      precondition(flow, d.system, calls, d.r[1], d.z);
      flow.stage(MinresDot{d}, rows);
    }
    if (d.norm != KrylovNorm::unpreconditioned) return;
    flow.stage(MinresSolution{d}, rows);
    multiply(flow, d.system, MinresTrueNorm{d});
  }
  template <class Flow>
  static void end(Flow& flow, const Data& d, const Calls& /*calls*/) {
    flow.stage(MinresSolution{d}, d.system.rows);
  }
  static int stages(const Data& d) {
    return (d.system.fused() ? 2 : 3) + (d.norm == KrylovNorm::unpreconditioned ? 2 : 0);
  }
  /// The change of x 6, the rest of the first stage 4; 5 or 4 and 2, and the diagonal; x and b for the true norm.
  static int passes(const Data& d) {
    const bool diagonal = d.system.fused() && d.system.preconditioning == Preconditioning::diagonal;
    return (d.system.fused() ? 15 : 16) + (diagonal ? 1 : 0) + (products(d) == 2 ? 2 : 0);
  }
  static int products(const Data& d) { return d.norm == KrylovNorm::unpreconditioned ? 2 : 1; }
};

}  // namespace

std::unique_ptr<Loop> make_minres(const LoopInput& input) { return make_loop<Minres>(input); }

}  // namespace taskdag::krylov

// BiCGStab. Compiled as a CUDA source where CUDA is.
//
// With K = M⁻¹ A (left) or A M⁻¹ (right) an iteration is v = K p and r̂ᵀ v; s = r − α v, t = K s, sᵀ t, tᵀ t and sᵀ s;
// then x += α p + ω s (right: of M⁻¹ p and M⁻¹ s), r = s − ω t, and the sums of the test. Where M is a diagonal or none
// these are three stages: p and s are made on the way. In large systems, and where M is applied apart, they are arrays.
// Tests, breakdowns and counts are those of PETSc's KSPBCGS; with the right side it adds up M x at first and x at the
// end, which is the same but for rounding.
#include <cmath>

#include "krylov/run.hpp"
#include "taskdag/error.hpp"

namespace taskdag::krylov {
namespace {

struct BicgstabScalars {
  double rho;   ///< r̂ᵀ r
  double beta;  ///< of the next direction; 0: it is r
  double alpha;
  double omega;
  std::uint32_t parity;   ///< which of the two p and v are those of the iteration before
  std::uint32_t half;     ///< α p alone has solved the system
  std::uint32_t stopped;  ///< the loop has ended before the step
};

/// K but for calls.
struct BicgstabOperator {
  System system;
  bool right;
  /// One worker's part of a row of A x; of A M⁻¹ x with a diagonal on the right.
  template <class Rows, class Of>
  TASKDAG_TASK double part_of(Rows row, int rank, int size, const Of& of) const {
    if (!right || !system.fused()) return system.product_part(row, rank, size, of);
    return system.product_part(row, rank, size,
                               [&](Index j) { return system.scaled(static_cast<std::uint32_t>(j), of(j)); });
  }
  /// A row of K x from that of part_of().
  [[nodiscard]] TASKDAG_TASK double row_of(std::uint32_t row, double product) const {
    return right || !system.fused() ? product : system.scaled(row, product);
  }
};

struct BicgstabData {
  LoopState loop;
  System system;
  BicgstabScalars* scalars;
  double* r;
  double* shadow;  ///< r̂: the first residual
  double* t;
  double* p[2];     ///< one array where it is made apart
  double* v[2];     ///< as p
  double* s;        ///< where it is made apart
  double* p_hat;    ///< what A is applied to: M⁻¹ p on the right where M is applied apart, else p
  double* s_hat;    ///< the same of s
  double* product;  ///< left, M applied apart: of A
  KrylovNorm norm;
  bool right;
  bool apart;  ///< p and s are made in stages of their own

  [[nodiscard]] TASKDAG_TASK BicgstabData at(const Column& column) const {
    return {loop.at(column),
            system,
            column.of(scalars, 1),
            column.of(r),
            column.of(shadow),
            column.of(t),
            {column.of(p[0]), column.of(p[1])},
            {column.of(v[0]), column.of(v[1])},
            column.of(s),
            column.of(p_hat),
            column.of(s_hat),
            column.of(product),
            norm,
            right,
            apart};
  }
  [[nodiscard]] TASKDAG_TASK BicgstabOperator k() const { return {system, right}; }
  /// An array that is looked into by a number has to stand in memory.
  [[nodiscard]] TASKDAG_TASK double* p_of(std::uint32_t turn) const { return turn == 0 ? p[0] : p[1]; }
  [[nodiscard]] TASKDAG_TASK double* v_of(std::uint32_t turn) const { return turn == 0 ? v[0] : v[1]; }
};

/// The new direction, from the one before.
struct BicgstabDirectionOf {
  const double* r;
  const double* p;
  const double* v;
  double beta;
  double omega;
  explicit TASKDAG_TASK BicgstabDirectionOf(const BicgstabData& d)
      : r(d.r),
        p(d.p_of(d.scalars->parity)),
        v(d.v_of(d.scalars->parity)),
        beta(d.scalars->beta),
        omega(d.scalars->omega) {}
  /// The p and v of before the first iteration may hold anything.
  template <class Number>
  [[nodiscard]] TASKDAG_TASK double operator()(Number i) const {
    return beta == 0.0 ? r[i] : r[i] + beta * (p[i] - omega * v[i]);
  }
};
/// The residual after the half step.
struct BicgstabHalfOf {
  const double* r;
  const double* v;
  double alpha;
  explicit TASKDAG_TASK BicgstabHalfOf(const BicgstabData& d)
      : r(d.r), v(d.v_of(d.scalars->parity)), alpha(d.scalars->alpha) {}
  template <class Number>
  [[nodiscard]] TASKDAG_TASK double operator()(Number i) const {
    return r[i] - alpha * v[i];
  }
};
/// What A is applied to: of(i), on the right with a diagonal that of M⁻¹ x.
template <class Of>
struct BicgstabOperand {
  BicgstabOperator k;
  Of of;
  template <class Number>
  [[nodiscard]] TASKDAG_TASK double operator()(Number i) const {
    return k.right && k.system.fused() ? k.system.scaled(static_cast<std::uint32_t>(i), of(i)) : of(i);
  }
};
/// Of an array.
struct BicgstabProduct : BicgstabOperator {
  const double* x;
  [[nodiscard]] TASKDAG_TASK BicgstabOperand<Elements> operand() const { return {{system, right}, {x}}; }
  template <class Rows>
  TASKDAG_TASK double part(Rows row, int rank, int size) const {
    return part_of(row, rank, size, Elements{x});
  }
};

/// Ends the loop before the step.
TASKDAG_TASK inline void stop(const BicgstabData& d, BicgstabScalars& s, KrylovReason reason) {
  s.stopped = 1;
  d.loop.end(reason);
}
/// After r̂ᵀ v.
TASKDAG_TASK inline void finish_direction(const BicgstabData& d, double dot) {
  BicgstabScalars s = *d.scalars;
  s.parity = 1U - s.parity;
  s.alpha = s.rho / dot;
  s.stopped = 0;
  if (!is_finite(dot)) {
    stop(d, s, KrylovReason::not_a_number);
  } else if (dot == 0.0) {
    stop(d, s, KrylovReason::breakdown);
  }
  *d.scalars = s;
}
TASKDAG_TASK inline void add_half_sums(double s, double t, double* sum) {
  sum[0] += s * t;
  sum[1] += t * t;
  sum[2] += s * s;
}
TASKDAG_TASK inline void finish_half(const BicgstabData& d, const double* sum) {
  BicgstabScalars s = *d.scalars;
  if (s.stopped != 0) return;
  s.half = sum[1] == 0.0 ? 1U : 0U;
  s.omega = s.half != 0 ? 0.0 : sum[0] / sum[1];
  if (!is_finite(sum[0]) || !is_finite(sum[1])) {
    stop(d, s, KrylovReason::not_a_number);
  } else if (s.half != 0 && sum[2] != 0.0) {
    stop(d, s, KrylovReason::breakdown);
  }
  *d.scalars = s;
}

/// p and v = K p, p made on the way.
struct BicgstabFirst {
  static constexpr const char* name = "bicgstab direction and product";
  static constexpr int sums = 1;
  BicgstabData d;
  [[nodiscard]] TASKDAG_TASK BicgstabOperand<BicgstabDirectionOf> operand() const {
    return {d.k(), BicgstabDirectionOf(d)};
  }
  template <class Rows>
  TASKDAG_TASK double part(Rows row, int rank, int size) const {
    return d.k().part_of(row, rank, size, BicgstabDirectionOf(d));
  }
  TASKDAG_TASK void execute(std::uint32_t row, double product, double* sum) const {
    const std::uint32_t other = 1U - d.scalars->parity;
    const double v = d.k().row_of(row, product);
    d.p_of(other)[row] = BicgstabDirectionOf(d)(row);
    d.v_of(other)[row] = v;
    sum[0] += d.shadow[row] * v;
  }
  TASKDAG_TASK void finish(const double* sum) const { finish_direction(d, sum[0]); }
};
/// t = K s, s made on the way.
struct BicgstabSecond {
  static constexpr const char* name = "bicgstab half step and product";
  static constexpr int sums = 3;
  BicgstabData d;
  [[nodiscard]] TASKDAG_TASK BicgstabOperand<BicgstabHalfOf> operand() const { return {d.k(), BicgstabHalfOf(d)}; }
  template <class Rows>
  TASKDAG_TASK double part(Rows row, int rank, int size) const {
    return d.k().part_of(row, rank, size, BicgstabHalfOf(d));
  }
  TASKDAG_TASK void execute(std::uint32_t row, double product, double* sum) const {
    const double t = d.k().row_of(row, product);
    d.t[row] = t;
    add_half_sums(BicgstabHalfOf(d)(row), t, sum);
  }
  TASKDAG_TASK void finish(const double* sum) const { finish_half(d, sum); }
};

struct BicgstabDirection {
  static constexpr const char* name = "bicgstab direction";
  BicgstabData d;
  TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const { d.p[0][i] = BicgstabDirectionOf(d)(i); }
};
/// v from p̂
struct BicgstabFirstProduct {
  static constexpr const char* name = "bicgstab product";
  static constexpr int sums = 1;
  BicgstabData d;
  struct Worker : BicgstabProduct {
    const double* shadow;
    double* v;
    TASKDAG_TASK void execute(std::uint32_t row, double product, double* sum) const {
      const double now = row_of(row, product);
      v[row] = now;
      sum[0] += shadow[row] * now;
    }
  };
  [[nodiscard]] TASKDAG_TASK Worker worker() const { return {{d.k(), d.p_hat}, d.shadow, d.v[0]}; }
  TASKDAG_TASK void finish(const double* sum) const { finish_direction(d, sum[0]); }
};
struct BicgstabFirstDot {
  static constexpr const char* name = "bicgstab dot";
  static constexpr int sums = 1;
  BicgstabData d;
  TASKDAG_TASK void execute(std::uint32_t i, double* sum) const { sum[0] += d.shadow[i] * d.v[0][i]; }
  TASKDAG_TASK void finish(const double* sum) const { finish_direction(d, sum[0]); }
};

struct BicgstabHalf {
  static constexpr const char* name = "bicgstab half step";
  BicgstabData d;
  TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const { d.s[i] = BicgstabHalfOf(d)(i); }
};
/// t from ŝ
struct BicgstabSecondProduct {
  static constexpr const char* name = "bicgstab second product";
  static constexpr int sums = 3;
  BicgstabData d;
  struct Worker : BicgstabProduct {
    const double* s;
    double* t;
    TASKDAG_TASK void execute(std::uint32_t row, double product, double* sum) const {
      const double now = row_of(row, product);
      t[row] = now;
      add_half_sums(s[row], now, sum);
    }
  };
  [[nodiscard]] TASKDAG_TASK Worker worker() const { return {{d.k(), d.s_hat}, d.s, d.t}; }
  TASKDAG_TASK void finish(const double* sum) const { finish_half(d, sum); }
};
struct BicgstabSecondDots {
  static constexpr const char* name = "bicgstab second dots";
  static constexpr int sums = 3;
  BicgstabData d;
  TASKDAG_TASK void execute(std::uint32_t i, double* sum) const { add_half_sums(d.s[i], d.t[i], sum); }
  TASKDAG_TASK void finish(const double* sum) const { finish_half(d, sum); }
};

/// x, r and the sums of the test.
struct BicgstabStep {
  static constexpr const char* name = "bicgstab step and sums";
  static constexpr int sums = 2;
  BicgstabData d;
  struct Worker {
    System system;
    BicgstabHalfOf half;
    double omega;
    const double* p;
    const double* p_hat;
    const double* s_hat;
    const double* t;
    const double* shadow;
    double* x;
    double* r;
    bool right;
    bool stopped;
    TASKDAG_TASK void execute(std::uint32_t i, double* sum) const {
      if (stopped) return;
      const double s = half(i);
      x[i] = solution(i, s);
      const double now = s - omega * t[i];
      r[i] = now;
      sum[0] += now * now;
      sum[1] += now * shadow[i];
    }
    /// The new x, from p and s or from M⁻¹ p and M⁻¹ s.
    [[nodiscard]] TASKDAG_TASK double solution(std::uint32_t i, double s) const {
      if (right && !system.fused()) return x[i] + half.alpha * p_hat[i] + omega * s_hat[i];
      if (!right) return x[i] + half.alpha * p[i] + omega * s;
      return x[i] + half.alpha * system.scaled(i, p[i]) + omega * system.scaled(i, s);
    }
  };
  [[nodiscard]] TASKDAG_TASK Worker worker() const {
    const BicgstabScalars& now = *d.scalars;
    return {d.system,
            BicgstabHalfOf(d),
            now.omega,
            d.p_of(now.parity),
            d.p_hat,
            d.s_hat,
            d.t,
            d.shadow,
            d.loop.control->x,
            d.r,
            d.right,
            now.stopped != 0};
  }
  TASKDAG_TASK void finish(const double* sum) const {
    Control c = d.loop.read();
    BicgstabScalars s = *d.scalars;
    if (s.stopped != 0) return;
    ++c.iterations;
    d.loop.take_norm(c, d.norm == KrylovNorm::none ? 0.0 : sqrt(sum[0]));
    if (s.half != 0) {
      end_with(c, KrylovReason::relative_tolerance);
    } else if (c.reason == 0 && s.rho == 0.0) {
      end_with(c, KrylovReason::breakdown);
    }
    s.beta = (sum[1] / s.rho) * (s.alpha / s.omega);
    s.rho = sum[1];
    *d.scalars = s;
    d.loop.write(c);
  }
};

/// r̂ = r and the test of iteration 0.
struct BicgstabBegin {
  static constexpr const char* name = "bicgstab begin";
  static constexpr int sums = 1;
  BicgstabData d;
  TASKDAG_TASK void execute(std::uint32_t i, double* sum) const {
    const double r = d.r[i];
    d.shadow[i] = r;
    sum[0] += r * r;
  }
  TASKDAG_TASK void finish(const double* sum) const {
    *d.scalars = {sum[0], 0.0, 1.0, 1.0, 0, 0, 0};
    d.loop.test(d.norm == KrylovNorm::none ? 0.0 : sqrt(sum[0]));
  }
};

void require_norm(const KrylovOptions& options) {
  if (options.side == KrylovSide::symmetric) throw InvalidInput("BiCGStab has no symmetric side");
  const KrylovNorm own = options.side == KrylovSide::left ? KrylovNorm::preconditioned : KrylovNorm::unpreconditioned;
  if (options.norm != own && options.norm != KrylovNorm::none) {
    throw InvalidInput("BiCGStab has the norm preconditioned on the left, unpreconditioned on the right side, or none");
  }
}

struct Bicgstab {
  using Data = BicgstabData;
  static constexpr int turns_at_once = 4;
  // Measured as CG's: a block 14.5 and a graph 16.1 at 2,025 rows; a cluster 12.4 and 16.3 at 10,000, 19.0 and 17.1 at
  // 22,500.
  static constexpr std::uint32_t one_block_rows = 2100;
  static constexpr std::int64_t cluster_entries = 90000;

  static Data prepare(Workspace& work, const LoopInput& input) {
    require_norm(input.options);
    Data d{};
    d.system = input.system;
    d.norm = input.options.norm;
    d.right = input.options.side == KrylovSide::right;
    d.apart = !d.system.fused() || operand_apart(input, 3);
    d.scalars = work.make<BicgstabScalars>(1);
    for (double** vector : {&d.r, &d.shadow, &d.t, &d.p[0], &d.v[0]}) *vector = work.vector();
    d.p[1] = d.apart ? d.p[0] : work.vector();
    d.v[1] = d.apart ? d.v[0] : work.vector();
    if (!d.apart) return d;
    const bool right_apart = d.right && !d.system.fused();
    d.s = work.vector();
    d.p_hat = right_apart ? work.vector() : d.p[0];
    d.s_hat = right_apart ? work.vector() : d.s;
    if (!d.right && !d.system.fused()) d.product = work.vector();
    return d;
  }
  template <class Flow>
  static void start(Flow& flow, const Data& d, const Calls& calls, const Start& start) {
    if (d.right) {
      first_residual(flow, d.loop, d.system, calls, start.guess, start.b, d.norm, d.r, d.t);
      ready_for_capture(flow, d.system, calls, d.r, d.p_hat);
    } else {
      first_residual(flow, d.loop, d.system, calls, start.guess, start.b, d.norm, d.t, d.r);
      precondition(flow, d.system, calls, d.t, d.r);
    }
    flow.stage(BicgstabBegin{d}, d.system.rows);
  }
  TASKDAG_ENGINE_ANY_SIDE
  template <class Flow>
  TASKDAG_TASK static void turn(Flow& flow, const Data& d, const Calls& calls) {
    if (d.apart) {
      first_apart(flow, d, calls);
      second_apart(flow, d, calls);
    } else if constexpr (has_operands_on_the_way<Flow>) {
      multiply(flow, d.system, BicgstabFirst{d});
      multiply(flow, d.system, BicgstabSecond{d});
    }
    flow.stage(BicgstabStep{d}, d.system.rows);
  }
  template <class Flow>
  static void end(Flow& /*flow*/, const Data& /*d*/, const Calls& /*calls*/) {}
  static int stages(const Data& d) {
    if (!d.apart) return 3;
    return d.right || d.system.fused() ? 5 : 7;
  }
  /// With p and s made on the way: 6, 3 and 8. Else 4, 3, 3, 4 and 8, on the left with M applied apart 4 and 2 more; on
  /// the right p̂ and ŝ in place of p. The diagonal is read in both products, on the right in the step, too.
  static int passes(const Data& d) {
    if (!d.system.fused()) return d.right ? 23 : 28;
    const int diagonal = d.system.preconditioning == Preconditioning::none ? 0 : d.right ? 3 : 2;
    return (d.apart ? 22 : 17) + diagonal;
  }
  static int products(const Data& /*d*/) { return 2; }

 private:
  TASKDAG_ENGINE_ANY_SIDE
  template <class Flow>
  TASKDAG_TASK static void first_apart(Flow& flow, const Data& d, const Calls& calls) {
    const bool calls_left = !d.system.fused() && !d.right;
    flow.stage(BicgstabDirection{d}, d.system.rows);
    if (calls_left) {
      multiply(flow, d.system, Product{d.system, d.p[0], d.product});
      precondition(flow, d.system, calls, d.product, d.v[0]);
      flow.stage(BicgstabFirstDot{d}, d.system.rows);
      return;
    }
    if (!d.system.fused()) precondition(flow, d.system, calls, d.p[0], d.p_hat);
    multiply(flow, d.system, BicgstabFirstProduct{d});
  }
  TASKDAG_ENGINE_ANY_SIDE
  template <class Flow>
  TASKDAG_TASK static void second_apart(Flow& flow, const Data& d, const Calls& calls) {
    const bool calls_left = !d.system.fused() && !d.right;
    flow.stage(BicgstabHalf{d}, d.system.rows);
    if (calls_left) {
      multiply(flow, d.system, Product{d.system, d.s, d.product});
      precondition(flow, d.system, calls, d.product, d.t);
      flow.stage(BicgstabSecondDots{d}, d.system.rows);
      return;
    }
    if (!d.system.fused()) precondition(flow, d.system, calls, d.s, d.s_hat);
    multiply(flow, d.system, BicgstabSecondProduct{d});
  }
};

}  // namespace

std::unique_ptr<Loop> make_bicgstab(const LoopInput& input) { return make_loop<Bicgstab>(input); }

}  // namespace taskdag::krylov

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

void require_norm(const KrylovOptions& options) {
  if (options.side == KrylovSide::symmetric) throw InvalidInput("BiCGStab has no symmetric side");
  const KrylovNorm own = options.side == KrylovSide::left ? KrylovNorm::preconditioned : KrylovNorm::unpreconditioned;
  if (options.norm != own && options.norm != KrylovNorm::none) {
    throw InvalidInput("BiCGStab has the norm preconditioned on the left, unpreconditioned on the right side, or none");
  }
}

/// K but for calls.
struct BicgstabOperator {
  System system;
  bool right;
  /// One worker's part of a row of A x; of A M⁻¹ x with a diagonal on the right. real: of no complex numbers, as in
  /// System::product_part(), and M is a diagonal or none.
  template <bool real = false, class Rows, class Of>
  TASKDAG_TASK auto part_of(Rows row, int rank, int size, const Of& of) const {
    if (!right || (!real && !system.fused())) return system.product_part<real>(row, rank, size, of);
    return system.product_part<real>(row, rank, size,
                                     [&](Index j) { return system.scaled(static_cast<std::uint32_t>(j), of(j)); });
  }
  /// A row of K x from that of part_of().
  template <bool real = false>
  [[nodiscard]] TASKDAG_TASK double row_of(std::uint32_t row, double product) const {
    return right || (!real && !system.fused()) ? product : system.scaled(row, product);
  }
};

/// What A is applied to: of(i), on the right with a diagonal that of M⁻¹ x.
template <class Of>
struct BicgstabOperand {
  BicgstabOperator k;
  Of of;
  template <class Place>
  [[nodiscard]] TASKDAG_TASK double operator()(Place i) const {
    return k.right && k.system.fused() ? k.system.scaled(static_cast<std::uint32_t>(i), of(i)) : of(i);
  }
};
/// Of an array.
struct BicgstabProduct : BicgstabOperator {
  const double* x;
  [[nodiscard]] TASKDAG_TASK BicgstabOperand<Elements> operand() const { return {{system, right}, {x}}; }
  template <class Rows>
  TASKDAG_TASK auto part(Rows row, int rank, int size) const {
    return part_of(row, rank, size, Elements{x});
  }
};

template <class Number>
struct Bicgstab {
  static constexpr int parts = parts_of<Number>;

  struct Scalars {
    Number rho;   ///< r̂ᵀ r
    Number beta;  ///< of the next direction; 0: it is r
    Number alpha;
    Number omega;
    std::uint32_t parity;   ///< which of the two p and v are those of the iteration before
    std::uint32_t half;     ///< α p alone has solved the system
    std::uint32_t stopped;  ///< the loop has ended before the step
  };

  struct Data {
    LoopState loop;
    System system;
    Scalars* scalars;
    Number* r;
    Number* shadow;  ///< r̂: the first residual
    Number* t;
    Number* p[2];     ///< one array where it is made apart
    Number* v[2];     ///< as p
    Number* s;        ///< where it is made apart
    Number* p_hat;    ///< what A is applied to: M⁻¹ p on the right where M is applied apart, else p
    Number* s_hat;    ///< the same of s
    Number* product;  ///< left, M applied apart: of A
    KrylovNorm norm;
    bool right;
    bool apart;  ///< p and s are made in stages of their own

    [[nodiscard]] TASKDAG_TASK Data at(const Column& column) const requires(!is_complex<Number>) {
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
    [[nodiscard]] TASKDAG_TASK Number* p_of(std::uint32_t turn) const { return turn == 0 ? p[0] : p[1]; }
    [[nodiscard]] TASKDAG_TASK Number* v_of(std::uint32_t turn) const { return turn == 0 ? v[0] : v[1]; }
  };

  /// The new direction, from the one before.
  struct DirectionOf {
    const Number* r;
    const Number* p;
    const Number* v;
    Number beta;
    Number omega;
    explicit TASKDAG_TASK DirectionOf(const Data& d)
        : r(d.r),
          p(d.p_of(d.scalars->parity)),
          v(d.v_of(d.scalars->parity)),
          beta(d.scalars->beta),
          omega(d.scalars->omega) {}
    /// The p and v of before the first iteration may hold anything.
    template <class Place>
    [[nodiscard]] TASKDAG_TASK Number operator()(Place i) const {
      return is_zero(beta) ? r[i] : r[i] + beta * (p[i] - omega * v[i]);
    }
  };
  /// The residual after the half step.
  struct HalfOf {
    const Number* r;
    const Number* v;
    Number alpha;
    explicit TASKDAG_TASK HalfOf(const Data& d) : r(d.r), v(d.v_of(d.scalars->parity)), alpha(d.scalars->alpha) {}
    template <class Place>
    [[nodiscard]] TASKDAG_TASK Number operator()(Place i) const {
      return r[i] - alpha * v[i];
    }
  };
  /// Ends the loop before the step.
  TASKDAG_TASK static void stop(const Data& d, Scalars& s, KrylovReason reason) {
    s.stopped = 1;
    d.loop.end(reason);
  }
  /// After r̂ᵀ v.
  TASKDAG_TASK static void finish_direction(const Data& d, const double* sum) {
    const auto dot = number_from<Number>(sum);
    Scalars s = *d.scalars;
    s.parity = 1U - s.parity;
    s.alpha = s.rho / dot;
    s.stopped = 0;
    if (!is_finite(dot)) {
      stop(d, s, KrylovReason::not_a_number);
    } else if (is_zero(dot)) {
      stop(d, s, KrylovReason::breakdown);
    }
    *d.scalars = s;
  }
  /// Parts of sᴴ t, then tᴴ t and sᴴ s.
  static constexpr int half_sums = parts + 2;
  TASKDAG_TASK static void add_half_sums(Number s, Number t, double* sum) {
    add_product(sum, s, t);
    sum[parts] += square(t);
    sum[parts + 1] += square(s);
  }
  TASKDAG_TASK static void finish_half(const Data& d, const double* sum) {
    Scalars s = *d.scalars;
    if (s.stopped != 0) return;
    const auto product = number_from<Number>(sum);
    s.half = sum[parts] == 0.0 ? 1U : 0U;
    s.omega = s.half != 0 ? Number(0.0) : conjugate(product) / sum[parts];
    if (!is_finite(product) || !is_finite(sum[parts])) {
      stop(d, s, KrylovReason::not_a_number);
    } else if (s.half != 0 && sum[parts + 1] != 0.0) {
      stop(d, s, KrylovReason::breakdown);
    }
    *d.scalars = s;
  }

  /// p and v = K p, p made on the way.
  struct First {
    static constexpr const char* name = "bicgstab direction and product";
    static constexpr int sums = parts;
    Data d;
    [[nodiscard]] TASKDAG_TASK BicgstabOperand<DirectionOf> operand() const { return {d.k(), DirectionOf(d)}; }
    template <class Rows>
    TASKDAG_TASK auto part(Rows row, int rank, int size) const {
      return d.k().template part_of<true>(row, rank, size, DirectionOf(d));
    }
    TASKDAG_TASK void execute(std::uint32_t row, double product, double* sum) const {
      const std::uint32_t other = 1U - d.scalars->parity;
      const double v = d.k().template row_of<true>(row, product);
      d.p_of(other)[row] = DirectionOf(d)(row);
      d.v_of(other)[row] = v;
      sum[0] += d.shadow[row] * v;
    }
    TASKDAG_TASK void finish(const double* sum) const { finish_direction(d, sum); }
  };
  /// t = K s, s made on the way.
  struct Second {
    static constexpr const char* name = "bicgstab half step and product";
    static constexpr int sums = half_sums;
    Data d;
    [[nodiscard]] TASKDAG_TASK BicgstabOperand<HalfOf> operand() const { return {d.k(), HalfOf(d)}; }
    template <class Rows>
    TASKDAG_TASK auto part(Rows row, int rank, int size) const {
      return d.k().template part_of<true>(row, rank, size, HalfOf(d));
    }
    TASKDAG_TASK void execute(std::uint32_t row, double product, double* sum) const {
      const double t = d.k().template row_of<true>(row, product);
      d.t[row] = t;
      add_half_sums(HalfOf(d)(row), t, sum);
    }
    TASKDAG_TASK void finish(const double* sum) const { finish_half(d, sum); }
  };

  struct Direction {
    static constexpr const char* name = "bicgstab direction";
    Data d;
    TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const { d.p[0][i] = DirectionOf(d)(i); }
  };
  /// v from p̂
  struct FirstProduct {
    static constexpr const char* name = "bicgstab product";
    static constexpr int sums = parts;
    Data d;
    struct Worker : BicgstabProduct {
      const Number* shadow;
      Number* v;
      TASKDAG_TASK void execute(std::uint32_t row, double product, double* sum) const {
        const double now = row_of(row, product);
        reals(v)[row] = now;
        add_product(sum, shadow, row, now);
      }
    };
    [[nodiscard]] TASKDAG_TASK Worker worker() const { return {{d.k(), reals(d.p_hat)}, d.shadow, d.v[0]}; }
    TASKDAG_TASK void finish(const double* sum) const { finish_direction(d, sum); }
  };
  struct FirstDot {
    static constexpr const char* name = "bicgstab dot";
    static constexpr int sums = parts;
    Data d;
    TASKDAG_TASK void execute(std::uint32_t i, double* sum) const { add_product(sum, d.shadow[i], d.v[0][i]); }
    TASKDAG_TASK void finish(const double* sum) const { finish_direction(d, sum); }
  };

  struct Half {
    static constexpr const char* name = "bicgstab half step";
    Data d;
    TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const { d.s[i] = HalfOf(d)(i); }
  };
  /// t from ŝ
  struct SecondProduct {
    static constexpr const char* name = "bicgstab second product";
    static constexpr int sums = half_sums;
    Data d;
    struct Worker : BicgstabProduct {
      const Number* s;
      Number* t;
      TASKDAG_TASK void execute(std::uint32_t row, double product, double* sum) const {
        const double now = row_of(row, product);
        reals(t)[row] = now;
        add_product(sum, s, row, now);
        sum[parts] += now * now;
        sum[parts + 1] += square(reals(s)[row]);
      }
    };
    [[nodiscard]] TASKDAG_TASK Worker worker() const { return {{d.k(), reals(d.s_hat)}, d.s, d.t}; }
    TASKDAG_TASK void finish(const double* sum) const { finish_half(d, sum); }
  };
  struct SecondDots {
    static constexpr const char* name = "bicgstab second dots";
    static constexpr int sums = half_sums;
    Data d;
    TASKDAG_TASK void execute(std::uint32_t i, double* sum) const { add_half_sums(d.s[i], d.t[i], sum); }
    TASKDAG_TASK void finish(const double* sum) const { finish_half(d, sum); }
  };

  /// x, r and the sums of the test.
  struct Step {
    static constexpr const char* name = "bicgstab step and sums";
    static constexpr int sums = 1 + parts;
    Data d;
    struct Worker {
      System system;
      HalfOf half;
      Number omega;
      const Number* p;
      const Number* p_hat;
      const Number* s_hat;
      const Number* t;
      const Number* shadow;
      Number* x;
      Number* r;
      bool right;
      bool stopped;
      TASKDAG_TASK void execute(std::uint32_t i, double* sum) const {
        if (stopped) return;
        const Number s = half(i);
        x[i] = solution(i, s);
        const Number now = s - omega * t[i];
        r[i] = now;
        sum[0] += square(now);
        add_product(sum + 1, shadow[i], now);
      }
      /// The new x, from p and s or from M⁻¹ p and M⁻¹ s.
      [[nodiscard]] TASKDAG_TASK Number solution(std::uint32_t i, Number s) const {
        if (right && !system.fused()) return x[i] + half.alpha * p_hat[i] + omega * s_hat[i];
        if (!right) return x[i] + half.alpha * p[i] + omega * s;
        return x[i] + half.alpha * system.scaled(i, p[i]) + omega * system.scaled(i, s);
      }
    };
    [[nodiscard]] TASKDAG_TASK Worker worker() const {
      const Scalars& now = *d.scalars;
      return {d.system,
              HalfOf(d),
              now.omega,
              d.p_of(now.parity),
              d.p_hat,
              d.s_hat,
              d.t,
              d.shadow,
              numbers<Number>(d.loop.control->x),
              d.r,
              d.right,
              now.stopped != 0};
    }
    TASKDAG_TASK void finish(const double* sum) const {
      Control c = d.loop.read();
      Scalars s = *d.scalars;
      if (s.stopped != 0) return;
      ++c.iterations;
      d.loop.take_norm(c, d.norm == KrylovNorm::none ? 0.0 : sqrt(sum[0]));
      if (s.half != 0) {
        end_with(c, KrylovReason::relative_tolerance);
      } else if (c.reason == 0 && is_zero(s.rho)) {
        end_with(c, KrylovReason::breakdown);
      }
      const auto rho = number_from<Number>(sum + 1);
      s.beta = (rho / s.rho) * (s.alpha / s.omega);
      s.rho = rho;
      *d.scalars = s;
      d.loop.write(c);
    }
  };

  /// r̂ = r and the test of iteration 0.
  struct Begin {
    static constexpr const char* name = "bicgstab begin";
    static constexpr int sums = 1;
    Data d;
    TASKDAG_TASK void execute(std::uint32_t i, double* sum) const {
      const Number r = d.r[i];
      d.shadow[i] = r;
      sum[0] += square(r);
    }
    TASKDAG_TASK void finish(const double* sum) const {
      *d.scalars = {sum[0], 0.0, 1.0, 1.0, 0, 0, 0};
      d.loop.test(d.norm == KrylovNorm::none ? 0.0 : sqrt(sum[0]));
    }
  };

  static constexpr int turns_at_once = 4;
  // Measured as CG's: a block 14.5 and a graph 16.1 at 2,025 rows; a cluster 12.4 and 16.3 at 10,000, 19.0 and 17.1 at
  // 22,500.
  static constexpr OneBlock one_block() requires(!is_complex<Number>) { return {2100, 90000}; }

  static Data prepare(Workspace& work, const LoopInput& input) {
    require_norm(input.options);
    Data d{};
    d.system = input.system;
    d.norm = input.options.norm;
    d.right = input.options.side == KrylovSide::right;
    d.apart = is_complex<Number> || !d.system.fused() || operand_apart(input, 3);
    d.scalars = work.make<Scalars>(1);
    const auto vector = [&] { return numbers<Number>(work.vector()); };
    for (Number** one : {&d.r, &d.shadow, &d.t, &d.p[0], &d.v[0]}) *one = vector();
    d.p[1] = d.apart ? d.p[0] : vector();
    d.v[1] = d.apart ? d.v[0] : vector();
    if (!d.apart) return d;
    const bool right_apart = d.right && !d.system.fused();
    d.s = vector();
    d.p_hat = right_apart ? vector() : d.p[0];
    d.s_hat = right_apart ? vector() : d.s;
    if (!d.right && !d.system.fused()) d.product = vector();
    return d;
  }
  template <class Flow>
  static void start(Flow& flow, const Data& d, const Calls& calls, const Start& start) {
    if (d.right) {
      first_residual<Number>(flow, d.loop, d.system, calls, start.guess, start.b, d.norm, reals(d.r), reals(d.t));
      ready_for_capture(flow, d.system, calls, reals(d.r), reals(d.p_hat));
    } else {
      first_residual<Number>(flow, d.loop, d.system, calls, start.guess, start.b, d.norm, reals(d.t), reals(d.r));
      precondition(flow, d.system, calls, reals(d.t), reals(d.r));
    }
    flow.stage(Begin{d}, elements_of<Number>(d.system));
  }
  TASKDAG_ENGINE_ANY_SIDE
  template <class Flow>
  TASKDAG_TASK static void turn(Flow& flow, const Data& d, const Calls& calls) {
    if (d.apart) {
      first_apart(flow, d, calls);
      second_apart(flow, d, calls);
    } else if constexpr (has_operands_on_the_way<Flow, Number>) {
      multiply(flow, d.system, First{d});
      multiply(flow, d.system, Second{d});
    }
    flow.stage(Step{d}, elements_of<Number>(d.system));
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
  static constexpr int applications = 2;
  static int products(const Data& /*d*/) { return 2; }

 private:
  TASKDAG_ENGINE_ANY_SIDE
  template <class Flow>
  TASKDAG_TASK static void first_apart(Flow& flow, const Data& d, const Calls& calls) {
    const bool calls_left = !d.system.fused() && !d.right;
    flow.stage(Direction{d}, elements_of<Number>(d.system));
    if (calls_left) {
      multiply(flow, d.system, Product{d.system, reals(d.p[0]), reals(d.product)});
      precondition(flow, d.system, calls, reals(d.product), reals(d.v[0]));
      flow.stage(FirstDot{d}, elements_of<Number>(d.system));
      return;
    }
    if (!d.system.fused()) precondition(flow, d.system, calls, reals(d.p[0]), reals(d.p_hat));
    multiply(flow, d.system, FirstProduct{d});
  }
  TASKDAG_ENGINE_ANY_SIDE
  template <class Flow>
  TASKDAG_TASK static void second_apart(Flow& flow, const Data& d, const Calls& calls) {
    const bool calls_left = !d.system.fused() && !d.right;
    flow.stage(Half{d}, elements_of<Number>(d.system));
    if (calls_left) {
      multiply(flow, d.system, Product{d.system, reals(d.s), reals(d.product)});
      precondition(flow, d.system, calls, reals(d.product), reals(d.t));
      flow.stage(SecondDots{d}, elements_of<Number>(d.system));
      return;
    }
    if (!d.system.fused()) precondition(flow, d.system, calls, reals(d.s), reals(d.s_hat));
    multiply(flow, d.system, SecondProduct{d});
  }
};

}  // namespace

std::unique_ptr<Loop> make_bicgstab(const LoopInput& input) { return make_loop_of_numbers<Bicgstab>(input); }

}  // namespace taskdag::krylov

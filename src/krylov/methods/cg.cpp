// Conjugate gradients. Compiled as a CUDA source where CUDA is.
//
// An iteration: w = A p with the direction p made on the way, in the stage that needs it, and pᵀ w; then x, r, and with
// a diagonal preconditioner also z = M⁻¹ r and the sums of the test. Another preconditioner comes after that, and the
// sums after it. As PETSc's KSPCG of type symmetric.
//
// On several ranks elements of z go to other ranks as soon as they are made, while the sums are added up: so they are
// there when the product begins, and p of ghosts is made from them as that of own rows. What has been sent is taken
// once: by the stage that changes x, or, after a loop has ended, at the begin of the next one.
#include <cmath>

#include "krylov/run.hpp"
#include "taskdag/error.hpp"

namespace taskdag::krylov {
namespace {

TASKDAG_TASK inline double sign_of(double value) { return value > 0.0 ? 1.0 : value < 0.0 ? -1.0 : 0.0; }
TASKDAG_TASK inline bool has_changed_sign(double value, double before) { return value * before < 0.0; }
/// As KSPCG has it: a complex number has no sign.
TASKDAG_TASK inline bool has_changed_sign(Complex /*value*/, Complex /*before*/) { return false; }

/// z + β p. The p of before the first iteration may hold anything.
template <class Number>
TASKDAG_TASK Number direction(Number z, Number beta, Number p) {
  return is_zero(beta) ? z : z + beta * p;
}

template <class Number>
struct Cg {
  static constexpr int parts = parts_of<Number>;

  struct Scalars {
    Number rz;  ///< rᵀ z
    Number rz_before;
    Number curvature;  ///< pᵀ A p
    Number alpha;      ///< 0 once the loop has ended: the stages after that leave x alone
    Number beta;
    std::uint32_t parity;   ///< which of the two p is the direction of the iteration before
    std::uint32_t goes_on;  ///< on several ranks: no product has ended the loop
  };

  struct Data {
    LoopState loop;
    System system;
    Scalars* scalars;
    Number* r;
    Number* z;
    Number* w;
    Number* even;  ///< directions: p of even iterations, and of odd ones
    Number* odd;
    Number* ghost_even;  ///< of ghosts
    Number* ghost_odd;
    KrylovNorm norm;
    bool large;

    [[nodiscard]] TASKDAG_TASK Data at(const Column& column) const requires(!is_complex<Number>) {
      return {loop.at(column), system,         column.of(scalars, 1),
              column.of(r),    column.of(z),   column.of(w),
              column.of(even), column.of(odd), nullptr,
              nullptr,         norm,           large};
    }
    /// An array of both would have to stand in memory, to be looked into by a number.
    [[nodiscard]] TASKDAG_TASK Number* p(std::uint32_t parity) const { return parity == 0 ? even : odd; }
    /// Whether ranks send each other elements of z.
    [[nodiscard]] TASKDAG_TASK bool on_ranks() const { return system.halo.links != nullptr; }
    /// Tasks of the stage that changes x: ghosts come after the rows.
    [[nodiscard]] TASKDAG_TASK std::uint32_t rows_and_ghosts() const {
      return elements_of<Number>(system) + system.halo.ghosts / parts_of<Number>;
    }
  };

  /// z = M⁻¹ r unless that has been a call, and the terms of the test's sums.
  struct Terms {
    System system;
    Number* z;
    bool of_r;  ///< the norm is that of r
    bool sends;
    std::uint32_t set;  ///< another rank may not have taken yet what is in the other one
    explicit TASKDAG_TASK Terms(const Data& d)
        : system(d.system),
          z(d.z),
          of_r(d.norm == KrylovNorm::unpreconditioned),
          sends(d.on_ranks() && d.scalars->goes_on != 0),
          set(sends ? 1U - d.system.halo.links->ahead_set : 0U) {}
    TASKDAG_TASK void add(std::uint32_t i, Number r, double* sum) const {
      if (system.fused()) z[i] = system.scaled(i, r);
      const Number now = z[i];
      if (sends) system.halo.send_ahead(i, set, now);
      add_product(sum, r, now);
      sum[parts] += square(of_r ? r : now);
    }
  };

  TASKDAG_TASK static double norm_from(KrylovNorm norm, const double* sum) {
    if (norm == KrylovNorm::none) return 0.0;
    if (norm == KrylovNorm::natural) return sqrt(magnitude(number_from<Number>(sum)));
    return sqrt(sum[parts]);
  }

  /// After the sums: the test, and what PETSc looks at before the next iteration.
  TASKDAG_TASK static void finish_iteration(const Data& d, const double* sum) {
    Control c = d.loop.read();
    Scalars s = *d.scalars;
    if (c.reason != 0) return;
    if (d.on_ranks()) {
      d.system.halo.links->ahead_set = 1U - d.system.halo.links->ahead_set;
      d.system.halo.links->has_ahead = 1;
    }
    if (c.iterations == 0) d.loop.keep(c, 0.0, 0.0);
    d.loop.take_norm(c, norm_from(d.norm, sum));
    s.rz_before = s.rz;
    s.rz = number_from<Number>(sum);
    s.beta = c.iterations > 0 ? s.rz / s.rz_before : Number(0.0);
    const bool goes_on = c.reason == 0;
    if (goes_on && !is_finite(s.rz)) {
      end_with(c, KrylovReason::not_a_number);
    } else if (goes_on && is_zero(s.rz)) {
      ++c.iterations;
      end_with(c, KrylovReason::absolute_tolerance);
    } else if (goes_on && c.iterations > 0 && has_changed_sign(s.rz, s.rz_before)) {
      ++c.iterations;
      end_with(c, KrylovReason::indefinite_preconditioner);
    }
    *d.scalars = s;
    d.loop.write(c);
  }

  /// The sums from r and z.
  struct Sums {
    static constexpr const char* name = "cg sums";
    static constexpr int sums = parts + 1;
    Data d;
    TASKDAG_TASK void execute(std::uint32_t i, double* sum) const { Terms(d).add(i, d.r[i], sum); }
    TASKDAG_TASK void finish(const double* sum) const { finish_iteration(d, sum); }
  };

  /// After pᵀ A p.
  TASKDAG_TASK static void finish_product(const Data& d, const double* sum) {
    Control c = d.loop.read();
    Scalars s = *d.scalars;
    const Number curvature = conjugate(number_from<Number>(sum));
    const Number before = s.curvature;
    s.curvature = curvature;
    s.parity = 1U - s.parity;
    s.alpha = s.rz / curvature;
    ++c.iterations;
    const bool changed = c.iterations > 1 && sign_of(real_part(curvature)) * sign_of(real_part(before)) < 0.0;
    if (!is_finite(curvature)) {
      end_with(c, KrylovReason::not_a_number);
    } else if (is_zero(curvature) || changed) {
      end_with(c, KrylovReason::indefinite_matrix);
    }
    s.goes_on = c.reason == 0 ? 1U : 0U;
    if (c.reason != 0) s.alpha = 0.0;
    d.loop.keep(c, real_part(s.alpha), real_part(s.beta));
    *d.scalars = s;
    d.loop.write_within(c);
  }

  /// p of ghosts, whose z has been sent ahead.
  struct Ghosts {
    Halo halo;
    const Scalars* scalars;
    Number* even;
    Number* odd;
    explicit TASKDAG_TASK Ghosts(const Data& d)
        : halo(d.system.halo), scalars(d.scalars), even(d.ghost_even), odd(d.ghost_odd) {}
    /// That of this iteration, before or after the product has ended.
    [[nodiscard]] TASKDAG_TASK Number direction_of(Index ghost, std::uint32_t parity_before) const {
      const Number* before = parity_before == 0 ? even : odd;
      return direction<Number>(halo.template ahead<Number>(ghost), scalars->beta, before[ghost]);
    }
    /// By parts of numbers.
    [[nodiscard]] TASKDAG_TASK double in_product(Index part) const {
      const Number now = direction_of(part / parts, scalars->parity);
      if constexpr (is_complex<Number>)
        return part % parts == 0 ? now.re : now.im;
      else
        return now;
    }
    /// What the product has needed, for the next one.
    TASKDAG_TASK void keep(std::uint32_t number) const {
      const auto ghost = static_cast<Index>(number);
      Number* now = scalars->parity == 0 ? even : odd;
      now[ghost] = direction_of(ghost, 1U - scalars->parity);
      halo.template clear_ahead<Number>(ghost);
    }
  };

  /// Before the first product: what has been sent ahead to a loop that has ended.
  struct TakeUnused {
    static constexpr const char* name = "cg take unused";
    Data d;
    TASKDAG_TASK void execute(std::uint32_t ghost, double* /*sum*/) const {
      const Halo& halo = d.system.halo;
      if (halo.links->has_ahead == 0) return;
      engine::RankSlot& slot = halo.ahead_slot(static_cast<Index>(ghost));
      static_cast<void>(halo.links->wait_for(slot));
      slot.clear();
    }
    TASKDAG_TASK void finish(const double* /*sum*/) const {
      d.system.halo.links->has_ahead = 0;
      d.scalars->goes_on = 1;
    }
  };

  /// An element of the direction of this iteration.
  struct DirectionOf {
    Ghosts ghosts;
    Number beta;
    const Number* z;
    const Number* p;
    explicit TASKDAG_TASK DirectionOf(const Data& d)
        : ghosts(d), beta(d.scalars->beta), z(d.z), p(d.p(d.scalars->parity)) {}
    template <class Place>
    [[nodiscard]] TASKDAG_TASK Number operator()(Place i) const {
      return direction(z[i], beta, p[i]);
    }
    [[nodiscard]] TASKDAG_TASK double of_ghost(Index ghost) const { return ghosts.in_product(ghost); }
  };

  /// p = z + β p and w = A p. Each row makes the elements of p that it needs anew: p is written beside the one before.
  struct DirectionAndProduct {
    static constexpr const char* name = "cg direction and product";
    static constexpr int sums = parts;
    Data d;
    [[nodiscard]] TASKDAG_TASK DirectionOf operand() const { return DirectionOf(d); }
    template <class Rows>
    TASKDAG_TASK auto part(Rows row, int rank, int size) const {
      return d.system.template product_part<true>(row, rank, size, operand());
    }
    TASKDAG_TASK void execute(std::uint32_t row, double product, double* sum) const {
      const double p = operand()(row);
      d.p(1U - d.scalars->parity)[row] = p;
      d.w[row] = product;
      sum[0] += p * product;
    }
    TASKDAG_TASK void finish(const double* sum) const { finish_product(d, sum); }
  };

  /// p = z + β p
  struct MakeDirection {
    static constexpr const char* name = "cg direction";
    Data d;
    TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const {
      d.p(1U - d.scalars->parity)[i] = DirectionOf(d)(i);
    }
  };

  /// w = A p
  struct DirectionProduct {
    static constexpr const char* name = "cg product";
    static constexpr int sums = parts;
    Data d;
    struct Direction {
      Ghosts ghosts;
      const double* p;
      template <class Place>
      [[nodiscard]] TASKDAG_TASK double operator()(Place i) const {
        return p[i];
      }
      [[nodiscard]] TASKDAG_TASK double of_ghost(Index ghost) const { return ghosts.in_product(ghost); }
    };
    struct Worker {
      System system;
      Ghosts ghosts;
      const Number* p;
      Number* w;
      [[nodiscard]] TASKDAG_TASK Direction operand() const { return {ghosts, reals(p)}; }
      template <class Rows>
      TASKDAG_TASK auto part(Rows row, int rank, int size) const {
        return system.product_part(row, rank, size, operand());
      }
      TASKDAG_TASK void execute(std::uint32_t row, double product, double* sum) const {
        reals(w)[row] = product;
        add_product(sum, p, row, product);
      }
    };
    [[nodiscard]] TASKDAG_TASK Worker worker() const { return {d.system, Ghosts(d), d.p(1U - d.scalars->parity), d.w}; }
    TASKDAG_TASK void finish(const double* sum) const { finish_product(d, sum); }
  };

  /// What changes x and r.
  struct Change {
    bool applies;  ///< the loop goes on
    Number alpha;
    const Number* p;
    const Number* w;
    Number* x;
    Number* r;
    explicit TASKDAG_TASK Change(const Data& d)
        : applies(d.on_ranks() ? d.scalars->goes_on != 0 : !is_zero(d.scalars->alpha)),
          alpha(d.scalars->alpha),
          p(d.p(d.scalars->parity)),
          w(d.w),
          x(numbers<Number>(d.loop.control->x)),
          r(d.r) {}
    /// @returns the new r
    TASKDAG_TASK Number at(std::uint32_t i) const {
      x[i] += alpha * p[i];
      const Number now = r[i] - alpha * w[i];
      r[i] = now;
      return now;
    }
  };

  /// x and r, before a preconditioner that is applied apart.
  struct Step {
    static constexpr const char* name = "cg step";
    Data d;
    struct Worker {
      Change change;
      std::uint32_t rows;
      Ghosts ghosts;
      TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const {
        if (!change.applies) return;
        if (i < rows)
          static_cast<void>(change.at(i));
        else
          ghosts.keep(i - rows);
      }
    };
    [[nodiscard]] TASKDAG_TASK Worker worker() const { return {Change(d), elements_of<Number>(d.system), Ghosts(d)}; }
  };

  /// x, r, z and the sums.
  struct StepAndSums {
    static constexpr const char* name = "cg step and sums";
    static constexpr int sums = parts + 1;
    Data d;
    struct Worker {
      Change change;
      Terms terms;
      Ghosts ghosts;
      TASKDAG_TASK void execute(std::uint32_t i, double* sum) const {
        if (!change.applies) return;
        if (i < elements_of<Number>(terms.system))
          terms.add(i, change.at(i), sum);
        else
          ghosts.keep(i - elements_of<Number>(terms.system));
      }
    };
    [[nodiscard]] TASKDAG_TASK Worker worker() const { return {Change(d), Terms(d), Ghosts(d)}; }
    TASKDAG_TASK void finish(const double* sum) const { finish_iteration(d, sum); }
  };

  static constexpr int turns_at_once = 4;
  static constexpr int calls_at_once = 2;
  // Measured on an H200, µs: a block 7.5 and a graph 11.6 at 2,025 rows, 31 and 11.6 at 10,000; a cluster 7.4 and 11.0
  // at 10,000 rows (59,600 entries and rows), 10.8 and 11.3 at 22,500 (134,400), 14.6 and 11.6 at 40,000.
  static constexpr OneBlock one_block() requires(!is_complex<Number>) { return {3000, 140000}; }

  static Data prepare(Workspace& work, const LoopInput& input) {
    if (input.options.side != KrylovSide::left) throw InvalidInput("conjugate gradients have the left side alone");
    Data d{};
    d.system = input.system;
    d.norm = input.options.norm;
    d.large = is_complex<Number> || operand_apart(input, 2);
    d.scalars = work.make<Scalars>(1);
    d.r = numbers<Number>(work.vector());
    d.z = numbers<Number>(work.vector());
    d.w = numbers<Number>(work.vector());
    d.even = numbers<Number>(work.vector());
    d.odd = numbers<Number>(work.vector());
    d.ghost_even = work.make<Number>(input.system.halo.ghosts / parts);
    d.ghost_odd = work.make<Number>(input.system.halo.ghosts / parts);
    return d;
  }
  template <class Flow>
  static void start(Flow& flow, const Data& d, const Calls& calls, const Start& start) {
    if (d.on_ranks()) flow.stage(TakeUnused{d}, d.system.halo.ghosts);
    first_residual<Number>(flow, d.loop, d.system, calls, start.guess, start.b, d.norm, reals(d.r), reals(d.z));
    if (!d.system.fused()) precondition(flow, d.system, calls, reals(d.r), reals(d.z));
    flow.stage(Sums{d}, elements_of<Number>(d.system));
  }
  TASKDAG_ENGINE_ANY_SIDE
  template <class Flow>
  TASKDAG_TASK static void turn(Flow& flow, const Data& d, const Calls& calls) {
    if (d.large) {
      flow.stage(MakeDirection{d}, elements_of<Number>(d.system));
      multiply_here(flow, d.system, DirectionProduct{d});
    } else if constexpr (has_operands_on_the_way<Flow, Number>) {
      multiply_here(flow, d.system, DirectionAndProduct{d});
    }
    if (d.system.fused()) {
      flow.stage(StepAndSums{d}, d.rows_and_ghosts());
      return;
    }
    flow.stage(Step{d}, d.rows_and_ghosts());
    precondition(flow, d.system, calls, reals(d.r), reals(d.z));
    flow.stage(Sums{d}, elements_of<Number>(d.system));
  }
  template <class Flow>
  static void end(Flow& /*flow*/, const Data& /*d*/, const Calls& /*calls*/) {}
  static int stages(const Data& d) { return (d.large ? 3 : 2) + (d.system.fused() ? 0 : 1); }
  /// z, p, p, w (and p, where it has a stage); then x and r twice, p, w, and z and the diagonal, or r and z for the
  /// sums.
  static int passes(const Data& d) {
    return (d.large ? 5 : 4) + 6 + (d.system.preconditioning == Preconditioning::none ? 1 : 2);
  }
  static int products(const Data& /*d*/) { return 1; }
};

}  // namespace

std::unique_ptr<Loop> make_cg(const LoopInput& input) { return make_loop_of_numbers<Cg>(input); }

}  // namespace taskdag::krylov

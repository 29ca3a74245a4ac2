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

struct CgScalars {
  double rz;  ///< rᵀ z
  double rz_before;
  double curvature;  ///< pᵀ A p
  double alpha;      ///< 0 once the loop has ended: the stages after that leave x alone
  double beta;
  std::uint32_t parity;   ///< which of the two p is the direction of the iteration before
  std::uint32_t goes_on;  ///< on several ranks: no product has ended the loop
};

struct CgData {
  LoopState loop;
  System system;
  CgScalars* scalars;
  double* r;
  double* z;
  double* w;
  double* even;  ///< directions: p of even iterations, and of odd ones
  double* odd;
  double* ghost_even;  ///< of ghosts
  double* ghost_odd;
  KrylovNorm norm;
  bool large;

  [[nodiscard]] TASKDAG_TASK CgData at(const Column& column) const {
    return {loop.at(column), system,         column.of(scalars, 1),
            column.of(r),    column.of(z),   column.of(w),
            column.of(even), column.of(odd), nullptr,
            nullptr,         norm,           large};
  }
  /// An array of both would have to stand in memory, to be looked into by a number.
  [[nodiscard]] TASKDAG_TASK double* p(std::uint32_t parity) const { return parity == 0 ? even : odd; }
  /// Whether ranks send each other elements of z.
  [[nodiscard]] TASKDAG_TASK bool on_ranks() const { return system.halo.links != nullptr; }
  /// Tasks of the stage that changes x: ghosts come after the rows.
  [[nodiscard]] TASKDAG_TASK std::uint32_t rows_and_ghosts() const { return system.rows + system.halo.ghosts; }
};

TASKDAG_TASK inline double sign_of(double value) { return value > 0.0 ? 1.0 : value < 0.0 ? -1.0 : 0.0; }

/// z = M⁻¹ r unless that has been a call, and the terms of the test's sums.
struct CgTerms {
  System system;
  double* z;
  bool of_r;  ///< the norm is that of r
  bool sends;
  std::uint32_t set;  ///< another rank may not have taken yet what is in the other one
  explicit TASKDAG_TASK CgTerms(const CgData& d)
      : system(d.system),
        z(d.z),
        of_r(d.norm == KrylovNorm::unpreconditioned),
        sends(d.on_ranks() && d.scalars->goes_on != 0),
        set(sends ? 1U - d.system.halo.links->ahead_set : 0U) {}
  TASKDAG_TASK void add(std::uint32_t i, double r, double* sum) const {
    if (system.fused()) z[i] = system.scaled(i, r);
    const double now = z[i];
    if (sends) system.halo.send_ahead(i, set, now);
    sum[0] += now * r;
    sum[1] += of_r ? r * r : now * now;
  }
};

TASKDAG_TASK inline double norm_from(KrylovNorm norm, const double* sum) {
  if (norm == KrylovNorm::none) return 0.0;
  if (norm == KrylovNorm::natural) return sqrt(sum[0] < 0.0 ? -sum[0] : sum[0]);
  return sqrt(sum[1]);
}

/// After the sums: the test, and what PETSc looks at before the next iteration.
TASKDAG_TASK inline void finish_iteration(const CgData& d, const double* sum) {
  Control c = d.loop.read();
  CgScalars s = *d.scalars;
  if (c.reason != 0) return;
  if (d.on_ranks()) {
    d.system.halo.links->ahead_set = 1U - d.system.halo.links->ahead_set;
    d.system.halo.links->has_ahead = 1;
  }
  if (c.iterations == 0) d.loop.keep(c, 0.0, 0.0);
  d.loop.take_norm(c, norm_from(d.norm, sum));
  s.rz_before = s.rz;
  s.rz = sum[0];
  s.beta = c.iterations > 0 ? s.rz / s.rz_before : 0.0;
  const bool goes_on = c.reason == 0;
  if (goes_on && !is_finite(s.rz)) {
    end_with(c, KrylovReason::not_a_number);
  } else if (goes_on && s.rz == 0.0) {
    ++c.iterations;
    end_with(c, KrylovReason::absolute_tolerance);
  } else if (goes_on && c.iterations > 0 && s.rz * s.rz_before < 0.0) {
    ++c.iterations;
    end_with(c, KrylovReason::indefinite_preconditioner);
  }
  *d.scalars = s;
  d.loop.write(c);
}

/// The sums from r and z.
struct CgSums {
  static constexpr const char* name = "cg sums";
  static constexpr int sums = 2;
  CgData d;
  TASKDAG_TASK void execute(std::uint32_t i, double* sum) const { CgTerms(d).add(i, d.r[i], sum); }
  TASKDAG_TASK void finish(const double* sum) const { finish_iteration(d, sum); }
};

/// z + β p. The p of before the first iteration may hold anything.
TASKDAG_TASK inline double direction(double z, double beta, double p) { return beta == 0.0 ? z : z + beta * p; }

/// After pᵀ A p.
TASKDAG_TASK inline void finish_product(const CgData& d, double curvature) {
  Control c = d.loop.read();
  CgScalars s = *d.scalars;
  const double before = s.curvature;
  s.curvature = curvature;
  s.parity = 1U - s.parity;
  s.alpha = s.rz / curvature;
  ++c.iterations;
  const bool changed = c.iterations > 1 && sign_of(curvature) * sign_of(before) < 0.0;
  if (!is_finite(curvature)) {
    end_with(c, KrylovReason::not_a_number);
  } else if (curvature == 0.0 || changed) {
    end_with(c, KrylovReason::indefinite_matrix);
  }
  s.goes_on = c.reason == 0 ? 1U : 0U;
  if (c.reason != 0) s.alpha = 0.0;
  d.loop.keep(c, s.alpha, s.beta);
  *d.scalars = s;
  d.loop.write_within(c);
}

/// p of ghosts, whose z has been sent ahead.
struct CgGhosts {
  Halo halo;
  const CgScalars* scalars;
  double* even;
  double* odd;
  explicit TASKDAG_TASK CgGhosts(const CgData& d)
      : halo(d.system.halo), scalars(d.scalars), even(d.ghost_even), odd(d.ghost_odd) {}
  /// That of this iteration, before or after the product has ended.
  [[nodiscard]] TASKDAG_TASK double direction_of(Index ghost, std::uint32_t parity_before) const {
    const double* before = parity_before == 0 ? even : odd;
    return direction(halo.links->wait_for(halo.ahead_slot(ghost)), scalars->beta, before[ghost]);
  }
  [[nodiscard]] TASKDAG_TASK double in_product(Index ghost) const { return direction_of(ghost, scalars->parity); }
  /// What the product has needed, for the next one.
  TASKDAG_TASK void keep(std::uint32_t number) const {
    const auto ghost = static_cast<Index>(number);
    double* now = scalars->parity == 0 ? even : odd;
    now[ghost] = direction_of(ghost, 1U - scalars->parity);
    halo.ahead_slot(ghost).clear();
  }
};

/// Before the first product: what has been sent ahead to a loop that has ended.
struct CgTakeUnused {
  static constexpr const char* name = "cg take unused";
  CgData d;
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
struct CgDirectionOf {
  CgGhosts ghosts;
  double beta;
  const double* z;
  const double* p;
  explicit TASKDAG_TASK CgDirectionOf(const CgData& d)
      : ghosts(d), beta(d.scalars->beta), z(d.z), p(d.p(d.scalars->parity)) {}
  template <class Number>
  [[nodiscard]] TASKDAG_TASK double operator()(Number i) const {
    return direction(z[i], beta, p[i]);
  }
  [[nodiscard]] TASKDAG_TASK double of_ghost(Index ghost) const { return ghosts.in_product(ghost); }
};

/// p = z + β p and w = A p. Each row makes the elements of p that it needs anew: p is written beside the one before.
struct CgDirectionAndProduct {
  static constexpr const char* name = "cg direction and product";
  static constexpr int sums = 1;
  CgData d;
  [[nodiscard]] TASKDAG_TASK CgDirectionOf operand() const { return CgDirectionOf(d); }
  template <class Rows>
  TASKDAG_TASK double part(Rows row, int rank, int size) const {
    return d.system.product_part(row, rank, size, operand());
  }
  TASKDAG_TASK void execute(std::uint32_t row, double product, double* sum) const {
    const double p = operand()(row);
    d.p(1U - d.scalars->parity)[row] = p;
    d.w[row] = product;
    sum[0] += p * product;
  }
  TASKDAG_TASK void finish(const double* sum) const { finish_product(d, sum[0]); }
};

/// p = z + β p
struct CgDirection {
  static constexpr const char* name = "cg direction";
  CgData d;
  TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const {
    d.p(1U - d.scalars->parity)[i] = CgDirectionOf(d)(i);
  }
};

/// w = A p
struct CgProduct {
  static constexpr const char* name = "cg product";
  static constexpr int sums = 1;
  CgData d;
  struct Direction {
    CgGhosts ghosts;
    const double* p;
    template <class Number>
    [[nodiscard]] TASKDAG_TASK double operator()(Number i) const {
      return p[i];
    }
    [[nodiscard]] TASKDAG_TASK double of_ghost(Index ghost) const { return ghosts.in_product(ghost); }
  };
  struct Worker {
    System system;
    CgGhosts ghosts;
    const double* p;
    double* w;
    [[nodiscard]] TASKDAG_TASK Direction operand() const { return {ghosts, p}; }
    template <class Rows>
    TASKDAG_TASK double part(Rows row, int rank, int size) const {
      return system.product_part(row, rank, size, operand());
    }
    TASKDAG_TASK void execute(std::uint32_t row, double product, double* sum) const {
      w[row] = product;
      sum[0] += p[row] * product;
    }
  };
  [[nodiscard]] TASKDAG_TASK Worker worker() const { return {d.system, CgGhosts(d), d.p(1U - d.scalars->parity), d.w}; }
  TASKDAG_TASK void finish(const double* sum) const { finish_product(d, sum[0]); }
};

/// What changes x and r.
struct CgChange {
  bool applies;  ///< the loop goes on
  double alpha;
  const double* p;
  const double* w;
  double* x;
  double* r;
  explicit TASKDAG_TASK CgChange(const CgData& d)
      : applies(d.on_ranks() ? d.scalars->goes_on != 0 : d.scalars->alpha != 0.0),
        alpha(d.scalars->alpha),
        p(d.p(d.scalars->parity)),
        w(d.w),
        x(d.loop.control->x),
        r(d.r) {}
  /// @returns the new r
  TASKDAG_TASK double at(std::uint32_t i) const {
    x[i] += alpha * p[i];
    const double now = r[i] - alpha * w[i];
    r[i] = now;
    return now;
  }
};

/// x and r, before a preconditioner that is applied apart.
struct CgStep {
  static constexpr const char* name = "cg step";
  CgData d;
  struct Worker {
    CgChange change;
    std::uint32_t rows;
    CgGhosts ghosts;
    TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const {
      if (!change.applies) return;
      if (i < rows)
        static_cast<void>(change.at(i));
      else
        ghosts.keep(i - rows);
    }
  };
  [[nodiscard]] TASKDAG_TASK Worker worker() const { return {CgChange(d), d.system.rows, CgGhosts(d)}; }
};

/// x, r, z and the sums.
struct CgStepAndSums {
  static constexpr const char* name = "cg step and sums";
  static constexpr int sums = 2;
  CgData d;
  struct Worker {
    CgChange change;
    CgTerms terms;
    CgGhosts ghosts;
    TASKDAG_TASK void execute(std::uint32_t i, double* sum) const {
      if (!change.applies) return;
      if (i < terms.system.rows)
        terms.add(i, change.at(i), sum);
      else
        ghosts.keep(i - terms.system.rows);
    }
  };
  [[nodiscard]] TASKDAG_TASK Worker worker() const { return {CgChange(d), CgTerms(d), CgGhosts(d)}; }
  TASKDAG_TASK void finish(const double* sum) const { finish_iteration(d, sum); }
};

struct Cg {
  using Data = CgData;
  static constexpr int turns_at_once = 4;
  // Measured on an H200, µs: a block 7.5 and a graph 11.6 at 2,025 rows, 31 and 11.6 at 10,000; a cluster 7.4 and 11.0
  // at 10,000 rows (59,600 entries and rows), 10.8 and 11.3 at 22,500 (134,400), 14.6 and 11.6 at 40,000.
  static constexpr std::uint32_t one_block_rows = 3000;
  static constexpr std::int64_t cluster_entries = 140000;

  static Data prepare(Workspace& work, const LoopInput& input) {
    if (input.options.side != KrylovSide::left) throw InvalidInput("conjugate gradients have the left side alone");
    Data d{};
    d.system = input.system;
    d.norm = input.options.norm;
    d.large = operand_apart(input, 2);
    d.scalars = work.make<CgScalars>(1);
    d.r = work.vector();
    d.z = work.vector();
    d.w = work.vector();
    d.even = work.vector();
    d.odd = work.vector();
    d.ghost_even = work.make<double>(input.system.halo.ghosts);
    d.ghost_odd = work.make<double>(input.system.halo.ghosts);
    return d;
  }
  template <class Flow>
  static void start(Flow& flow, const Data& d, const Calls& calls, const Start& start) {
    if (d.on_ranks()) flow.stage(CgTakeUnused{d}, d.system.halo.ghosts);
    first_residual(flow, d.loop, d.system, calls, start.guess, start.b, d.norm, d.r, d.z);
    if (!d.system.fused()) precondition(flow, d.system, calls, d.r, d.z);
    flow.stage(CgSums{d}, d.system.rows);
  }
  TASKDAG_ENGINE_ANY_SIDE
  template <class Flow>
  TASKDAG_TASK static void turn(Flow& flow, const Data& d, const Calls& calls) {
    if (d.large) {
      flow.stage(CgDirection{d}, d.system.rows);
      flow.stage(CgProduct{d}, d.system.rows);
    } else if constexpr (has_operands_on_the_way<Flow>) {
      flow.stage(CgDirectionAndProduct{d}, d.system.rows);
    }
    if (d.system.fused()) {
      flow.stage(CgStepAndSums{d}, d.rows_and_ghosts());
      return;
    }
    flow.stage(CgStep{d}, d.rows_and_ghosts());
    precondition(flow, d.system, calls, d.r, d.z);
    flow.stage(CgSums{d}, d.system.rows);
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

std::unique_ptr<Loop> make_cg(const LoopInput& input) { return make_loop<Cg>(input); }

}  // namespace taskdag::krylov

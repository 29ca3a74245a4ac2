// Conjugate gradients. Compiled as a CUDA source where CUDA is.
//
// An iteration: w = A p with the direction p made on the way, in the stage that needs it, and pᵀ w; then x, r, and with
// a diagonal preconditioner also z = M⁻¹ r and the sums of the test. Another preconditioner comes after that, and the
// sums after it. As PETSc's KSPCG of type symmetric.
#include <cmath>

#include "krylov/run.hpp"
#include "taskdag/error.hpp"

namespace taskdag::krylov {
namespace {

struct CgScalars {
  double rz;  ///< rᵀ z
  double rz_before;
  double curvature;  ///< pᵀ A p
  double alpha;
  double beta;
  std::uint32_t parity;  ///< which of the two p is the direction of the iteration before
};

struct CgData {
  LoopState loop;
  System system;
  CgScalars* scalars;
  double* r;
  double* z;
  double* w;
  double* p[2];
  KrylovNorm norm;
};

TASKDAG_TASK inline double sign_of(double value) { return value > 0.0 ? 1.0 : value < 0.0 ? -1.0 : 0.0; }

/// z = M⁻¹ r unless that has been a call, and the sums of the test.
TASKDAG_TASK inline void add_sums(const CgData& d, std::uint32_t i, double r, double* sum) {
  if (d.system.preconditioning != Preconditioning::call) d.z[i] = d.system.scaled(i, r);
  const double z = d.z[i];
  sum[0] += z * r;
  sum[1] += d.norm == KrylovNorm::unpreconditioned ? r * r : z * z;
}

TASKDAG_TASK inline double norm_from(KrylovNorm norm, const double* sum) {
  if (norm == KrylovNorm::none) return 0.0;
  if (norm == KrylovNorm::natural) return sqrt(sum[0] < 0.0 ? -sum[0] : sum[0]);
  return sqrt(sum[1]);
}

/// After the sums: the test, and what PETSc looks at before the next iteration.
TASKDAG_TASK inline void finish_iteration(const CgData& d, const double* sum) {
  if (d.loop.ended()) return;
  CgScalars& s = *d.scalars;
  d.loop.test(norm_from(d.norm, sum));
  s.rz_before = s.rz;
  s.rz = sum[0];
  if (d.loop.ended()) return;
  if (!is_finite(s.rz)) {
    d.loop.end(KrylovReason::not_a_number);
  } else if (s.rz == 0.0) {
    ++d.loop.control->iterations;
    d.loop.end(KrylovReason::absolute_tolerance);
  } else if (d.loop.control->iterations > 0 && s.rz * s.rz_before < 0.0) {
    ++d.loop.control->iterations;
    d.loop.end(KrylovReason::indefinite_preconditioner);
  }
  s.beta = d.loop.control->iterations > 0 ? s.rz / s.rz_before : 0.0;
}

/// The sums from r and z.
struct CgSums {
  static constexpr const char* name = "cg sums";
  static constexpr int sums = 2;
  CgData d;
  TASKDAG_TASK void execute(std::uint32_t i, double* sum) const { add_sums(d, i, d.r[i], sum); }
  TASKDAG_TASK void finish(const double* sum) const { finish_iteration(d, sum); }
};

/// p = z + β p and w = A p. Each row makes the elements of p that it needs anew: p is written beside the one before.
struct CgDirection {
  static constexpr const char* name = "cg direction and product";
  static constexpr int sums = 1;
  CgData d;
  TASKDAG_TASK double part(std::uint32_t row, int rank, int size) const {
    const double beta = d.scalars->beta;
    const double* z = d.z;
    const double* p = d.p[d.scalars->parity];
    return d.system.product_part(row, rank, size, [&](Index j) { return direction(z[j], beta, p[j]); });
  }
  TASKDAG_TASK void execute(std::uint32_t row, double product, double* sum) const {
    const std::uint32_t parity = d.scalars->parity;
    const double p = direction(d.z[row], d.scalars->beta, d.p[parity][row]);
    d.p[1U - parity][row] = p;
    d.w[row] = product;
    sum[0] += p * product;
  }
  TASKDAG_TASK void finish(const double* sum) const {
    CgScalars& s = *d.scalars;
    const double before = s.curvature;
    s.curvature = sum[0];
    s.parity = 1U - s.parity;
    ++d.loop.control->iterations;
    if (!is_finite(sum[0])) return d.loop.end(KrylovReason::not_a_number);
    const bool changed = d.loop.control->iterations > 1 && sign_of(sum[0]) * sign_of(before) < 0.0;
    if (sum[0] == 0.0 || changed) return d.loop.end(KrylovReason::indefinite_matrix);
    s.alpha = s.rz / sum[0];
  }
  /// The p of before the first iteration may hold anything.
  static TASKDAG_TASK double direction(double z, double beta, double p) { return beta == 0.0 ? z : z + beta * p; }
};

TASKDAG_TASK inline double take_step(const CgData& d, std::uint32_t i) {
  const CgScalars& s = *d.scalars;
  d.loop.control->x[i] += s.alpha * d.p[s.parity][i];
  const double r = d.r[i] - s.alpha * d.w[i];
  d.r[i] = r;
  return r;
}

/// x and r, before a preconditioner that is a call.
struct CgStep {
  static constexpr const char* name = "cg step";
  CgData d;
  TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const {
    if (!d.loop.ended()) static_cast<void>(take_step(d, i));
  }
};

/// x, r, z and the sums.
struct CgStepAndSums {
  static constexpr const char* name = "cg step and sums";
  static constexpr int sums = 2;
  CgData d;
  TASKDAG_TASK void execute(std::uint32_t i, double* sum) const {
    if (!d.loop.ended()) add_sums(d, i, take_step(d, i), sum);
  }
  TASKDAG_TASK void finish(const double* sum) const { finish_iteration(d, sum); }
};

struct Cg {
  using Data = CgData;

  static Data prepare(Workspace& work, const LoopInput& input) {
    if (input.options.side != KrylovSide::left) throw InvalidInput("conjugate gradients have the left side alone");
    Data d{};
    d.system = input.system;
    d.norm = input.options.norm;
    d.scalars = work.make<CgScalars>(1);
    d.r = work.vector();
    d.z = work.vector();
    d.w = work.vector();
    d.p[0] = work.vector();
    d.p[1] = work.vector();
    return d;
  }
  template <class Flow>
  static void start(Flow& flow, const Data& d, const Calls& calls, const Start& start) {
    first_residual(flow, d.loop, d.system, calls, start.guess, start.b, d.norm, d.r, d.z);
    if (d.system.preconditioning == Preconditioning::call) precondition(flow, d.system, calls, d.r, d.z);
    flow.stage(CgSums{d}, d.system.rows);
  }
  TASKDAG_ENGINE_ANY_SIDE
  template <class Flow>
  TASKDAG_TASK static void turn(Flow& flow, const Data& d, const Calls& calls) {
    flow.stage(CgDirection{d}, d.system.rows);
    if (d.system.preconditioning != Preconditioning::call) {
      flow.stage(CgStepAndSums{d}, d.system.rows);
      return;
    }
    flow.stage(CgStep{d}, d.system.rows);
    precondition(flow, d.system, calls, d.r, d.z);
    flow.stage(CgSums{d}, d.system.rows);
  }
  template <class Flow>
  static void end(Flow& /*flow*/, const Data& /*d*/, const Calls& /*calls*/) {}
  static int stages(const Data& d) { return d.system.preconditioning == Preconditioning::call ? 3 : 2; }
  /// z, p, p, w; then x, r twice, p, w, and z with the diagonal; with a call the sums read r and z.
  static int passes(const Data& d) {
    switch (d.system.preconditioning) {
      case Preconditioning::none:
        return 11;
      case Preconditioning::diagonal:
        return 12;
      case Preconditioning::call:
        return 12;
    }
    return 0;
  }
  static int products(const Data& /*d*/) { return 1; }
};

}  // namespace

std::unique_ptr<Loop> make_cg(const LoopInput& input) { return make_loop<Cg>(input); }

}  // namespace taskdag::krylov

/// \file
/// The system that a method solves, as its stages see it, and the stages that all methods have.
#pragma once

#include <cstdint>

#include "krylov/control.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/engine/loop/stage.hpp"

namespace taskdag::krylov {

/// How the preconditioner gets into the loop.
enum class Preconditioning : std::uint32_t { none, diagonal, call };

/// Matrix and preconditioner; all arrays in memory of the backend.
struct System {
  std::uint32_t rows = 0;
  const Offset* begin = nullptr;
  const Index* column = nullptr;
  const double* value = nullptr;
  Preconditioning preconditioning = Preconditioning::none;
  const double* diagonal = nullptr;  ///< of the preconditioner, where it is one

  /// What one of `size` workers has of Σ_j a_ij of(j).
  template <class Of>
  TASKDAG_TASK double product_part(std::uint32_t row, int rank, int size, const Of& of) const {
    double sum = 0.0;
    const Offset end = begin[row + 1];
    for (Offset e = begin[row] + rank; e < end; e += size) sum += value[e] * of(column[e]);
    return sum;
  }
  /// Element i of M⁻¹ r, where that is no call.
  [[nodiscard]] TASKDAG_TASK double scaled(std::uint32_t i, double r) const {
    return preconditioning == Preconditioning::diagonal ? diagonal[i] * r : r;
  }
};

/// y = A x
struct Product {
  static constexpr const char* name = "product";
  System system;
  const double* x;
  double* y;
  TASKDAG_TASK double part(std::uint32_t row, int rank, int size) const {
    return system.product_part(row, rank, size, [&](Index j) { return x[j]; });
  }
  TASKDAG_TASK void execute(std::uint32_t row, double product, double* /*sum*/) const { y[row] = product; }
};

/// x = 0 and r = b
struct BeginAtZero {
  static constexpr const char* name = "begin at zero";
  LoopState loop;
  double* r;
  TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const {
    loop.control->x[i] = 0.0;
    r[i] = loop.control->b[i];
  }
};

/// r = b − A x
struct Residual {
  static constexpr const char* name = "residual";
  LoopState loop;
  System system;
  double* r;
  TASKDAG_TASK double part(std::uint32_t row, int rank, int size) const {
    const double* x = loop.control->x;
    return system.product_part(row, rank, size, [&](Index j) { return x[j]; });
  }
  TASKDAG_TASK void execute(std::uint32_t row, double product, double* /*sum*/) const {
    r[row] = loop.control->b[row] - product;
  }
};

/// y = M⁻¹ x for a diagonal or none.
struct Scale {
  static constexpr const char* name = "scale";
  System system;
  const double* x;
  double* y;
  TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const { y[i] = system.scaled(i, x[i]); }
};

/// The norm of the right-hand side that a solve with a guess is relative to. z: M⁻¹ b, where the norm needs it.
struct Reference {
  static constexpr const char* name = "norm of the right-hand side";
  static constexpr int sums = 1;
  LoopState loop;
  const double* z;
  TASKDAG_TASK void execute(std::uint32_t i, double* sum) const {
    const double b = loop.control->b[i];
    switch (static_cast<KrylovNorm>(loop.control->norm)) {
      case KrylovNorm::preconditioned:
        sum[0] += z[i] * z[i];
        break;
      case KrylovNorm::natural:
        sum[0] += b * z[i];
        break;
      default:
        sum[0] += b * b;
    }
  }
  TASKDAG_TASK void finish(const double* sum) const { loop.control->reference = sqrt(sum[0] < 0.0 ? -sum[0] : sum[0]); }
};

/// The caller's preconditioner, where it is a call; host side.
struct Calls {
  LinearMap* preconditioner = nullptr;
};
/// One application of it.
struct Application {
  LinearMap* map;
  const double* x;
  double* y;
  void operator()(Stream stream) const { map->apply(x, y, stream); }
};

/// y = M⁻¹ x, whatever M is. Two arrays.
TASKDAG_ENGINE_ANY_SIDE
template <class Flow>
TASKDAG_TASK void precondition(Flow& flow, const System& system, const Calls& calls, const double* x, double* y) {
  if constexpr (Flow::calls) {
    if (system.preconditioning == Preconditioning::call) {
      flow.call(Application{calls.preconditioner, x, y});
      return;
    }
  }
  flow.stage(Scale{system, x, y}, system.rows);
}

/// r = b − A x, or b and x = 0 without a guess; with one also the reference norm, for which `z` is room.
TASKDAG_ENGINE_ANY_SIDE
template <class Flow>
TASKDAG_TASK void first_residual(Flow& flow, const LoopState& loop, const System& system, const Calls& calls,
                                 bool guess, const double* b, KrylovNorm norm, double* r, double* z) {
  if (!guess) {
    flow.stage(BeginAtZero{loop, r}, system.rows);
    return;
  }
  if (norm == KrylovNorm::preconditioned || norm == KrylovNorm::natural) precondition(flow, system, calls, b, z);
  if (norm != KrylovNorm::none) flow.stage(Reference{loop, z}, system.rows);
  flow.stage(Residual{loop, system, r}, system.rows);
}

}  // namespace taskdag::krylov

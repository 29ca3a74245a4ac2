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

/// Orthonormal vectors that span the null space of the matrix, or what is known of it.
struct NullSpace {
  std::uint32_t count = 0;
  const double* const* vectors = nullptr;  ///< null among them: the constant vector
  double* dots = nullptr;                  ///< room for `count` numbers
  double constant = 0.0;                   ///< element of the constant vector

  [[nodiscard]] TASKDAG_TASK double element(std::uint32_t vector, std::uint32_t i) const {
    return vectors[vector] != nullptr ? vectors[vector][i] : constant;
  }
};

/// Matrix and preconditioner; all arrays in memory of the backend.
struct System {
  std::uint32_t rows = 0;
  const Offset* begin = nullptr;
  const Index* column = nullptr;
  const double* value = nullptr;
  Preconditioning preconditioning = Preconditioning::none;
  const double* diagonal = nullptr;  ///< of the preconditioner, where it is one
  NullSpace null_space{};            ///< is removed from what the preconditioner gives

  /// Whether stages make elements of M⁻¹ r by themselves, where they need them: one is a product of two numbers.
  [[nodiscard]] TASKDAG_TASK bool fused() const {
    return preconditioning != Preconditioning::call && null_space.count == 0;
  }

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

/// Of y with a few vectors of the null space, from `first` on.
struct NullSpaceDots {
  static constexpr const char* name = "null space dots";
  static constexpr int sums = 8;
  NullSpace space;
  const double* y;
  std::uint32_t first;
  TASKDAG_TASK void execute(std::uint32_t i, double* sum) const {
    for (std::uint32_t k = 0; k < sums; ++k) {
      if (first + k < space.count) sum[k] += space.element(first + k, i) * y[i];
    }
  }
  TASKDAG_TASK void finish(const double* sum) const {
    for (std::uint32_t k = 0; k < sums; ++k) {
      if (first + k < space.count) space.dots[first + k] = sum[k];
    }
  }
};
/// y without them.
struct NullSpaceRemoval {
  static constexpr const char* name = "null space removal";
  NullSpace space;
  double* y;
  std::uint32_t first;
  TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const {
    double rest = y[i];
    for (std::uint32_t k = first; k < space.count && k < first + NullSpaceDots::sums; ++k) {
      rest -= space.dots[k] * space.element(k, i);
    }
    y[i] = rest;
  }
};

/// y = M⁻¹ x, whatever M is, without its part in the null space. Two arrays.
TASKDAG_ENGINE_ANY_SIDE
template <class Flow>
TASKDAG_TASK void precondition(Flow& flow, const System& system, const Calls& calls, const double* x, double* y) {
  bool called = false;
  if constexpr (Flow::calls) {
    called = system.preconditioning == Preconditioning::call;
    if (called) flow.call(Application{calls.preconditioner, x, y});
  }
  if (!called) flow.stage(Scale{system, x, y}, system.rows);
  for (std::uint32_t first = 0; first < system.null_space.count; first += NullSpaceDots::sums) {
    flow.stage(NullSpaceDots{system.null_space, y, first}, system.rows);
    flow.stage(NullSpaceRemoval{system.null_space, y, first}, system.rows);
  }
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

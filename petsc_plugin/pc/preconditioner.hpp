/// \file
/// What a type of the preconditioner has to do: the only thing that -pc_type taskdag knows of one.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "backend_choice.hpp"
#include "compat.hpp"
#include "mat/rank_view.hpp"
#include "taskdag/error.hpp"
#include "taskdag/factorization.hpp"
#include "taskdag/krylov.hpp"

namespace taskdag::petsc {

/// Of a preconditioner made of (E + L) and (E + U), E diagonal, L and U the matrix' own triangles.
enum class Half {
  lower,          ///< x = (E + L)⁻¹ b
  upper,          ///< x = (E + U)⁻¹ b
  upper_product,  ///< x = (E + U) b
  /// x = (E + L)⁻¹ A (E + U)⁻¹ b, by both; after set_diagonal().
  transformed
};

/// Applies a half of `solver`, a Sor or a Factorization.
template <class Solver>
void apply_half(Solver& solver, Half part, const double* b, double* x, MemorySpace space, Stream stream) {
  switch (part) {
    case Half::lower:
      return solver.solve_lower(b, x, space, stream);
    case Half::upper:
      return solver.solve_upper(b, x, space, stream);
    case Half::upper_product:
      return solver.multiply_upper(b, x, space, stream);
    case Half::transformed:
      return solver.multiply_transformed(b, x, space, stream);
  }
}

/// How a preconditioner, as it is set up, can be applied to arrays inside a loop on its backend.
struct ArrayUse {
  const BackendChoice* backend = nullptr;  ///< where it works; null: it cannot, or is not set up
  const double* diagonal = nullptr;        ///< what it multiplies by, in memory of the backend; null: it does not
  bool may_be_captured = true;             ///< into a CUDA graph
  PetscLogDouble flops = 0.0;              ///< of an application
  bool has_parts = false;                  ///< it has symmetric parts, too
  /// Applications by a graph after which prepare_for_arrays() may give a faster one.
  std::int64_t replays = std::numeric_limits<std::int64_t>::max();
  std::uint64_t launches = 0;  ///< another number where what a graph of applications would apply has gone, or is slow
};

/// A preconditioner of one rank's own rows and columns. update() and apply() come after analyse(), view() and reset()
/// at any time. How to add a type: a class of this kind in a source of its own, and its declaration in
/// declared/table.py.
class Preconditioner {
 public:
  Preconditioner() = default;
  Preconditioner(const Preconditioner&) = delete;
  Preconditioner& operator=(const Preconditioner&) = delete;
  virtual ~Preconditioner() = default;

  /// Before analyse() and update(): the matrix on all ranks whose own rows and columns these get. Again before an
  /// application or a solve where it is another one by then, which has been told of to PETSc alone: to let go of the
  /// one before.
  virtual PetscErrorCode attach(Mat /*whole*/) { return PETSC_SUCCESS; }

  /// Before analyse() and update(), for a type that has another PC inside: whose preconditioner it is.
  virtual PetscErrorCode belong_to(PC /*pc*/) { return PETSC_SUCCESS; }

  /// Before analyse() and update(): whether a Krylov loop of TaskDAG is to apply it, for a type that chooses by time.
  virtual void expect_loop(bool /*expected*/) {}

  /// Takes pattern and values of a sequential matrix. A failure of the numbers is an error with `error_if_failure`,
  /// else failure() tells.
  virtual PetscErrorCode analyse(Mat matrix, bool error_if_failure) = 0;

  /// New values on the pattern that was analysed.
  virtual PetscErrorCode update(Mat matrix, bool error_if_failure) = 0;

  /// What the numbers led to in the last analyse() or update() on this rank; none: a type for which they cannot fail.
  [[nodiscard]] virtual std::optional<MatFactorError> failure() const { return std::nullopt; }

  /// Applies the preconditioner to the local part of a vector, or to the columns of a dense matrix. `part`: full or
  /// transposed; a half, of vectors, only where the table of types says that there are such.
  virtual PetscErrorCode apply(Apply part, Vec b, Vec x) = 0;
  virtual PetscErrorCode apply(Apply part, Mat b, Mat x) = 0;

  /// Whether an application since the last call has met an error on this rank that it could not return, because others
  /// would wait: what it gave are infinities.
  virtual bool take_lost_application() = 0;

  /// Before apply_to_arrays() is called or captured, and before a graph of it is replayed. replays: applications by
  /// graphs since the last call, as far as is known; they may lead to another form. `use` is left alone where it cannot
  /// be applied so: also where an application needs messages of other ranks, and where it needs none on a rank without
  /// rows.
  virtual PetscErrorCode prepare_for_arrays(std::int64_t /*replays*/, ArrayUse* /*use*/) { return PETSC_SUCCESS; }
  /// Applies it to an array of this rank's rows in memory of the backend; x is another one. May throw.
  virtual void apply_to_arrays(const double* b, double* x, Stream stream);
  /// The same to each of some columns, which a type may do at once.
  virtual void apply_to_columns(Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx,
                                Stream stream) {
    for (Index k = 0; k < count; ++k) apply_to_arrays(b + k * ldb, x + k * ldx, stream);
  }
  /// The same with a symmetric part, where ArrayUse says that there are such.
  virtual void apply_part_to_arrays(Apply part, const double* b, double* x, Stream stream);
  /// What that calls where it is over all ranks, so that a loop can tell and ask it of lost ranks; else null.
  [[nodiscard]] virtual LinearMap* map_over_ranks() { return nullptr; }

  /// Where the table of types says so: so many iterations from x, or from 0, without a residual.
  virtual PetscErrorCode iterate(Vec b, Vec x, PetscInt iterations, bool from_zero);

  /// Around a solve by `ksp` with `pc`, whose preconditioner it is, where the table of types says so. Collective.
  virtual PetscErrorCode before_solve(PC /*pc*/, KSP /*ksp*/) { return PETSC_SUCCESS; }
  virtual PetscErrorCode after_solve(KSP /*ksp*/) { return PETSC_SUCCESS; }

  /// Whether it is made of such halves on this rank, as it is set up; for Eisenstat's trick.
  [[nodiscard]] virtual bool has_own_halves() const { return false; }
  /// b and x are two vectors.
  virtual PetscErrorCode half(Half part, Vec b, Vec x);
  /// E
  virtual PetscErrorCode pivots(Vec e);
  /// Takes D of the matrix, which Half::transformed needs after each set-up. With symmetric scaling that is
  /// E^½ (E + L)⁻¹ A (E + U)⁻¹ E^½, where scales_by_diagonal() is false.
  virtual PetscErrorCode set_diagonal(Vec d, TransformScaling scaling);
  /// What goes between the halves is the matrix' diagonal but for a factor (SSOR), not E.
  [[nodiscard]] virtual bool scales_by_diagonal() const { return false; }

  /// Prints settings, backend and sizes. Collective.
  virtual PetscErrorCode view(const RankViewer& viewer) const = 0;

  /// Drops what analyse() made. To be called before the destructor, which reports no errors.
  virtual PetscErrorCode reset() = 0;
};

inline void Preconditioner::apply_to_arrays(const double* /*b*/, double* /*x*/, Stream /*stream*/) {
  throw Unsupported("this type of the preconditioner is not applied to arrays");
}

inline void Preconditioner::apply_part_to_arrays(Apply /*part*/, const double* /*b*/, double* /*x*/,
                                                 Stream /*stream*/) {
  throw Unsupported("this type of the preconditioner has no symmetric parts");
}

inline PetscErrorCode Preconditioner::iterate(Vec /*b*/, Vec /*x*/, PetscInt /*iterations*/, bool /*from_zero*/) {
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB, "this type of the preconditioner does not iterate");
}

inline PetscErrorCode Preconditioner::half(Half /*part*/, Vec /*b*/, Vec /*x*/) {
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB, "this type of the preconditioner has no halves");
}
inline PetscErrorCode Preconditioner::set_diagonal(Vec /*d*/, TransformScaling /*scaling*/) {
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB, "this type of the preconditioner has no halves");
}
inline PetscErrorCode Preconditioner::pivots(Vec /*e*/) {
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB, "this type of the preconditioner has no halves");
}

}  // namespace taskdag::petsc

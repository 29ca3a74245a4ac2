/// \file
/// Eisenstat's trick: a Krylov method works on (E + L)⁻¹ A (E + U)⁻¹, which costs two triangular solves and no product.
/// Source: S. C. Eisenstat 1981, Efficient implementation of a class of preconditioned conjugate gradient methods. What
/// PETSc's PCEISENSTAT does for SSOR, with the same norms, for any preconditioner with such halves.
#pragma once

#include <array>

#include "compat.hpp"
#include "mat/held.hpp"
#include "mat/off_diagonal.hpp"
#include "options.hpp"
#include "pc/preconditioner.hpp"

namespace taskdag::petsc {

/// Between PCPreSolve() and PCPostSolve() the preconditioner's operator is the transformed one; the preconditioner
/// itself then multiplies by the pivots (SSOR: by the diagonal, as PETSc's). With symmetric scaling the operator is
/// E^½ (E + L)⁻¹ A (E + U)⁻¹ E^½, and the preconditioner the identity: the method is the same one in the natural norm,
/// and in no other.
class Eisenstat {
 public:
  Eisenstat() = default;
  Eisenstat(const Eisenstat&) = delete;
  Eisenstat& operator=(const Eisenstat&) = delete;
  ~Eisenstat() = default;

  /// After each set-up, which has not failed. The preconditioner stays the caller's.
  /// @returns PETSC_ERR_SUP where it has no such halves, or the operator is not the preconditioner's matrix. *failed:
  /// whether symmetric scaling has met a pivot that is not above 0, the same on all ranks; with pc->erroriffailure that
  /// is an error
  PetscErrorCode set_up(PC pc, Preconditioner* preconditioner, TransformScaling scaling, bool* failed);
  /// In place of set_up() after a failure of the numbers: what is applied tells of it.
  PetscErrorCode fail(PC pc, PCFailedReason reason);

  /// depth: of solves under way by this preconditioner, of which PETSc allows two.
  PetscErrorCode pre_solve(PC pc, KSP ksp, Vec b, Vec x, std::size_t depth);
  PetscErrorCode post_solve(PC pc, Vec b, Vec x, std::size_t depth);
  /// Puts the PC's own operator back, where a solve has ended or an error has left it.
  PetscErrorCode restore(PC pc);
  PetscErrorCode apply(Vec b, Vec x) const;
  PetscErrorCode reset(PC pc);

  /// y = (E + L)⁻¹ A (E + U)⁻¹ v, scaled or not. For the shell that is the operator meanwhile.
  PetscErrorCode multiply(Vec v, Vec y);
  /// @returns PETSC_ERR_SUP unless A is known to be symmetric
  PetscErrorCode multiply_transposed(Vec v, Vec y);

 private:
  PetscErrorCode make(PC pc);
  /// On several ranks.
  PetscErrorCode make_middle(Vec diagonal);
  PetscErrorCode multiply_on_ranks(Vec v, Vec y);
  /// root_ = E^½.
  PetscErrorCode take_root(PC pc, bool* failed);
  PetscErrorCode check_norm(KSP ksp) const;
  PetscErrorCode check_operator(PC pc) const;
  PetscErrorCode check_symmetry(Mat matrix) const;
  PetscErrorCode take_place(PC pc);
  [[nodiscard]] Mat operator_of(PC pc) const { return shell_ && pc->mat == shell_ ? operator_ : pc->mat; }
  [[nodiscard]] bool is_scaled() const { return scaling_ == TransformScaling::symmetric; }

  Preconditioner* preconditioner_ = nullptr;
  PCFailedReason failed_ = PC_NOERROR;
  TransformScaling scaling_ = TransformScaling::none;
  OffDiagonal couplings_;
  Held<Mat> shell_;
  Held<Mat> operator_;              ///< the PC's own while the shell stands in its place
  std::array<Held<Vec>, 2> saved_;  ///< right-hand sides, by how deep calls of PCPreSolve() are nested
  Held<Vec> scale_;                 ///< what the preconditioner multiplies by
  Held<Vec> root_;                  ///< E^½, of symmetric scaling
  Held<Vec> middle_;                ///< 2 E − D; on several ranks, as the next two
  Held<Vec> upper_;                 ///< (E + U)⁻¹ v
  Held<Vec> rest_;
};

}  // namespace taskdag::petsc

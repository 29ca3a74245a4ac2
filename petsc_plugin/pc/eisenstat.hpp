/// \file
/// Eisenstat's trick: a Krylov method works on (E + L)⁻¹ A (E + U)⁻¹, which costs two triangular solves and no product.
/// Source: S. C. Eisenstat 1981, Efficient implementation of a class of preconditioned conjugate gradient methods. What
/// PETSc's PCEISENSTAT does for SSOR, with the same norms, for any preconditioner with such halves.
#pragma once

#include <array>
#include <vector>

#include "compat.hpp"
#include "mat/off_diagonal.hpp"
#include "options.hpp"
#include "pc/preconditioner.hpp"

namespace taskdag::petsc {

struct Settings;

/// -pc_taskdag_eisenstat.
std::vector<OptionRow> eisenstat_rows();
PetscErrorCode read_eisenstat(OptionItems items, Settings* settings);
bool same_eisenstat(const Settings& a, const Settings& b);
PetscErrorCode check_eisenstat(const Settings& settings);
const char* eisenstat_scaling_name(TransformScaling scaling);

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

  PetscErrorCode pre_solve(PC pc, KSP ksp, Vec b, Vec x);
  PetscErrorCode post_solve(PC pc, Vec b, Vec x);
  PetscErrorCode apply(Vec b, Vec x) const;
  PetscErrorCode reset(PC pc);

  /// y = (E + L)⁻¹ A (E + U)⁻¹ v, scaled or not. For the shell that is the operator meanwhile.
  PetscErrorCode multiply(Vec v, Vec y);

 private:
  PetscErrorCode make(PC pc);
  /// On several ranks.
  PetscErrorCode make_middle(Vec diagonal);
  PetscErrorCode multiply_on_ranks(Vec v, Vec y);
  /// root_ = E^½.
  PetscErrorCode take_root(PC pc, bool* failed);
  PetscErrorCode check_norm(KSP ksp) const;
  [[nodiscard]] bool is_scaled() const { return scaling_ == TransformScaling::symmetric; }

  Preconditioner* preconditioner_ = nullptr;
  PCFailedReason failed_ = PC_NOERROR;
  TransformScaling scaling_ = TransformScaling::none;
  OffDiagonal couplings_;
  Mat shell_ = nullptr;
  Mat operator_ = nullptr;         ///< the PC's own while the shell stands in its place; not owned
  std::array<Vec, 2> saved_ = {};  ///< right-hand sides, by how deep calls of PCPreSolve() are nested
  Vec scale_ = nullptr;            ///< what the preconditioner multiplies by
  Vec root_ = nullptr;             ///< E^½, of symmetric scaling
  Vec middle_ = nullptr;           ///< 2 E − D; on several ranks, as the next two
  Vec upper_ = nullptr;            ///< (E + U)⁻¹ v
  Vec rest_ = nullptr;
};

}  // namespace taskdag::petsc

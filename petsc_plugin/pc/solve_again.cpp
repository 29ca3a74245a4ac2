#include "pc/solve_again.hpp"

namespace taskdag::petsc {
namespace {

/// The right-hand side without what is in the null space of the operator's transpose, as KSPSolve() hands it to its
/// method; that of the KSP where there is no such space. To be destroyed.
PetscErrorCode consistent_rhs(KSP ksp, Vec* rhs) {
  PetscFunctionBegin;
  Mat a = nullptr;
  MatNullSpace space = nullptr;
  PetscCall(PCGetOperators(ksp->pc, &a, nullptr));
  if (ksp->transpose_solve)
    PetscCall(MatGetNullSpace(a, &space));
  else
    PetscCall(MatGetTransposeNullSpace(a, &space));
  if (!space) {
    PetscCall(PetscObjectReference(reinterpret_cast<PetscObject>(ksp->vec_rhs)));
    *rhs = ksp->vec_rhs;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecDuplicate(ksp->vec_rhs, rhs));
  PetscCall(VecCopy(ksp->vec_rhs, *rhs));
  PetscCall(MatNullSpaceRemove(space, *rhs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode run_method(KSP ksp) {
  PetscFunctionBegin;
  PetscCall(VecLockReadPush(ksp->vec_rhs));
  const PetscErrorCode ran = ksp->ops->solve(ksp);
  PetscCall(VecLockReadPop(ksp->vec_rhs));
  PetscCall(ran);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode copy_guess(KSP ksp, Vec* guess) {
  PetscFunctionBegin;
  *guess = nullptr;
  if (ksp->guess_zero) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(ksp->vec_sol, guess));
  PetscCall(VecCopy(ksp->vec_sol, *guess));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve_again(KSP ksp, Vec guess) {
  PetscFunctionBegin;
  if (guess)
    PetscCall(VecCopy(guess, ksp->vec_sol));
  else
    PetscCall(VecSet(ksp->vec_sol, 0.0));
  if (ksp->guess_knoll) PetscCall(PCApply(ksp->pc, ksp->vec_rhs, ksp->vec_sol));
  ksp->reason = KSP_CONVERGED_ITERATING;
  if (ksp->res_hist_reset) ksp->res_hist_len = 0;
  Vec rhs = nullptr;
  PetscCall(consistent_rhs(ksp, &rhs));
  Vec theirs = ksp->vec_rhs;
  ksp->vec_rhs = rhs;
  const PetscErrorCode ran = run_method(ksp);
  ksp->vec_rhs = theirs;
  PetscCall(VecDestroy(&rhs));
  PetscCall(ran);
  ksp->totalits += ksp->its;
  PetscCall(KSPConvergedReasonViewFromOptions(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

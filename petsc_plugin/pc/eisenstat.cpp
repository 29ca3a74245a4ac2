#include "pc/eisenstat.hpp"

#include <string>

#include "boundary.hpp"
#include "mat/poison.hpp"
#include "options.hpp"
#include "pc/types.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

template <PetscErrorCode (Eisenstat::*product)(Vec, Vec)>
PetscErrorCode multiply_shell(Mat shell, Vec v, Vec y) {
  PetscFunctionBegin;
  void* context = nullptr;
  PetscCall(MatShellGetContext(shell, &context));
  PetscCheck(context, PetscObjectComm(reinterpret_cast<PetscObject>(shell)), PETSC_ERR_ARG_WRONGSTATE,
             "the preconditioner that this operator of Eisenstat's trick was made by is reset");
  PetscCall((static_cast<Eisenstat*>(context)->*product)(v, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Now it goes to the device, if the vector is one of a device, not in the first iteration.
PetscErrorCode move_to_device(Vec x) {
  PetscFunctionBegin;
  const PetscScalar* array = nullptr;
  PetscCall(VecGetArrayReadAndMemType(x, &array, nullptr));
  PetscCall(VecRestoreArrayReadAndMemType(x, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode Eisenstat::make(PC pc) {
  PetscFunctionBegin;
  PetscInt m = 0;
  PetscInt n = 0;
  PetscInt rows = 0;
  PetscInt columns = 0;
  VecType type = nullptr;
  PetscCall(MatGetLocalSize(pc->pmat, &m, &n));
  PetscCall(MatGetSize(pc->pmat, &rows, &columns));
  PetscCall(MatCreateVecs(pc->pmat, scale_.out(), nullptr));
  for (Held<Vec>& saved : saved_) PetscCall(VecDuplicate(scale_, saved.out()));
  PetscCall(VecGetType(scale_, &type));
  PetscCall(
      MatCreateShell(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), m, n, rows, columns, this, shell_.out()));
  PetscCall(MatShellSetVecType(shell_, type));
  const auto product = reinterpret_cast<void (*)()>(multiply_shell<&Eisenstat::multiply>);
  const auto transposed = reinterpret_cast<void (*)()>(multiply_shell<&Eisenstat::multiply_transposed>);
  PetscCall(MatShellSetOperation(shell_, MATOP_MULT, product));
  PetscCall(MatShellSetOperation(shell_, MATOP_MULT_TRANSPOSE, transposed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Eisenstat::set_up(PC pc, Preconditioner* preconditioner, TransformScaling scaling, bool* failed) {
  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(pc));
  PetscCall(check_operator(pc));
  const int mine = preconditioner->has_own_halves() ? 1 : 0;
  int all = 0;
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm));
  PetscCheck(
      all == 1, comm, PETSC_ERR_SUP,
      "-pc_taskdag_eisenstat is for the types dilu and dic, for ilu and icc of level 0 where elimination changes "
      "the diagonal alone, and for sor with one symmetric iteration");
  preconditioner_ = preconditioner;
  scaling_ = scaling;
  *failed = false;
  failed_ = PC_NOERROR;
  if (!shell_) PetscCall(make(pc));
  PetscCall(couplings_.reset());
  PetscCall(couplings_.attach(pc->pmat));
  if (is_scaled()) PetscCall(take_root(pc, failed));
  if (*failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetDiagonal(pc->pmat, scale_));
  if (couplings_.has_ranks())
    PetscCall(make_middle(scale_));
  else
    PetscCall(preconditioner_->set_diagonal(scale_, scaling_));
  if (!preconditioner_->scales_by_diagonal()) PetscCall(preconditioner_->pivots(scale_));
  PetscCall(move_to_device(scale_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Eisenstat::take_root(PC pc, bool* failed) {
  PetscFunctionBegin;
  PetscInt row = 0;
  PetscReal least = 0.0;
  if (!root_) PetscCall(VecDuplicate(scale_, root_.out()));
  PetscCall(share_error(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), preconditioner_->pivots(root_)));
  PetscCall(VecMin(root_, &row, &least));
  PetscInt rows = 0;
  PetscCall(VecGetSize(root_, &rows));
  *failed = rows > 0 && !(least > 0.0);
  if (*failed) {
    std::string fault;
    PetscCall(guarded([&] {
      fault = "-pc_taskdag_eisenstat_scaling symmetric needs pivots above 0; that of row " + std::to_string(row) +
              " is " + number(static_cast<double>(least));
    }));
    PetscCheck(!pc->erroriffailure, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_MAT_CH_ZRPVT, "%s",
               fault.c_str());
    PetscCall(PetscInfo(pc, "%s\n", fault.c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecSqrtAbs(root_));
  PetscCall(move_to_device(root_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Eisenstat::check_norm(KSP ksp) const {
  PetscFunctionBegin;
  if (!is_scaled()) PetscFunctionReturn(PETSC_SUCCESS);
  KSPNormType norm = KSP_NORM_NONE;
  PetscCall(KSPGetNormType(ksp, &norm));
  PetscCheck(norm == KSP_NORM_NATURAL || norm == KSP_NORM_NONE, PetscObjectComm(reinterpret_cast<PetscObject>(ksp)),
             PETSC_ERR_SUP,
             "-pc_taskdag_eisenstat_scaling symmetric changes all norms but the natural one: -ksp_norm_type natural or "
             "none, not %s",
             KSPNormTypes[norm]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Eisenstat::check_operator(PC pc) const {
  PetscFunctionBegin;
  PetscCheck(operator_of(pc) == pc->pmat, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_SUP,
             "-pc_taskdag_eisenstat needs one matrix as operator and for the preconditioner");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Eisenstat::check_symmetry(Mat matrix) const {
  PetscFunctionBegin;
  PetscBool known = PETSC_FALSE;
  PetscBool symmetric = PETSC_FALSE;
  PetscCall(MatIsSymmetricKnown(matrix, &known, &symmetric));
  PetscCheck(known && symmetric, PetscObjectComm(reinterpret_cast<PetscObject>(matrix)), PETSC_ERR_SUP,
             "-pc_taskdag_eisenstat has no transposed operator but for a matrix that is known to be symmetric "
             "(MatSetOption())");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Eisenstat::make_middle(Vec diagonal) {
  PetscFunctionBegin;
  if (!middle_) PetscCall(VecDuplicate(diagonal, middle_.out()));
  if (!upper_) PetscCall(VecDuplicate(diagonal, upper_.out()));
  if (!rest_) PetscCall(VecDuplicate(diagonal, rest_.out()));
  PetscCall(preconditioner_->pivots(upper_));
  PetscCall(VecWAXPY(middle_, -0.5, diagonal, upper_));
  PetscCall(VecScale(middle_, 2.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Eisenstat::fail(PC pc, PCFailedReason reason) {
  PetscFunctionBegin;
  if (!shell_) PetscCall(make(pc));
  failed_ = reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Eisenstat::multiply(Vec v, Vec y) {
  PetscFunctionBegin;
  if (failed_ != PC_NOERROR) {
    PetscCall(poison(y, failed_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (couplings_.has_ranks())
    PetscCall(multiply_on_ranks(v, y));
  else
    PetscCall(preconditioner_->half(Half::transformed, v, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Eisenstat::multiply_transposed(Vec v, Vec y) {
  PetscFunctionBegin;
  PetscCall(check_symmetry(operator_));
  PetscCall(multiply(v, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Eisenstat::multiply_on_ranks(Vec v, Vec y) {
  PetscFunctionBegin;
  // A = (E + L) + (E + U) − (2 E − D), so the product is u + (E + L)⁻¹ (v − (2 E − D) u) with u = (E + U)⁻¹ v; the
  // couplings B between ranks add B u to what is in brackets. Signs are turned, for B's residual. Symmetric scaling
  // multiplies v and y by E^½.
  if (is_scaled()) {
    PetscCall(VecPointwiseMult(y, root_, v));
    v = y;
  }
  PetscCall(preconditioner_->half(Half::upper, v, upper_));
  PetscCall(VecPointwiseMult(rest_, middle_, upper_));
  PetscCall(VecAXPY(rest_, -1.0, v));
  Vec right = nullptr;
  PetscCall(couplings_.residual(rest_, upper_, &right));
  PetscCall(preconditioner_->half(Half::lower, right, y));
  PetscCall(VecAYPX(y, -1.0, upper_));
  if (is_scaled()) PetscCall(VecPointwiseMult(y, y, root_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// With a reference, as for any operator of a PC: where an error ends the solve, PETSc and the application go on with
/// what is there.
PetscErrorCode Eisenstat::take_place(PC pc) {
  PetscFunctionBegin;
  if (pc->mat == shell_) PetscFunctionReturn(PETSC_SUCCESS);
  Held<Mat> place;
  PetscCall(place.share(shell_));
  PetscCall(operator_.reset());
  operator_.swap(pc->mat);
  place.swap(pc->mat);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Eisenstat::restore(PC pc) {
  PetscFunctionBegin;
  if (shell_ && pc->mat == shell_) {
    PetscCall(MatDestroy(&pc->mat));
    operator_.swap(pc->mat);
  }
  PetscCall(operator_.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Eisenstat::pre_solve(PC pc, KSP ksp, Vec b, Vec x, std::size_t depth) {
  PetscFunctionBegin;
  PetscCall(check_norm(ksp));
  if (solves_transposed(ksp)) PetscCall(check_symmetry(pc->pmat));
  PetscCall(check_operator(pc));
  PetscCall(take_place(pc));
  Vec saved = saved_.at(depth);
  PetscBool from_guess = PETSC_FALSE;
  PetscCall(KSPGetInitialGuessNonzero(ksp, &from_guess));
  if (failed_ == PC_NOERROR && from_guess) {
    PetscCall(VecCopy(x, saved));
    PetscCall(preconditioner_->half(Half::upper_product, saved, x));
    if (is_scaled()) PetscCall(VecPointwiseDivide(x, x, root_));
  }
  PetscCall(VecCopy(b, saved));
  if (failed_ == PC_NOERROR) {
    PetscCall(preconditioner_->half(Half::lower, saved, b));
    if (is_scaled()) PetscCall(VecPointwiseMult(b, b, root_));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Eisenstat::post_solve(PC pc, Vec b, Vec x, std::size_t depth) {
  PetscFunctionBegin;
  Vec saved = saved_.at(depth);
  PetscCall(VecCopy(saved, b));
  if (failed_ == PC_NOERROR) {
    if (is_scaled())
      PetscCall(VecPointwiseMult(saved, root_, x));
    else
      PetscCall(VecCopy(x, saved));
    PetscCall(preconditioner_->half(Half::upper, saved, x));
  }
  if (depth == 0) PetscCall(restore(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Eisenstat::apply(Vec b, Vec x) const {
  PetscFunctionBegin;
  if (is_scaled())
    PetscCall(VecCopy(b, x));
  else
    PetscCall(VecPointwiseMult(x, scale_, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Eisenstat::reset(PC pc) {
  PetscFunctionBegin;
  PetscCall(restore(pc));
  preconditioner_ = nullptr;
  failed_ = PC_NOERROR;
  PetscCall(couplings_.reset());
  // Others may hold a reference to it.
  if (shell_) PetscCall(MatShellSetContext(shell_, nullptr));
  PetscCall(shell_.reset());
  for (Held<Vec>& saved : saved_) PetscCall(saved.reset());
  PetscCall(middle_.reset());
  PetscCall(scale_.reset());
  PetscCall(root_.reset());
  PetscCall(upper_.reset());
  PetscCall(rest_.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

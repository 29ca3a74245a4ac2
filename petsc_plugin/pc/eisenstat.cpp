#include "pc/eisenstat.hpp"

#include <optional>

#include "boundary.hpp"
#include "mat/poison.hpp"
#include "pc/types.hpp"

namespace taskdag::petsc {
namespace {

PetscErrorCode multiply_shell(Mat shell, Vec v, Vec y) {
  PetscFunctionBegin;
  void* context = nullptr;
  PetscCall(MatShellGetContext(shell, &context));
  PetscCall(static_cast<Eisenstat*>(context)->multiply(v, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

OptionRow eisenstat_row() {
  return {
      "-pc_taskdag_eisenstat", to_text(Settings{}.eisenstat), "true, false",
      "With sor, dilu, dic, ilu, icc: let the Krylov method work on (E + L)^-1 A (E + U)^-1, which needs no product "
      "with A (Eisenstat's trick)"};
}

}  // namespace

std::vector<OptionRow> eisenstat_rows() { return {eisenstat_row()}; }

PetscErrorCode read_eisenstat(OptionItems items, Settings* settings) {
  PetscFunctionBegin;
  std::optional<OptionRow> row;
  PetscCall(guarded([&] { row = eisenstat_row(); }));
  PetscCall(read_bool(items, *row, &settings->eisenstat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool same_eisenstat(const Settings& a, const Settings& b) { return a.eisenstat == b.eisenstat; }

PetscErrorCode Eisenstat::make(PC pc) {
  PetscFunctionBegin;
  PetscInt m = 0;
  PetscInt n = 0;
  PetscInt rows = 0;
  PetscInt columns = 0;
  VecType type = nullptr;
  PetscCall(MatGetLocalSize(pc->pmat, &m, &n));
  PetscCall(MatGetSize(pc->pmat, &rows, &columns));
  PetscCall(MatCreateVecs(pc->pmat, &scale_, nullptr));
  for (Vec& saved : saved_) PetscCall(VecDuplicate(scale_, &saved));
  PetscCall(VecGetType(scale_, &type));
  PetscCall(MatCreateShell(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), m, n, rows, columns, this, &shell_));
  PetscCall(MatShellSetVecType(shell_, type));
  PetscCall(MatShellSetOperation(shell_, MATOP_MULT, reinterpret_cast<void (*)()>(multiply_shell)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Eisenstat::set_up(PC pc, Preconditioner* preconditioner) {
  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(pc));
  PetscCheck(pc->mat == pc->pmat, comm, PETSC_ERR_SUP,
             "-pc_taskdag_eisenstat needs one matrix as operator and for the preconditioner");
  const int mine = preconditioner->has_own_halves() ? 1 : 0;
  int all = 0;
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm));
  PetscCheck(
      all == 1, comm, PETSC_ERR_SUP,
      "-pc_taskdag_eisenstat is for the types dilu and dic, for ilu and icc of level 0 where elimination changes "
      "the diagonal alone, and for sor with one symmetric iteration");
  preconditioner_ = preconditioner;
  failed_ = PC_NOERROR;
  if (!shell_) PetscCall(make(pc));
  PetscBool known = PETSC_FALSE;
  PetscBool symmetric = PETSC_FALSE;
  PetscCall(MatIsSymmetricKnown(pc->pmat, &known, &symmetric));
  const auto transposed = reinterpret_cast<void (*)()>(multiply_shell);
  PetscCall(MatShellSetOperation(shell_, MATOP_MULT_TRANSPOSE, known && symmetric ? transposed : nullptr));
  PetscCall(couplings_.reset());
  PetscCall(couplings_.attach(pc->pmat));
  PetscCall(MatGetDiagonal(pc->pmat, scale_));
  if (couplings_.has_ranks())
    PetscCall(make_middle(scale_));
  else
    PetscCall(preconditioner_->set_diagonal(scale_));
  if (!preconditioner_->scales_by_diagonal()) PetscCall(preconditioner_->pivots(scale_));
  // Now it goes to the device, if the vector is one of a device, not in the first iteration.
  const PetscScalar* array = nullptr;
  PetscCall(VecGetArrayReadAndMemType(scale_, &array, nullptr));
  PetscCall(VecRestoreArrayReadAndMemType(scale_, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Eisenstat::make_middle(Vec diagonal) {
  PetscFunctionBegin;
  if (!middle_) PetscCall(VecDuplicate(diagonal, &middle_));
  if (!upper_) PetscCall(VecDuplicate(diagonal, &upper_));
  if (!rest_) PetscCall(VecDuplicate(diagonal, &rest_));
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

PetscErrorCode Eisenstat::multiply_on_ranks(Vec v, Vec y) {
  PetscFunctionBegin;
  // A = (E + L) + (E + U) − (2 E − D), so the product is u + (E + L)⁻¹ (v − (2 E − D) u) with u = (E + U)⁻¹ v; the
  // couplings B between ranks add B u to what is in brackets. Signs are turned, for B's residual.
  PetscCall(preconditioner_->half(Half::upper, v, upper_));
  PetscCall(VecPointwiseMult(rest_, middle_, upper_));
  PetscCall(VecAXPY(rest_, -1.0, v));
  Vec right = nullptr;
  PetscCall(couplings_.residual(rest_, upper_, &right));
  PetscCall(preconditioner_->half(Half::lower, right, y));
  PetscCall(VecAYPX(y, -1.0, upper_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Eisenstat::pre_solve(PC pc, KSP ksp, Vec b, Vec x) {
  PetscFunctionBegin;
  const auto depth = static_cast<std::size_t>(pc->presolvedone) - 1;  // PETSc allows two
  if (depth == 0) {
    operator_ = pc->mat;
    pc->mat = shell_;
  }
  Vec saved = saved_[depth];
  PetscBool from_guess = PETSC_FALSE;
  PetscCall(KSPGetInitialGuessNonzero(ksp, &from_guess));
  if (failed_ == PC_NOERROR && from_guess) {
    PetscCall(VecCopy(x, saved));
    PetscCall(preconditioner_->half(Half::upper_product, saved, x));
  }
  PetscCall(VecCopy(b, saved));
  if (failed_ == PC_NOERROR) PetscCall(preconditioner_->half(Half::lower, saved, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Eisenstat::post_solve(PC pc, Vec b, Vec x) {
  PetscFunctionBegin;
  const auto depth = static_cast<std::size_t>(pc->presolvedone);  // counted down already
  Vec saved = saved_[depth];
  PetscCall(VecCopy(saved, b));
  if (failed_ == PC_NOERROR) {
    PetscCall(VecCopy(x, saved));
    PetscCall(preconditioner_->half(Half::upper, saved, x));
  }
  if (depth == 0) pc->mat = operator_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Eisenstat::apply(Vec b, Vec x) const {
  PetscFunctionBegin;
  PetscCall(VecPointwiseMult(x, scale_, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Eisenstat::reset(PC pc) {
  PetscFunctionBegin;
  if (shell_ && pc->mat == shell_) pc->mat = operator_;  // an error has left a solve
  preconditioner_ = nullptr;
  failed_ = PC_NOERROR;
  PetscCall(couplings_.reset());
  PetscCall(MatDestroy(&shell_));
  for (Vec& saved : saved_) PetscCall(VecDestroy(&saved));
  PetscCall(VecDestroy(&middle_));
  PetscCall(VecDestroy(&scale_));
  PetscCall(VecDestroy(&upper_));
  PetscCall(VecDestroy(&rest_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

#include "pc/pc_diagonal.hpp"

namespace taskdag::petsc {
namespace {

PetscErrorCode has_form_of(Vec one, Vec other, PetscBool* fits) {
  PetscFunctionBegin;
  PetscLayout layout = nullptr;
  PetscLayout other_layout = nullptr;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(one), reinterpret_cast<PetscObject>(other)->type_name,
                                   fits));
  PetscCall(VecGetLayout(one, &layout));
  PetscCall(VecGetLayout(other, &other_layout));
  if (*fits) PetscCall(PetscLayoutCompare(layout, other_layout, fits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode PcDiagonal::find(PC pc, Vec like, Apply apply) {
  PetscFunctionBegin;
  PetscBool fits = PETSC_FALSE;
  if (diagonal_) PetscCall(has_form_of(diagonal_, like, &fits));
  if (!fits) {
    PetscCall(reset());
    PetscCall(VecDuplicate(like, ones_.out()));
    PetscCall(VecDuplicate(like, diagonal_.out()));
    PetscCall(VecSet(ones_, 1.0));
  }
  PetscCall(apply(pc, ones_, diagonal_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PcDiagonal::elements(const Context& context, const double** array) {
  PetscFunctionBegin;
  PetscCall(elements_.find(diagonal_, context, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PcDiagonal::reset() {
  PetscFunctionBegin;
  PetscCall(ones_.reset());
  PetscCall(diagonal_.reset());
  elements_ = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

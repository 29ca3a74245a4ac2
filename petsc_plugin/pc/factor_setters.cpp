// PETSc's own setters for factor options.
#include "boundary.hpp"
#include "pc/factor_type.hpp"
#include "pc/pc_taskdag.hpp"
#include "pc/types.hpp"

namespace taskdag::petsc {
namespace {

FactorSettings& factor_of(PC pc) { return settings_of(pc).factor; }

PetscErrorCode set_shift_type(PC pc, MatFactorShiftType type) {
  PetscFunctionBegin;
  if (static_cast<int>(type) != PETSC_DECIDE)
    factor_of(pc).shift = type;
  else
    factor_of(pc).shift.reset();
  PetscCall(start_over(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_shift_amount(PC pc, PetscReal amount) {
  PetscFunctionBegin;
  const bool decide = amount == static_cast<PetscReal>(PETSC_DECIDE);
  factor_of(pc).shift_amount = decide ? FactorOptions{}.shift_amount : amount;
  PetscCall(start_over(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_zero_pivot(PC pc, PetscReal tolerance) {
  PetscFunctionBegin;
  factor_of(pc).zero_pivot = tolerance;
  PetscCall(start_over(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_levels(PC pc, PetscInt levels) {
  PetscFunctionBegin;
  PetscCheck(levels >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "the levels of fill must be 0 or more, not %" PetscInt_FMT, levels);
  factor_of(pc).levels = levels;
  PetscCall(start_over(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_levels(PC pc, PetscInt* levels) {
  *levels = factor_of(pc).levels;
  return PETSC_SUCCESS;
}

PetscErrorCode set_ordering(PC pc, MatOrderingType type) {
  PetscFunctionBegin;
  PetscCheck(type, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the ordering needs a name");
  PetscCall(guarded([&] { factor_of(pc).ordering = type; }));
  PetscCall(start_over(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_reuse_ordering(PC pc, PetscBool reuse) {
  factor_of(pc).reuse_ordering = reuse == PETSC_TRUE;
  return PETSC_SUCCESS;
}

}  // namespace

PetscErrorCode compose_factor_setters(PC pc, bool present) {
  PetscFunctionBegin;
  auto* object = reinterpret_cast<PetscObject>(pc);
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetShiftType_C", present ? set_shift_type : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetShiftAmount_C", present ? set_shift_amount : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetZeroPivot_C", present ? set_zero_pivot : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetLevels_C", present ? set_levels : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorGetLevels_C", present ? get_levels : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetMatOrderingType_C", present ? set_ordering : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetReuseOrdering_C", present ? set_reuse_ordering : nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

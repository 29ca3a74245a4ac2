// PETSc's own setters and getters for factor options. What there is not is refused: PETSc ignores setters that are
// missing.
#include <optional>

#include "boundary.hpp"
#include "mat/indices.hpp"
#include "options.hpp"
#include "pc/factor_type.hpp"
#include "pc/pc_taskdag.hpp"
#include "pc/types.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

const FactorSettings& factor_of(PC pc) { return settings_of(pc).factor; }

/// Takes a value; what was set up is kept as far as it does for that.
template <class Value, class New>
PetscErrorCode take(PC pc, Value FactorSettings::*member, const New& wanted) {
  PetscFunctionBegin;
  PetscCall(change_settings(pc, [&](Settings& settings) { settings.factor.*member = wanted; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_shift_type(PC pc, MatFactorShiftType type) {
  PetscFunctionBegin;
  const bool decide = static_cast<int>(type) == PETSC_DECIDE;
  PetscCall(take(pc, &FactorSettings::shift, decide ? std::nullopt : std::optional(type)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_shift_type(PC pc, MatFactorShiftType* type) {
  *type = shift_type_of(settings_of(pc));
  return PETSC_SUCCESS;
}

PetscErrorCode set_shift_amount(PC pc, PetscReal amount) {
  PetscFunctionBegin;
  const bool decide = amount == static_cast<PetscReal>(PETSC_DECIDE);
  PetscCall(take(pc, &FactorSettings::shift_amount, decide ? FactorSettings{}.shift_amount : amount));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_shift_amount(PC pc, PetscReal* amount) {
  *amount = factor_of(pc).shift_amount;
  return PETSC_SUCCESS;
}

PetscErrorCode set_zero_pivot(PC pc, PetscReal tolerance) {
  PetscFunctionBegin;
  PetscCall(take(pc, &FactorSettings::zero_pivot, tolerance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_zero_pivot(PC pc, PetscReal* tolerance) {
  *tolerance = factor_of(pc).zero_pivot;
  return PETSC_SUCCESS;
}

PetscErrorCode set_levels(PC pc, PetscInt levels) {
  PetscFunctionBegin;
  PetscCheck(levels >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "the levels of fill must be 0 or more, not %" PetscInt_FMT, levels);
  PetscCall(check_fits(levels, "levels of fill"));
  PetscCall(take(pc, &FactorSettings::levels, levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_levels(PC pc, PetscInt* levels) {
  *levels = factor_of(pc).levels;
  return PETSC_SUCCESS;
}

PetscErrorCode set_ordering(PC pc, MatOrderingType type) {
  PetscFunctionBegin;
  PetscCheck(type, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the ordering needs a name");
  PetscCall(take(pc, &FactorSettings::ordering, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_reuse_ordering(PC pc, PetscBool reuse) {
  PetscFunctionBegin;
  PetscCall(take(pc, &FactorSettings::reuse_ordering, reuse == PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Sizes are counted, not guessed: nothing is to be done.
PetscErrorCode set_fill(PC /*pc*/, PetscReal /*fill*/) { return PETSC_SUCCESS; }
PetscErrorCode set_reuse_fill(PC /*pc*/, PetscBool /*reuse*/) { return PETSC_SUCCESS; }

PetscErrorCode set_solver_type(PC pc, MatSolverType type) {
  PetscFunctionBegin;
  PetscBool own = PETSC_FALSE;
  PetscCall(PetscStrcmp(type, MATSOLVERTASKDAG, &own));
  PetscCheck(own, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_SUP,
             "-pc_type taskdag factors by itself, not by %s: use -pc_type ilu or icc for that",
             type ? type : "nothing");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_solver_type(PC /*pc*/, MatSolverType* type) {
  *type = MATSOLVERTASKDAG;
  return PETSC_SUCCESS;
}

PetscErrorCode refuse(PC pc, const char* what) {
  PetscFunctionBegin;
  SETERRQ(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_SUP,
          "-pc_type taskdag has no %s; PETSc's own -pc_type ilu may have", what);
}

PetscErrorCode set_drop_tolerance(PC pc, PetscReal /*tolerance*/, PetscReal /*column*/, PetscInt /*count*/) {
  return refuse(pc, "drop tolerance");
}
PetscErrorCode set_in_place(PC pc, PetscBool flag) {
  return flag ? refuse(pc, "factorisation in place") : PETSC_SUCCESS;
}
PetscErrorCode set_diagonal_fill(PC pc, PetscBool flag) {
  return flag ? refuse(pc, "fill of the diagonal") : PETSC_SUCCESS;
}
PetscErrorCode set_pivot_in_blocks(PC pc, PetscBool flag) {
  return flag ? PETSC_SUCCESS : refuse(pc, "point blocks without exchanges of rows inside them");
}
PetscErrorCode set_column_pivot(PC pc, PetscReal tolerance) {
  return tolerance > 0.0 ? refuse(pc, "column pivoting") : PETSC_SUCCESS;
}
PetscErrorCode reorder_diagonal(PC pc, PetscReal /*tolerance*/) {
  return refuse(pc, "reordering for a nonzero diagonal");
}
PetscErrorCode get_false(PC /*pc*/, PetscBool* flag) {
  *flag = PETSC_FALSE;
  return PETSC_SUCCESS;
}

}  // namespace

PetscErrorCode compose_factor_setters(PC pc, bool present) {
  PetscFunctionBegin;
  auto* object = reinterpret_cast<PetscObject>(pc);
  PetscCall(
      PetscObjectComposeFunction(object, "PCFactorSetShiftType_C", present ? Shared<set_shift_type>::call : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetShiftAmount_C",
                                       present ? Shared<set_shift_amount>::call : nullptr));
  PetscCall(
      PetscObjectComposeFunction(object, "PCFactorSetZeroPivot_C", present ? Shared<set_zero_pivot>::call : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetLevels_C", present ? Shared<set_levels>::call : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorGetLevels_C", present ? get_levels : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetMatOrderingType_C",
                                       present ? Shared<set_ordering>::call : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetReuseOrdering_C",
                                       present ? Shared<set_reuse_ordering>::call : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorGetShiftType_C", present ? get_shift_type : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorGetShiftAmount_C", present ? get_shift_amount : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorGetZeroPivot_C", present ? get_zero_pivot : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetFill_C", present ? Shared<set_fill>::call : nullptr));
  PetscCall(
      PetscObjectComposeFunction(object, "PCFactorSetReuseFill_C", present ? Shared<set_reuse_fill>::call : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetMatSolverType_C",
                                       present ? Shared<set_solver_type>::call : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorGetMatSolverType_C", present ? get_solver_type : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetDropTolerance_C",
                                       present ? Shared<set_drop_tolerance>::call : nullptr));
  PetscCall(
      PetscObjectComposeFunction(object, "PCFactorSetUseInPlace_C", present ? Shared<set_in_place>::call : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorGetUseInPlace_C", present ? get_false : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetAllowDiagonalFill_C",
                                       present ? Shared<set_diagonal_fill>::call : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorGetAllowDiagonalFill_C", present ? get_false : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetPivotInBlocks_C",
                                       present ? Shared<set_pivot_in_blocks>::call : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetColumnPivot_C",
                                       present ? Shared<set_column_pivot>::call : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorReorderForNonzeroDiagonal_C",
                                       present ? Shared<reorder_diagonal>::call : nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

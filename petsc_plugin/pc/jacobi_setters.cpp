// PETSc's own setters and getters of PCJACOBI.
#include "pc/access.hpp"
#include "pc/jacobi_type.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

// Types go by name: releases of PETSc number them in different ways, and the older ones have no rowl1.
PetscErrorCode set_type(PC pc, PCJacobiType type) {
  PetscFunctionBegin;
  PetscCall(set_value(pc, "-pc_taskdag_jacobi_type", PCJacobiTypes[type]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_type(PC pc, PCJacobiType* type) {
  PetscFunctionBegin;
  const char* name = nullptr;
  PetscInt place = 0;
  PetscBool found = PETSC_FALSE;
  PetscInt count = 0;
  PetscCall(get_value(pc, "-pc_taskdag_jacobi_type", &name));
  // Behind the names come that of the enumeration and its prefix.
  while (PCJacobiTypes[count + 2]) ++count;
  PetscCall(PetscEListFind(count, PCJacobiTypes, name, &place, &found));
  PetscCheck(found, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_SUP,
             "this PETSc has no PCJacobiType for %s", name);
  *type = static_cast<PCJacobiType>(place);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_use_abs(PC pc, PetscBool use) { return set_value(pc, "-pc_taskdag_jacobi_abs", use); }

PetscErrorCode get_use_abs(PC pc, PetscBool* use) { return get_value(pc, "-pc_taskdag_jacobi_abs", use); }

PetscErrorCode set_l1_scale(PC pc, PetscReal scale) { return set_value(pc, "-pc_taskdag_jacobi_rowl1_scale", scale); }

PetscErrorCode get_l1_scale(PC pc, PetscReal* scale) { return get_value(pc, "-pc_taskdag_jacobi_rowl1_scale", scale); }

PetscErrorCode set_fix_diagonal(PC pc, PetscBool fix) {
  PetscFunctionBegin;
  PetscCheck(fix, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_SUP,
             "-pc_taskdag_type jacobi puts 1 in the place of zero diagonal entries always");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_fix_diagonal(PC /*pc*/, PetscBool* fix) {
  *fix = PETSC_TRUE;
  return PETSC_SUCCESS;
}

}  // namespace

PetscErrorCode compose_jacobi_setters(PC pc, bool present) {
  PetscFunctionBegin;
  auto* object = reinterpret_cast<PetscObject>(pc);
  PetscCall(PetscObjectComposeFunction(object, "PCJacobiSetType_C", present ? Shared<set_type>::call : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCJacobiGetType_C", present ? get_type : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCJacobiSetUseAbs_C", present ? Shared<set_use_abs>::call : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCJacobiGetUseAbs_C", present ? get_use_abs : nullptr));
  PetscCall(
      PetscObjectComposeFunction(object, "PCJacobiSetRowl1Scale_C", present ? Shared<set_l1_scale>::call : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCJacobiGetRowl1Scale_C", present ? get_l1_scale : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCJacobiSetFixDiagonal_C",
                                       present ? Shared<set_fix_diagonal>::call : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCJacobiGetFixDiagonal_C", present ? get_fix_diagonal : nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

// PETSc's own setters and getters of PCSOR.
#include "boundary.hpp"
#include "pc/pc_taskdag.hpp"
#include "pc/sor_type.hpp"
#include "pc/types.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

const SorSettings& sor_of(PC pc) { return settings_of(pc).sor; }

PetscErrorCode set_symmetric(PC pc, MatSORType sweep) {
  PetscFunctionBegin;
  const bool known = sweep == SOR_SYMMETRIC_SWEEP || sweep == SOR_FORWARD_SWEEP || sweep == SOR_BACKWARD_SWEEP ||
                     sweep == SOR_LOCAL_SYMMETRIC_SWEEP || sweep == SOR_LOCAL_FORWARD_SWEEP ||
                     sweep == SOR_LOCAL_BACKWARD_SWEEP;
  PetscCheck(known, PETSC_COMM_SELF, PETSC_ERR_SUP, "MatSORType %d is no sweep of -pc_taskdag_type sor",
             static_cast<int>(sweep));
  PetscCall(change_settings(pc, [&](Settings& settings) { settings.sor.sweep = sweep; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_symmetric(PC pc, MatSORType* sweep) {
  *sweep = sor_of(pc).sweep;
  return PETSC_SUCCESS;
}

PetscErrorCode set_omega(PC pc, PetscReal omega) {
  PetscFunctionBegin;
  PetscCheck(omega > 0.0 && omega < 2.0, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_ARG_OUTOFRANGE,
             "omega of SOR must be more than 0 and less than 2, not %g", omega);
  PetscCall(change_settings(pc, [&](Settings& settings) { settings.sor.omega = omega; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_omega(PC pc, PetscReal* omega) {
  *omega = sor_of(pc).omega;
  return PETSC_SUCCESS;
}

PetscErrorCode set_iterations(PC pc, PetscInt iterations, PetscInt local) {
  PetscFunctionBegin;
  PetscCheck(iterations >= 1 && local >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "SOR needs 1 iteration or more, not %" PetscInt_FMT " and %" PetscInt_FMT, iterations, local);
  PetscCall(change_settings(pc, [&](Settings& settings) {
    settings.sor.iterations = iterations;
    settings.sor.local_iterations = local;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_iterations(PC pc, PetscInt* iterations, PetscInt* local) {
  if (iterations) *iterations = sor_of(pc).iterations;
  if (local) *local = sor_of(pc).local_iterations;
  return PETSC_SUCCESS;
}

}  // namespace

PetscErrorCode compose_sor_setters(PC pc, bool present) {
  PetscFunctionBegin;
  auto* object = reinterpret_cast<PetscObject>(pc);
  PetscCall(PetscObjectComposeFunction(object, "PCSORSetSymmetric_C", present ? Shared<set_symmetric>::call : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCSORGetSymmetric_C", present ? get_symmetric : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCSORSetOmega_C", present ? Shared<set_omega>::call : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCSORGetOmega_C", present ? get_omega : nullptr));
  PetscCall(
      PetscObjectComposeFunction(object, "PCSORSetIterations_C", present ? Shared<set_iterations>::call : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCSORGetIterations_C", present ? get_iterations : nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

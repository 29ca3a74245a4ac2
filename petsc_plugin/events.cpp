#include "events.hpp"

#include "compat.hpp"

namespace taskdag::petsc {

Events& events() {
  static Events instance;
  return instance;
}

PetscErrorCode register_events() {
  PetscFunctionBegin;
  Events& e = events();
  PetscCall(PetscClassIdRegister("TaskDAG", &e.class_id));
  PetscCall(PetscLogEventRegister("TaskDAGOrdering", e.class_id, &e.ordering));
  PetscCall(PetscLogEventRegister("TaskDAGSymbolic", e.class_id, &e.symbolic));
  PetscCall(PetscLogEventRegister("TaskDAGNumeric", e.class_id, &e.numeric));
  PetscCall(PetscLogEventRegister("TaskDAGGrowth", e.class_id, &e.growth));
  PetscCall(PetscLogEventRegister("TaskDAGApply", e.class_id, &e.apply));
  PetscCall(PetscLogEventRegister("TaskDAGMatSOR", e.class_id, &e.mat_sor));
  PetscCall(PetscLogEventRegister("TaskDAGKrylov", e.class_id, &e.krylov));
  PetscCall(PetscLogEventRegister("TaskDAGCycle", e.class_id, &e.cycle));
  PetscCall(PetscLogEventRegister("TaskDAGProgram", e.class_id, &e.program));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EventScope::begin(PetscLogEvent event, PetscObject first, PetscObject second) {
  PetscFunctionBegin;
  event_ = event;
  first_ = first;
  second_ = second;
  PetscCall(PetscLogEventBegin(event_, first_, second_, nullptr, nullptr));
  begun_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EventScope::end() {
  PetscFunctionBegin;
  begun_ = false;
  PetscCall(PetscLogEventEnd(event_, first_, second_, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode log_flops(bool cuda, PetscLogDouble flops) {
  // A PETSc without a device counts no device operations at all: there they are counted as ordinary ones.
  if (cuda && petsc_has_cuda()) return PetscLogGpuFlops(flops);
  return PetscLogFlops(flops);
}

PetscErrorCode log_staging(PetscLogDouble to_device, PetscLogDouble to_host) {
  PetscFunctionBegin;
  if (to_device > 0) PetscCall(PetscLogCpuToGpu(to_device));
  if (to_host > 0) PetscCall(PetscLogGpuToCpu(to_host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

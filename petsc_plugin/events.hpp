/// \file
/// What -log_view shows of the plugin.
#pragma once

#include <petsclog.h>

namespace taskdag::petsc {

struct Events {
  PetscClassId class_id = 0;
  PetscLogEvent ordering = 0;  ///< TaskDAGOrdering: choosing and finding the order of the rows
  PetscLogEvent symbolic = 0;  ///< TaskDAGSymbolic: pattern analysis
  PetscLogEvent numeric = 0;   ///< TaskDAGNumeric: factorisation, or taking new values
  PetscLogEvent growth = 0;    ///< TaskDAGGrowth: inside that, measuring the growth of a factor
  PetscLogEvent apply = 0;     ///< TaskDAGApply: one application, to one vector or a block
  PetscLogEvent mat_sor = 0;   ///< TaskDAGMatSOR: MatSOR() by us, around these
  PetscLogEvent krylov = 0;    ///< TaskDAGKrylov: a whole Krylov loop of ours, with its preconditioner
  PetscLogEvent cycle = 0;     ///< TaskDAGCycle: one application of multigrid
  PetscLogEvent program = 0;   ///< TaskDAGProgram: inside these, runs of a program of the task engine
};

/// The registered events; valid between registration and PetscFinalize().
Events& events();

PetscErrorCode register_events();

/// An event that ends with its scope, also where an error leaves it: one left open would never be counted again.
class EventScope {
 public:
  EventScope() = default;
  EventScope(const EventScope&) = delete;
  EventScope& operator=(const EventScope&) = delete;
  ~EventScope() {
    if (begun_) (void)end();
  }
  PetscErrorCode begin(PetscLogEvent event, PetscObject first, PetscObject second = nullptr);

 private:
  PetscErrorCode end();

  bool begun_ = false;
  PetscLogEvent event_ = 0;
  PetscObject first_ = nullptr;
  PetscObject second_ = nullptr;
};

/// Floating-point operations of work done on `cuda` or on the host.
PetscErrorCode log_flops(bool cuda, PetscLogDouble flops);

/// Bytes that the library moved between host and device, unknown to PETSc.
PetscErrorCode log_staging(PetscLogDouble to_device, PetscLogDouble to_host);

}  // namespace taskdag::petsc

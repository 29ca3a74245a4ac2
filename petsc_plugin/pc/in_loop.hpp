/// \file
/// Preconditioners that a Krylov loop of TaskDAG applies inside: those of type taskdag, and others whose application is
/// TaskDAG's.
#pragma once

#include "compat.hpp"
#include "pc/preconditioner.hpp"

namespace taskdag::petsc {

/// The application of a PC that has another type.
class OwnApplication {
 public:
  OwnApplication() = default;
  OwnApplication(const OwnApplication&) = delete;
  OwnApplication& operator=(const OwnApplication&) = delete;
  virtual ~OwnApplication() = default;

  /// As prepare_for_arrays() of pc_taskdag.hpp has it. Collective.
  virtual PetscErrorCode prepare_for_arrays(PC pc, ArrayUse* use) = 0;
  /// Applies it so, in memory of its backend. May throw.
  virtual void apply_to_arrays(const double* b, double* x, Stream stream) = 0;
  /// As Preconditioner::map_over_ranks().
  virtual LinearMap* map_over_ranks() { return nullptr; }
};

/// What a PC is asked for its own application, null where it has none at present: the PC's composed function of this
/// name.
using FindOwnApplication = PetscErrorCode(PC, OwnApplication**);
inline constexpr auto kFindOwnApplication = "TaskDAGFindOwnApplication_C";

/// Null for a PC without one. It lives as long as the PC has its type.
PetscErrorCode own_application_of(PC pc, OwnApplication** own);

/// Whether the PC is of type taskdag, or has an application of its own.
PetscErrorCode is_ours(PC pc, bool* ours);

}  // namespace taskdag::petsc

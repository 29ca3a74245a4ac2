/// \file
/// PETSc's SOR as a smoother's preconditioner: the library's sweeps with its settings, on several ranks through each
/// rank's own rows.
#pragma once

#include <memory>

#include "compat.hpp"
#include "mat/state.hpp"
#include "mg/level.hpp"
#include "pc/preconditioner.hpp"
#include "settings.hpp"

namespace taskdag::petsc {

/// Of a PCSOR. `known`: PETSc's data is what it is taken for; the shift counts only then.
PetscErrorCode read_sor(PC pc, SorSettings* settings, bool* known);

class SorOfPc {
 public:
  using Seen = SorSettings;

  /// Reads the settings. PETSc sweeps by rows with them, or refuse() is called.
  static PetscErrorCode look_at(PC pc, Seen* seen, const Refusal& refuse);
  /// Takes the matrix as it is now, on a rank that has rows of it. ArrayUse::backend is null where a diagonal entry
  /// cannot be divided by.
  PetscErrorCode bring(PC pc, Backend backend, ArrayUse* use);
  /// On arrays of the backend. May throw.
  void apply(const double* x, double* y, Stream stream) { sor_->apply_to_arrays(x, y, stream); }
  PetscErrorCode reset();

 private:
  Settings settings_;                    ///< which the sweeps read
  std::unique_ptr<Preconditioner> sor_;  ///< null before the first bring()
  MatState of_;                          ///< the matrix that it has taken
};

}  // namespace taskdag::petsc

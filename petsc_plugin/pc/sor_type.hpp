/// \file
/// -pc_taskdag_type sor: SOR and SSOR with the meaning that PETSc's PCSOR gives them.
#pragma once

#include <memory>
#include <vector>

#include "options.hpp"
#include "pc/preconditioner.hpp"

namespace taskdag::petsc {

struct Settings;

/// PCSOR's, with its defaults.
struct SorSettings {
  MatSORType sweep = SOR_LOCAL_SYMMETRIC_SWEEP;
  PetscReal omega = 1.0;
  PetscReal shift = 0.0;
  PetscInt iterations = 1;
  PetscInt local_iterations = 1;
};

std::unique_ptr<Preconditioner> make_sor(const Settings& settings);

/// Its options: -pc_taskdag_sor_….
std::vector<OptionRow> sor_rows();
PetscErrorCode read_sor(OptionItems items, Settings* settings);
bool same_sor(const Settings& a, const Settings& b);

/// PETSc's own setters and getters, PCSORSetOmega() and so on, reach this preconditioner as well.
PetscErrorCode compose_sor_setters(PC pc, bool present);

}  // namespace taskdag::petsc

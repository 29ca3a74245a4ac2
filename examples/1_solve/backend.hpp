/// \file
/// Which backend a solver ran on.
#pragma once

#include <petscksp.h>

#include <string>

namespace example {

/// The clause that TaskDAG's preconditioner (or a factor inside PETSc's) prints about its backend when it is viewed,
/// "PETSc" where none of it is in the solver. Call after the set-up. Collective; the answer is rank 0's.
std::string backend_of(KSP ksp);

}  // namespace example

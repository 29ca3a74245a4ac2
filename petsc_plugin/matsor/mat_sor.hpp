/// \file
/// MatSOR() of PETSc's own matrix types by our sweeps, for whatever calls it: PCSOR, PCEISENSTAT, smoothers of
/// multigrid. Off unless asked for.
///
/// The hook is PETSc's public one: a constructor registered under the name of a type replaces the one before,
/// and MatSetOperation() replaces one operation of one matrix. MatSOR() of MATMPIAIJ and MATMPIBAIJ calls that
/// of the ranks' own blocks.
#pragma once

#include "compat.hpp"

namespace taskdag::petsc {

/// Whether matrices that get one of these types from now on sweep by us: MATSEQAIJ, MATSEQAIJCUSPARSE, MATSEQAIJKOKKOS.
PetscErrorCode use_mat_sor_for_types(bool use);

/// Of one matrix, or of the own block of one on several ranks. Nothing where it is so already.
PetscErrorCode use_mat_sor(Mat matrix, bool use);
PetscErrorCode uses_mat_sor(Mat matrix, bool* uses);

/// As the option -taskdag_mat_sor says. At registration.
PetscErrorCode register_mat_sor();

}  // namespace taskdag::petsc

/// \file
/// Problems for multigrid on a regular grid of PETSc's (DMDA), in three dimensions.
#pragma once

#include <petscdmda.h>

#include <string>

namespace taskdag::benchmark {

/// poisson, jumps, anisotropic: seven points a row, the boundary's values known.
///   jumps        coefficients of 1 and 1000, in turn by cubes of an eighth of the side
///   anisotropic  a coefficient of 0.001 along the third axis, 1 along the others
/// elasticity: trilinear hexahedra, three displacements a node, Young's modulus 1, Poisson's ratio 0.3, one face held;
/// rigid body motions are attached for algebraic multigrid.
struct MultigridProblem {
  DM grid = nullptr;
  Mat matrix = nullptr;
};

/// n: nodes along each axis. Types of matrix and vectors by -dm_mat_type and -dm_vec_type. Collective.
/// @returns PETSC_ERR_ARG_OUTOFRANGE for another name
PetscErrorCode make_multigrid_problem(const std::string& name, PetscInt n, MultigridProblem* problem);

}  // namespace taskdag::benchmark

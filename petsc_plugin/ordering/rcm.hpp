/// \file
/// The ordering `taskdag_rcm`: reverse Cuthill-McKee.
#pragma once

#include <petscmat.h>

#include "taskdag/ordering.hpp"

namespace taskdag::petsc {

/// The form, its sort, its steps and its scheduler: -taskdag_rcm_…, read as matrix_prefix.hpp says.
PetscErrorCode read_rcm(Mat matrix, OrderingOptions* options);

/// For MatGetOrdering(). Works on the GPU, from the device's arrays, where the matrix lies there; else on host threads.
/// Rows and columns get the same ordering. A matrix that stores one triangle only gives the same one as the full
/// matrix, since the graph of A + Aᵀ counts. Nodes are ordered as one.
PetscErrorCode order_rcm(Mat matrix, MatOrderingType type, IS* row, IS* col);

}  // namespace taskdag::petsc

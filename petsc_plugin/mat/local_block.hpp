/// \file
/// The part of a matrix that a rank works on.
#pragma once

#include "compat.hpp"

namespace taskdag::petsc {

/// The rank's own rows and columns: the whole matrix where there is one rank only. Borrowed.
/// @returns PETSC_ERR_SUP for a matrix that has no entries of its own to read: shell, nest, transpose and the like
PetscErrorCode local_block(Mat whole, Mat* block);

}  // namespace taskdag::petsc

/// \file
/// The orderings' options have two forms: without a prefix for all, and with a matrix' prefix for that one.
#pragma once

#include "compat.hpp"

namespace taskdag::petsc {

/// Calls read(prefix): with null, then with the matrix' own prefix, whose values count more. A matrix without prefix,
/// or none at all (for -help): the first alone. `read` leaves what is not given.
template <class Read>
PetscErrorCode read_with_prefixes(Mat matrix, const Read& read) {
  PetscFunctionBegin;
  PetscCall(read(nullptr));
  const char* prefix = nullptr;
  if (matrix) PetscCall(MatGetOptionsPrefix(matrix, &prefix));
  if (prefix && prefix[0] != '\0') PetscCall(read(prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

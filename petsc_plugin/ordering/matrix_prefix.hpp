/// \file
/// The orderings' options have two forms: without a prefix for all, and with a matrix' prefix for that one.
#pragma once

#include "options.hpp"

namespace taskdag::petsc {

/// Reads the options of an ordering: without a prefix, then with the matrix' own, whose values count
/// more. A matrix without prefix, or none at all (for -help): the first alone. What is not given stays.
inline PetscErrorCode read_with_prefixes(Mat matrix, Reader reader, Settings* settings) {
  PetscFunctionBegin;
  PetscCall(read_titled(nullptr, reader, settings));
  const char* prefix = nullptr;
  if (matrix) PetscCall(MatGetOptionsPrefix(matrix, &prefix));
  if (prefix && prefix[0] != '\0') PetscCall(read_titled(prefix, reader, settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

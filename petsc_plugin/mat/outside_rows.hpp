/// \file
/// What a rank's rows hold in other ranks' columns, as one number each.
#pragma once

#include <vector>

#include "compat.hpp"

namespace taskdag::petsc {

enum class RowMeasure {
  largest,      ///< the largest absolute value
  sum,          ///< of the values
  absolute_sum  ///< of the absolute values
};

/// One number for each of the rank's rows; nothing where there is one rank. Collective.
/// @returns PETSC_ERR_SUP for a matrix whose rows PETSc does not show
PetscErrorCode measure_outside(Mat whole, RowMeasure measure, std::vector<double>* values);

}  // namespace taskdag::petsc

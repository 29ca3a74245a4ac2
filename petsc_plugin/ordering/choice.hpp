/// \file
/// The ordering that stands for a choice, and how the choice is made.
#pragma once

#include <string>

#include "compat.hpp"
#include "settings.hpp"

namespace taskdag::petsc {

/// What `auto` makes of a matrix: a name, and why.
struct OrderingChoice {
  std::string name;
  std::string reason;
};

/// What the choice of an ordering depends on beside the matrix.
struct OrderingNeeds {
  PetscInt fill_levels = 0;  ///< of fill that would couple blocks
  PetscInt small = 0;        ///< largest number of rows whose factor is that of one thread block
  bool blocks = false;       ///< what is asked for goes by blocks alone, or is fastest by them: no grid stays in order
};

/// (Block) multicolour where a GPU would go through many levels in natural order, else the natural order.
PetscErrorCode choose_ordering(Mat matrix, const OrderingNeeds& needs, const BackendSettings& backend,
                               OrderingChoice* choice);

}  // namespace taskdag::petsc

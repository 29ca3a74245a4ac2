/// \file
/// The ordering that stands for a choice, and how the choice is made.
#pragma once

#include <string>

#include "compat.hpp"
#include "settings.hpp"

namespace taskdag::petsc {

/// The name that asks for the choice.
inline constexpr const char* ordering_auto = "auto";

/// What `auto` makes of a matrix: a name, and why.
struct OrderingChoice {
  std::string name;
  std::string reason;
};

/// (Block) multicolour where a GPU would go through many levels in natural order, else the natural order.
/// `fill_levels`: of fill that would couple blocks; small: up to so many rows a factor is that of one thread block.
PetscErrorCode choose_ordering(Mat matrix, PetscInt fill_levels, PetscInt small, const BackendSettings& backend,
                               OrderingChoice* choice);

}  // namespace taskdag::petsc

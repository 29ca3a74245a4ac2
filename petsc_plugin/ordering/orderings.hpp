/// \file
/// The orderings of the plugin by name.
#pragma once

#include <string>

#include "compat.hpp"
#include "ordering/own_order.hpp"
#include "settings.hpp"

namespace taskdag::petsc {

/// Registers all orderings for MatGetOrdering().
PetscErrorCode register_orderings();

/// The ordering of that name for a preconditioner of our own: one of the plugin's, or any other that is registered.
/// block_size: rows in a block of taskdag_bmc; 0: what -taskdag_bmc_block_size says.
PetscErrorCode make_ordering(Mat matrix, const std::string& name, PetscInt block_size, const BackendSettings& backend,
                             IS* row, IS* col);

/// The same without an index set, and on a GPU the order stays there; none where only make_ordering() has it.
PetscErrorCode make_own_order(Mat matrix, const std::string& name, PetscInt block_size, const BackendSettings& backend,
                              OwnOrder* order);

/// Reads the orderings' own options for -help; an ordering takes the values when it is made.
PetscErrorCode show_ordering_options();

}  // namespace taskdag::petsc

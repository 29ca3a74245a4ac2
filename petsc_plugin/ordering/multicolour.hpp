/// \file
/// The orderings `taskdag_color` and `taskdag_bmc`: multicolour and block multicolour. Their blocks travel with the
/// index sets (attached_blocks.hpp).
#pragma once

#include <petscmat.h>

#include "ordering/own_order.hpp"
#include "settings.hpp"
#include "taskdag/block_ordering.hpp"

namespace taskdag::petsc {

/// For MatGetOrdering(). They work on the GPU where the matrix lies there, else on host threads; rows of one node stay
/// together.
PetscErrorCode order_color(Mat matrix, MatOrderingType type, IS* row, IS* col);
PetscErrorCode order_bmc(Mat matrix, MatOrderingType type, IS* row, IS* col);

/// For a preconditioner of our own: the same order, of rows; on the backend of the settings.
/// block_size: as make_ordering()'s; a colour's blocks are rows, or nodes.
PetscErrorCode order_color_on(Mat matrix, PetscInt block_size, const BackendSettings& backend, IS* row, IS* col);
PetscErrorCode order_bmc_on(Mat matrix, PetscInt block_size, const BackendSettings& backend, IS* row, IS* col);

/// The same for one that takes it without an index set.
PetscErrorCode own_order_color(Mat matrix, PetscInt block_size, const BackendSettings& backend, OwnOrder* order);
PetscErrorCode own_order_bmc(Mat matrix, PetscInt block_size, const BackendSettings& backend, OwnOrder* order);

/// -taskdag_color_form; the option is read as matrix_prefix.hpp says.
PetscErrorCode read_color_form(Mat matrix, ColourForm* form);

/// -taskdag_bmc_block_size, read in the same way; a value of 0: not given.
PetscErrorCode read_bmc_block_size(Mat matrix, PetscInt* rows);

}  // namespace taskdag::petsc

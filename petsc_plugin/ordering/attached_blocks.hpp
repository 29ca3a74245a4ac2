/// \file
/// The blocks of rows that travel with the index set of an ordering.
#pragma once

#include <memory>
#include <string>

#include "compat.hpp"
#include "taskdag/block_ordering.hpp"

namespace taskdag::petsc {

/// Index sets of an ordering of `matrix`, with its blocks attached to that of the rows; takes `ordering` apart. They
/// are two objects: of one with two references PCILU would give back only one, and PETSc may permute the columns'
/// later.
PetscErrorCode make_index_sets(Mat matrix, BlockOrdering& ordering, IS* row, IS* col);

/// The blocks that an ordering of this very pattern left with its index set; null where there are none.
PetscErrorCode attached_blocks(Mat matrix, IS row, std::shared_ptr<const RowBlocks>* blocks);

/// "N blocks of about S rows (shape), C colours", or nothing.
PetscErrorCode describe_blocks(IS row, std::string* text);

}  // namespace taskdag::petsc

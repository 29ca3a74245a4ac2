/// \file
/// The blocks of rows that travel with the index set of an ordering.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compat.hpp"
#include "taskdag/block_ordering.hpp"

namespace taskdag::petsc {

/// The index set of an ordering of `matrix`, with its blocks attached; takes `ordering` apart.
PetscErrorCode make_index_set_with_blocks(Mat matrix, BlockOrdering& ordering, IS* set);

/// The indices that the set points to, where it was made as above and has such indices; else null. They outlive it.
PetscErrorCode attached_order(IS set, std::shared_ptr<const std::vector<Index>>* order);

/// The blocks that an ordering of this very pattern left with its index set; null where there are none.
PetscErrorCode attached_blocks(Mat matrix, IS row, std::shared_ptr<const RowBlocks>* blocks);

/// "N blocks of about S rows (shape), C colours", or nothing.
PetscErrorCode describe_blocks(IS row, std::string* text);

}  // namespace taskdag::petsc

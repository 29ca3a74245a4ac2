/// \file
/// The multicolour and block multicolour orderings, and the blocks that go with an ordering.
#pragma once

#include <memory>
#include <string>

#include "backend_choice.hpp"
#include "compat.hpp"
#include "taskdag/row_blocks.hpp"

namespace taskdag::petsc {

/// MatOrderings taskdag_color and taskdag_bmc. They work on the GPU where the matrix lies there, else on host threads.
/// Rows that PETSc treats as one (inodes) stay together.
PetscErrorCode register_block_orderings();

/// Whether this is the name of one of them.
bool is_block_ordering(const std::string& name);

/// The ordering of that name for a preconditioner of our own: all rows one by one, on the given backend. The index sets
/// are one object, with two references.
PetscErrorCode make_block_ordering(Mat matrix, const std::string& name, const BackendSettings& backend, IS* row,
                                   IS* col);

/// The blocks that an ordering of this very pattern left with its index set; null where there are none.
PetscErrorCode attached_blocks(Mat matrix, IS row, std::shared_ptr<const RowBlocks>* blocks);

/// "N blocks of about S rows (shape), C colours", or nothing.
PetscErrorCode describe_blocks(IS row, std::string* text);

/// What `auto` makes of a matrix: a name, and why.
struct OrderingChoice {
  std::string name;
  std::string reason;
};

/// Block multicolour where a GPU would go through many levels in natural order, else the natural order. `fill_levels`:
/// of fill that would couple blocks.
PetscErrorCode choose_ordering(Mat matrix, PetscInt fill_levels, const BackendSettings& backend,
                               OrderingChoice* choice);

}  // namespace taskdag::petsc

/// \file
/// An ordering that one of our own preconditioners has made for itself: it cannot be asked for, so it needs no
/// index set, and on a GPU it stays there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compat.hpp"
#include "taskdag/block_ordering.hpp"

namespace taskdag::petsc {

struct OwnOrder {
  PetscInt rows = -1;                              ///< below 0: there is none
  std::shared_ptr<const std::vector<Index>> host;  ///< of rows; null: it is on the device
  std::shared_ptr<const DeviceOrder> device;
  std::shared_ptr<const RowBlocks> blocks;
  std::string text;          ///< describe(BlockOrdering)
  PetscObjectId matrix = 0;  ///< the pattern that the blocks are of
  PetscObjectState pattern = 0;
};

/// "N blocks of about S rows (shape), C colours".
std::string describe(const BlockOrdering& ordering);

/// Takes `ordering` of `matrix` apart.
PetscErrorCode take_own_order(Mat matrix, BlockOrdering& ordering, OwnOrder* order);

/// The blocks, where they are of this very pattern; else null.
PetscErrorCode blocks_of(const OwnOrder& order, Mat matrix, std::shared_ptr<const RowBlocks>* blocks);

}  // namespace taskdag::petsc

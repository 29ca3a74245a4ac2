#include "ordering/own_order.hpp"

#include <utility>

#include "boundary.hpp"

namespace taskdag::petsc {

std::string describe(const BlockOrdering& ordering) {
  std::string colours = std::to_string(ordering.blocks.colours()) + " colours";
  if (ordering.shape == BlockShape::points) return colours;
  return std::to_string(ordering.blocks.blocks()) + " blocks of about " + std::to_string(ordering.block_size) +
         " rows (" + to_string(ordering.shape) + "), " + colours;
}

PetscErrorCode take_own_order(Mat matrix, BlockOrdering& ordering, OwnOrder* order) {
  PetscFunctionBegin;
  OwnOrder made;
  PetscCall(MatGetLocalSize(matrix, &made.rows, nullptr));
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(matrix), &made.matrix));
  PetscCall(MatGetNonzeroState(matrix, &made.pattern));
  PetscCall(guarded([&] {
    made.text = describe(ordering);
    made.device = std::move(ordering.device_order);
    if (!made.device) made.host = std::make_shared<const std::vector<Index>>(std::move(ordering.order));
    made.blocks = std::make_shared<const RowBlocks>(std::move(ordering.blocks));
  }));
  *order = std::move(made);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode blocks_of(const OwnOrder& order, Mat matrix, std::shared_ptr<const RowBlocks>* blocks) {
  PetscFunctionBegin;
  PetscObjectId id = 0;
  PetscObjectState pattern = 0;
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(matrix), &id));
  PetscCall(MatGetNonzeroState(matrix, &pattern));
  blocks->reset();
  if (order.matrix == id && order.pattern == pattern) *blocks = order.blocks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

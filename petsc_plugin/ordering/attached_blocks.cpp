#include "ordering/attached_blocks.hpp"

#include <vector>

#include "boundary.hpp"
#include "mat/indices.hpp"
#include "ordering/own_order.hpp"

namespace taskdag::petsc {
namespace {

constexpr const char* kAttachment = "TaskDAGRowBlocks";

/// What travels with an index set. PETSc keeps it for as long as the set.
struct Attachment {
  std::shared_ptr<const std::vector<Index>> order;  ///< what the index set points to, where it has such indices
  std::shared_ptr<const RowBlocks> blocks;
  std::string text;
  PetscObjectId matrix = 0;  ///< the pattern that the blocks are of
  PetscObjectState pattern = 0;
};

PetscErrorCode destroy_attachment(void* pointer) {
  return guarded([&] { delete static_cast<Attachment*>(pointer); });
}

/// Null where nothing is attached.
PetscErrorCode attachment_of(IS row, const Attachment** attachment) {
  PetscFunctionBegin;
  *attachment = nullptr;
  PetscObject object = nullptr;
  if (row) PetscCall(PetscObjectQuery(reinterpret_cast<PetscObject>(row), kAttachment, &object));
  if (object) {
    void* pointer = nullptr;
    PetscCall(PetscContainerGetPointer(reinterpret_cast<PetscContainer>(object), &pointer));
    *attachment = static_cast<const Attachment*>(pointer);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode make_index_set_with_blocks(Mat matrix, BlockOrdering& ordering, IS* set) {
  PetscFunctionBegin;
  std::unique_ptr<Attachment> attachment;
  PetscObjectId id = 0;
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(matrix), &id));
  PetscCall(guarded([&] {
    attachment = std::make_unique<Attachment>();
    attachment->text = describe(ordering);
    attachment->order = std::make_shared<const std::vector<Index>>(std::move(ordering.order));
    attachment->blocks = std::make_shared<const RowBlocks>(std::move(ordering.blocks));
  }));
  attachment->matrix = id;
  attachment->pattern = matrix->nonzerostate;
  const std::vector<Index>& order = *attachment->order;
  PetscContainer container = nullptr;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(set_container<destroy_attachment>(container, attachment.release()));
  PetscCall(make_index_set(order, PETSC_USE_POINTER, set));
  PetscCall(
      PetscObjectCompose(reinterpret_cast<PetscObject>(*set), kAttachment, reinterpret_cast<PetscObject>(container)));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode attached_blocks(Mat matrix, IS row, std::shared_ptr<const RowBlocks>* blocks) {
  PetscFunctionBegin;
  blocks->reset();
  const Attachment* attachment = nullptr;
  PetscCall(attachment_of(row, &attachment));
  if (!attachment) PetscFunctionReturn(PETSC_SUCCESS);
  PetscObjectId id = 0;
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(matrix), &id));
  if (attachment->matrix == id && attachment->pattern == matrix->nonzerostate) *blocks = attachment->blocks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode attached_order(IS set, std::shared_ptr<const std::vector<Index>>* order) {
  PetscFunctionBegin;
  order->reset();
  const Attachment* attachment = nullptr;
  PetscCall(attachment_of(set, &attachment));
  if (!attachment) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscInt* indices = nullptr;
  PetscCall(ISGetIndices(set, &indices));
  if (static_cast<const void*>(indices) == attachment->order->data()) *order = attachment->order;
  PetscCall(ISRestoreIndices(set, &indices));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode describe_blocks(IS row, std::string* text) {
  PetscFunctionBegin;
  const Attachment* attachment = nullptr;
  PetscCall(attachment_of(row, &attachment));
  PetscCall(guarded([&] { *text = attachment ? attachment->text : ""; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

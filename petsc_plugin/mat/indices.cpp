#include "mat/indices.hpp"

#include <algorithm>

#include "boundary.hpp"

namespace taskdag::petsc {

PetscErrorCode read_index_set(IS set, std::vector<Index>* indices) {
  PetscFunctionBegin;
  PetscInt count = 0;
  const PetscInt* array = nullptr;
  indices->clear();
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ISGetLocalSize(set, &count));
  PetscCall(check_fits(count, "rows"));
  PetscCall(ISGetIndices(set, &array));
  // An index that is too large would become another one: it becomes none, which the library refuses.
  const auto narrow = [](PetscInt i) { return i >= 0 && i <= most_indices ? static_cast<Index>(i) : Index{-1}; };
  const PetscErrorCode copied = guarded([&] {
    indices->resize(static_cast<std::size_t>(count));
    std::transform(array, array + count, indices->begin(), narrow);
  });
  PetscCall(ISRestoreIndices(set, &array));
  PetscCall(copied);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode is_identity(IS set, PetscBool* identity) {
  PetscFunctionBegin;
  PetscInt count = 0;
  const PetscInt* array = nullptr;
  PetscCall(ISGetLocalSize(set, &count));
  PetscCall(ISGetIndices(set, &array));
  PetscInt i = 0;
  while (i < count && array[i] == i) ++i;
  *identity = i == count ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(ISRestoreIndices(set, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_index_set(std::span<const Index> indices, PetscCopyMode use, IS* set) {
  PetscFunctionBegin;
  const auto count = static_cast<PetscInt>(indices.size());
  if constexpr (narrows) {
    PetscInt* wide = nullptr;
    PetscCall(PetscMalloc1(count, &wide));
    std::copy(indices.begin(), indices.end(), wide);
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, count, wide, PETSC_OWN_POINTER, set));
  } else {
    // The same type under its other name, for a compiler that also reads this where it is not.
    const auto* same = reinterpret_cast<const PetscInt*>(indices.data());
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, count, same, use, set));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_row_order(IS set, PetscInt rows, PetscInt block, std::vector<Index>* order) {
  PetscFunctionBegin;
  PetscCall(read_index_set(set, order));
  if (block == 1 || static_cast<PetscInt>(order->size()) != rows / block) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(guarded([&] {
    const auto size = static_cast<Index>(block);
    std::vector<Index> expanded;
    expanded.reserve(static_cast<std::size_t>(rows));
    for (const Index number : *order) {
      // What is no number of a block stays none of a row.
      for (Index k = 0; k < size; ++k) expanded.push_back(number < rows / block ? number * size + k : Index{-1});
    }
    *order = std::move(expanded);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::optional<std::vector<Index>> order_of_blocks(const std::vector<Index>& order, Index size) {
  std::vector<Index> blocks;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto inside = static_cast<Index>(i) % size;
    if (order[i] % size != inside || (inside > 0 && order[i] != order[i - 1] + 1)) return std::nullopt;
    if (inside == 0) blocks.push_back(order[i] / size);
  }
  return blocks;
}

PetscErrorCode expand_row_order(IS* set, PetscInt rows, PetscInt block) {
  PetscFunctionBegin;
  PetscInt count = 0;
  PetscCall(ISGetLocalSize(*set, &count));
  if (count == rows) PetscFunctionReturn(PETSC_SUCCESS);
  std::vector<Index> order;
  PetscCall(read_row_order(*set, rows, block, &order));
  PetscCall(ISDestroy(set));
  PetscCall(make_index_set(order, PETSC_COPY_VALUES, set));
  PetscCall(ISSetPermutation(*set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

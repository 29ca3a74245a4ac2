#include "mat/with_pattern.hpp"

namespace taskdag::petsc {

PetscErrorCode find_nodes(Mat matrix, std::vector<Index>* begins) {
  PetscFunctionBegin;
  PetscInt nodes = 0;
  PetscInt rows = 0;
  PetscInt* sizes = nullptr;
  begins->clear();
  PetscCall(MatGetLocalSize(matrix, &rows, nullptr));
  PetscCall(MatInodeGetInodeSizes(matrix, &nodes, &sizes, nullptr));
  if (!sizes || nodes == 0 || nodes == rows) PetscFunctionReturn(PETSC_SUCCESS);
  // Older releases give the nodes' sizes, newer ones the offsets.
  const bool offsets = sizes[0] == 0;
  PetscCall(guarded([&] {
    begins->assign(1, 0);
    for (PetscInt k = 0; k < nodes; ++k) begins->push_back(offsets ? sizes[k + 1] : begins->back() + sizes[k]);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

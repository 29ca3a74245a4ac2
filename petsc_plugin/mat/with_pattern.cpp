#include "mat/with_pattern.hpp"

#include "mat/indices.hpp"

namespace taskdag::petsc {

PetscErrorCode stored_block_size(Mat matrix, PetscInt* rows) {
  PetscFunctionBegin;
  PetscBool blocks = PETSC_FALSE;
  *rows = 1;
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(matrix), &blocks, MATSEQBAIJ, MATSEQSBAIJ, ""));
  if (blocks) PetscCall(MatGetBlockSize(matrix, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode find_nodes(Mat matrix, std::vector<Index>* begins) {
  PetscFunctionBegin;
  PetscInt nodes = 0;
  PetscInt rows = 0;
  PetscInt* sizes = nullptr;
  begins->clear();
  PetscCall(MatGetLocalSize(matrix, &rows, nullptr));
  PetscCall(check_fits(rows, "rows"));
  PetscInt block = 1;
  PetscCall(stored_block_size(matrix, &block));
  if (block > 1) {
    PetscCall(guarded([&] {
      for (PetscInt begin = 0; begin <= rows; begin += block) begins->push_back(static_cast<Index>(begin));
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatInodeGetInodeSizes(matrix, &nodes, &sizes, nullptr));
  if (!sizes || nodes == 0 || nodes == rows) PetscFunctionReturn(PETSC_SUCCESS);
  // Older releases give the nodes' sizes, newer ones the offsets.
  const bool offsets = sizes[0] == 0;
  PetscCall(guarded([&] {
    begins->assign(1, 0);
    for (PetscInt k = 0; k < nodes; ++k) {
      const PetscInt end = offsets ? sizes[k + 1] : begins->back() + sizes[k];
      begins->push_back(static_cast<Index>(end));  // a row, see check_fits()
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

#include "mat/merged_block.hpp"

#include <vector>

#include "boundary.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

/// The rows of the group's ranks, on the one that leads; none on others.
PetscErrorCode make_rows(Mat whole, const RankGroup& group, IS* rows) {
  PetscFunctionBegin;
  const PetscInt* ranges = nullptr;
  PetscInt block = 1;
  std::vector<PetscInt> indices;
  PetscCall(MatGetOwnershipRanges(whole, &ranges));
  PetscCall(MatGetBlockSize(whole, &block));
  if (group.leads()) {
    PetscCall(guarded([&] {
      for (const PetscMPIInt member : group.members) {
        for (PetscInt i = ranges[member]; i < ranges[member + 1]; ++i) indices.push_back(i);
      }
    }));
  }
  PetscCall(
      ISCreateGeneral(PETSC_COMM_SELF, static_cast<PetscInt>(indices.size()), indices.data(), PETSC_COPY_VALUES, rows));
  // The block gets the block size from here.
  PetscCall(ISSetBlockSize(*rows, block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode MergedBlock::take(Mat whole, const RankGroup& group) {
  PetscFunctionBegin;
  PetscCall(reset());
  PetscBool has = PETSC_FALSE;
  PetscCall(MatHasOperation(whole, MATOP_CREATE_SUBMATRICES, &has));
  PetscCheck(has, PetscObjectComm(reinterpret_cast<PetscObject>(whole)), PETSC_ERR_SUP,
             "-pc_taskdag_consolidate needs a matrix that PETSc takes blocks from (MatCreateSubMatrices()), and one of "
             "type %s is none",
             reinterpret_cast<PetscObject>(whole)->type_name);
  PetscCall(share_error(PetscObjectComm(reinterpret_cast<PetscObject>(whole)), make_rows(whole, group, rows_.out())));
  leads_ = group.leads();
  // PETSc 3.18 crashes over MATMPIDENSE where a rank asks for no block at all.
  PetscCall(MatCreateSubMatrices(whole, 1, rows_.out(), rows_.out(), MAT_INITIAL_MATRIX, &blocks_));
  PetscCall(make_vectors(whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MergedBlock::make_vectors(Mat whole) {
  PetscFunctionBegin;
  Vec any = nullptr;
  VecType type = nullptr;
  PetscInt rows = 0;
  PetscCall(MatGetVecType(whole, &type));
  PetscCall(ISGetLocalSize(rows_, &rows));
  PetscCall(VecCreate(PETSC_COMM_SELF, right_.out()));
  PetscCall(VecSetSizes(right_, rows, rows));
  PetscCall(VecSetType(right_, type));
  PetscCall(VecDuplicate(right_, left_.out()));
  PetscCall(MatCreateVecs(whole, &any, nullptr));
  const PetscErrorCode made = VecScatterCreate(any, rows_, right_, nullptr, scatter_.out());
  PetscCall(VecDestroy(&any));
  PetscCall(made);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MergedBlock::take_values(Mat whole) {
  PetscFunctionBegin;
  PetscCall(MatCreateSubMatrices(whole, 1, rows_.out(), rows_.out(), MAT_REUSE_MATRIX, &blocks_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MergedBlock::reset() {
  PetscFunctionBegin;
  PetscCall(scatter_.reset());
  PetscCall(left_.reset());
  PetscCall(right_.reset());
  // One more than there are blocks holds what PETSc keeps for the next time.
  if (blocks_) PetscCall(MatDestroySubMatrices(1, &blocks_));
  PetscCall(rows_.reset());
  leads_ = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

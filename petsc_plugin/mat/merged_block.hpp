/// \file
/// The rows and columns of several ranks as one block of a matrix, on the first of them.
#pragma once

#include "compat.hpp"
#include "mat/held.hpp"
#include "mat/rank_groups.hpp"

namespace taskdag::petsc {

/// Gathers the block and what is to be applied to it. All functions but block() are collective on the matrix' ranks.
class MergedBlock {
 public:
  MergedBlock() = default;
  MergedBlock(const MergedBlock&) = delete;
  MergedBlock& operator=(const MergedBlock&) = delete;
  ~MergedBlock() = default;

  /// Takes the rows and columns of the group's ranks, in the order of the matrix.
  /// @returns PETSC_ERR_SUP for a matrix that PETSc cannot take blocks from
  PetscErrorCode take(Mat whole, const RankGroup& group);

  /// New values of a matrix with the same pattern.
  PetscErrorCode take_values(Mat whole);

  /// The block, on a rank that leads; null elsewhere. Borrowed.
  [[nodiscard]] Mat block() const { return blocks_ && leads_ ? blocks_[0] : nullptr; }

  /// Calls work(b', x') on ranks that lead, with the group's part of b, and puts x' into x.
  template <class Work>
  PetscErrorCode with_vectors(Vec b, Vec x, const Work& work) {
    PetscFunctionBegin;
    PetscCall(VecScatterBegin(scatter_, b, right_, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(scatter_, b, right_, INSERT_VALUES, SCATTER_FORWARD));
    if (leads_) PetscCall(work(right_, left_));
    PetscCall(VecScatterBegin(scatter_, left_, x, INSERT_VALUES, SCATTER_REVERSE));
    PetscCall(VecScatterEnd(scatter_, left_, x, INSERT_VALUES, SCATTER_REVERSE));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode reset();

 private:
  PetscErrorCode make_vectors(Mat whole);

  bool leads_ = false;     ///< this rank has the block
  Held<IS> rows_;          ///< of the block, in the matrix; empty on ranks that do not lead
  Mat* blocks_ = nullptr;  ///< PETSc's list, with its references: one, and without rows on ranks that do not lead
  Held<Vec> right_;
  Held<Vec> left_;
  Held<VecScatter> scatter_;
};

}  // namespace taskdag::petsc

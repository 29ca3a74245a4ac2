/// \file
/// The pattern of a sequential PETSc matrix, in host memory.
#pragma once

#include <vector>

#include "compat.hpp"
#include "mat/held.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::petsc {

/// Lends the pattern of one matrix at a time; where PetscInt has 64 bits, a copy with 32, which is kept until forget().
class PatternLoan {
 public:
  PatternLoan() = default;
  PatternLoan(const PatternLoan&) = delete;
  PatternLoan& operator=(const PatternLoan&) = delete;
  ~PatternLoan() = default;

  /// `nodes`: the pattern of the graph of rows that PETSc has found to be alike.
  /// @returns PETSC_ERR_SUP for a type of matrix that has none to lend, and for one with too many entries
  PetscErrorCode open(Mat matrix, PetscBool nodes);
  [[nodiscard]] const CsrPattern& pattern() const { return pattern_; }
  PetscErrorCode close();

  /// Before the pattern of another matrix, or another one of the same, is opened.
  void forget();

 private:
  PetscErrorCode narrow(PetscInt rows, const PetscInt* offsets, const PetscInt* columns);

  std::vector<Index> offsets_;  ///< the copy, and the next
  std::vector<Index> columns_;
  // While open:
  CsrPattern pattern_;
  Held<Mat> lent_;  ///< null: PETSc has lent nothing
  PetscBool nodes_ = PETSC_FALSE;
  PetscInt rows_ = 0;
  const PetscInt* lent_offsets_ = nullptr;
  const PetscInt* lent_columns_ = nullptr;
};

}  // namespace taskdag::petsc

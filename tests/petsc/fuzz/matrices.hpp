/// \file
/// Small random matrices, many of them bad.
#pragma once

#include <tuple>
#include <vector>

#include "../support.hpp"
#include "random.hpp"

namespace taskdag::test {

/// Entries as they are handed to PETSc, which adds those of one place up.
struct RandomMatrix {
  PetscInt rows = 0;
  std::vector<std::tuple<PetscInt, PetscInt, double>> entries;
  bool symmetric = false;
  /// Values that overflow, vanish or are not finite: what comes of them depends on the order of operations.
  bool extreme = false;
};

/// For calls of PETSc's that a case relies on. @throws std::runtime_error
void must(PetscErrorCode code);

/// Mostly few; also none.
PetscInt random_rows(Random& random);

RandomMatrix random_matrix(Random& random, PetscInt rows);

/// Adds zeros, so that the pattern is one of whole blocks. The rows are so many blocks.
void complete_blocks(RandomMatrix& matrix, PetscInt block);

/// Other values in the same places.
void renew_values(Random& random, RandomMatrix& matrix);

/// Whether the absolute values beside the diagonal of some row are more than what is on it.
bool lacks_dominance(const RandomMatrix& matrix);

/// As MATSEQAIJ. `wobble`: each value is changed by up to so many units of rounding.
OwnedMat to_petsc(const RandomMatrix& matrix, double wobble = 0.0);

}  // namespace taskdag::test

/// \file
/// Matrices of dense blocks for the tests of the plugin.
#pragma once

#include <petscmat.h>

namespace taskdag::test {

/// What a matrix of blocks is like.
enum class Zeros { last, first, all };

struct Blocks {
  PetscInt size = 3;
  bool symmetric = false;
  PetscInt singular = -1;     ///< a row of blocks whose diagonal block has a row and a column of zeros
  Zeros zeros = Zeros::last;  ///< which of them, or all
  PetscInt nx = 5;
};

/// On all ranks, of this type, 27-point in blocks.
PetscErrorCode make_blocks(Mat* a, MatType type, const Blocks& blocks);

/// Gives a matrix diagonal blocks of 1, 2, … `most` rows, of 1 again, and so on, as vpbjacobi takes them. Returns the
/// first error.
PetscErrorCode set_blocks_of_several_sizes(Mat a, PetscInt most);

}  // namespace taskdag::test

/// \file
/// Complex matrices for the tests of the plugin.
#pragma once

#include <string>

#include "support.hpp"

namespace taskdag::test {

/// What a matrix is like beside its pattern.
enum class Nature {
  general,    ///< diagonally dominant
  symmetric,  ///< A = Aᵀ, diagonally dominant
  hermitian   ///< positive definite
};

/// The pattern of a matrix, with complex values that follow from `seed`. block_size: MATBAIJ and the like keep such
/// blocks. On all ranks.
OwnedMat make_complex(const CsrMatrix& pattern, Nature nature, MatType type = MATAIJ, PetscInt block_size = 1,
                      unsigned seed = 1);

/// −Δ − k² on a grid of nx·nx·nx points with a complex k², which damps. On all ranks.
OwnedMat make_helmholtz(Index nx, std::complex<double> k2);

/// A vector with complex elements, which fits the matrix.
OwnedVec make_complex_vector(Mat a);

}  // namespace taskdag::test

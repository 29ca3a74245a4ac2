#include "complex_matrices.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

namespace taskdag::test {
namespace {

using Number = std::complex<double>;

void succeed(PetscErrorCode code) { EXPECT_EQ(static_cast<int>(code), 0); }

/// In [−½, ½) by the two indices.
double random(PetscInt i, PetscInt j, unsigned seed) {
  auto state = static_cast<unsigned>(i) * 2654435761U + static_cast<unsigned>(j) * 40503U + seed * 97U;
  for (int k = 0; k < 3; ++k) state = (state ^ (state >> 15U)) * 2246822519U;
  return static_cast<double>(state >> 8U) / 16777216.0 - 0.5;
}

Number beside_diagonal(Nature nature, PetscInt i, PetscInt j, unsigned seed) {
  const bool below = i > j;
  const bool mirrored = nature != Nature::general && below;
  const PetscInt row = mirrored ? j : i;
  const PetscInt column = mirrored ? i : j;
  const Number value(random(row, column, seed), random(row, column, seed + 1000));
  return mirrored && nature == Nature::hermitian ? std::conj(value) : value;
}

void insert(Mat a, PetscInt i, PetscInt j, Number value) {
  succeed(MatSetValue(a, i, j, PetscScalar(value), INSERT_VALUES));
}

}  // namespace

OwnedMat make_complex(const CsrMatrix& pattern, Nature nature, MatType type, PetscInt block_size, unsigned seed) {
  OwnedMat a;
  PetscInt first = 0;
  PetscInt last = 0;
  const PetscInt rows = pattern.rows * block_size;
  succeed(MatCreate(PETSC_COMM_WORLD, a.out()));
  succeed(MatSetSizes(a, PETSC_DECIDE, PETSC_DECIDE, rows, rows));
  succeed(MatSetBlockSize(a, block_size));
  succeed(MatSetType(a, type));
  succeed(MatSetUp(a));
  // Of nodes of rows PETSc's SOR is another method.
  if (std::string(type) == MATAIJ) succeed(MatSetOption(a, MAT_USE_INODES, PETSC_FALSE));
  succeed(MatSetOption(a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  if (std::string(type) == MATSBAIJ) succeed(MatSetOption(a, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  succeed(MatGetOwnershipRange(a, &first, &last));
  for (PetscInt i = first; i < last; ++i) {
    const auto block = static_cast<std::size_t>(i / block_size);
    double sum = 0.0;
    for (Offset e = pattern.row_offsets[block]; e < pattern.row_offsets[block + 1]; ++e) {
      for (PetscInt c = 0; c < block_size; ++c) {
        const PetscInt j = pattern.col_indices[static_cast<std::size_t>(e)] * block_size + c;
        if (i == j) continue;
        const Number value = beside_diagonal(nature, i, j, seed);
        sum += std::abs(value);
        insert(a, i, j, value);
      }
    }
    // Just dominant, so that solves take some iterations.
    const Number direction = nature == Nature::hermitian ? Number(1.0) : std::polar(1.0, random(i, i, seed));
    insert(a, i, i, direction * (1.05 * sum + 0.01));
  }
  succeed(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  succeed(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  return a;
}

OwnedMat make_helmholtz(Index nx, std::complex<double> k2) {
  OwnedMat a;
  PetscInt first = 0;
  PetscInt last = 0;
  const PetscInt n = nx;
  succeed(MatCreate(PETSC_COMM_WORLD, a.out()));
  succeed(MatSetSizes(a, PETSC_DECIDE, PETSC_DECIDE, n * n * n, n * n * n));
  succeed(MatSetType(a, MATAIJ));
  succeed(MatSetUp(a));
  succeed(MatSetOption(a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  succeed(MatGetOwnershipRange(a, &first, &last));
  for (PetscInt i = first; i < last; ++i) {
    const PetscInt place[] = {i % n, i / n % n, i / (n * n)};
    const PetscInt step[] = {1, n, n * n};
    insert(a, i, i, 6.0 - k2);
    for (int d = 0; d < 3; ++d) {
      if (place[d] > 0) insert(a, i, i - step[d], -1.0);
      if (place[d] + 1 < n) insert(a, i, i + step[d], -1.0);
    }
  }
  succeed(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  succeed(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  return a;
}

OwnedVec make_complex_vector(Mat a) {
  OwnedVec v;
  PetscInt first = 0;
  PetscInt last = 0;
  PetscScalar* array = nullptr;
  succeed(MatCreateVecs(a, v.out(), nullptr));
  succeed(VecGetOwnershipRange(v, &first, &last));
  succeed(VecGetArrayWrite(v, &array));
  for (PetscInt i = first; i < last; ++i) array[i - first] = Number(random(i, 1, 5), random(i, 2, 5));
  succeed(VecRestoreArrayWrite(v, &array));
  return v;
}

}  // namespace taskdag::test

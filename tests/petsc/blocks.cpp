#include "blocks.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "support.hpp"

namespace taskdag::test {
namespace {

double coupling(PetscInt row, PetscInt column) {
  const double mixed = std::sin(1.0 + 12.9898 * static_cast<double>(row) + 78.233 * static_cast<double>(column));
  return 0.7 * mixed;
}

PetscErrorCode fill(Mat a, const CsrMatrix& graph, const Blocks& blocks) {
  PetscInt begin = 0;
  PetscInt end = 0;
  PetscCall(MatGetOwnershipRange(a, &begin, &end));
  for (PetscInt row = begin; row < end; ++row) {
    const auto i = static_cast<std::size_t>(row / blocks.size);
    const auto count = graph.row_offsets[i + 1] - graph.row_offsets[i];
    for (Offset e = graph.row_offsets[i]; e < graph.row_offsets[i + 1]; ++e) {
      const PetscInt j = graph.col_indices[static_cast<std::size_t>(e)];
      for (PetscInt c = 0; c < blocks.size; ++c) {
        const PetscInt column = j * blocks.size + c;
        double value =
            blocks.symmetric ? coupling(std::min(row, column), std::max(row, column)) : coupling(row, column);
        if (row == column) value += 0.55 * static_cast<double>(count * blocks.size);
        const PetscInt zero = blocks.zeros == Zeros::first ? 0 : blocks.size - 1;
        const bool none = blocks.zeros == Zeros::all || row % blocks.size == zero || c == zero;
        if (row / blocks.size == blocks.singular && (j != blocks.singular || none)) value = 0.0;
        if (j == blocks.singular && row / blocks.size != blocks.singular) value = 0.0;
        PetscCall(MatSetValue(a, row, column, value, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  return PetscErrorCode{};
}

}  // namespace

PetscErrorCode make_blocks(Mat* a, MatType type, const Blocks& blocks) {
  const auto nx = static_cast<Index>(blocks.nx);
  const CsrMatrix graph = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = nx, .ny = 4, .nz = 4});
  PetscInt local = PETSC_DECIDE;
  PetscInt rows = graph.rows;
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &local, &rows));
  PetscCall(MatCreate(PETSC_COMM_WORLD, a));
  PetscCall(MatSetSizes(*a, local * blocks.size, local * blocks.size, PETSC_DECIDE, PETSC_DECIDE));
  PetscCall(MatSetBlockSize(*a, blocks.size));
  PetscCall(MatSetType(*a, type));
  const std::vector<PetscInt> own(static_cast<std::size_t>(local), std::min<PetscInt>(27, local));
  const std::vector<PetscInt> other(static_cast<std::size_t>(local), std::min<PetscInt>(27, rows - local));
  PetscCall(MatXAIJSetPreallocation(*a, blocks.size, own.data(), other.data(), own.data(), other.data()));
  if (std::string(type) == MATSBAIJ) PetscCall(MatSetOption(*a, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  if (blocks.symmetric) PetscCall(MatSetOption(*a, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(fill(*a, graph, blocks));
  return PetscErrorCode{};
}

PetscErrorCode set_blocks_of_several_sizes(Mat a, PetscInt most) {
  PetscInt rows = 0;
  PetscCall(MatGetLocalSize(a, &rows, nullptr));
  std::vector<PetscInt> sizes;
  for (PetscInt size = 1; rows > 0; size = size % most + 1) {
    sizes.push_back(std::min(size, rows));
    rows -= sizes.back();
  }
  PetscCall(MatSetVariableBlockSizes(a, static_cast<PetscInt>(sizes.size()), sizes.data()));
  return PetscErrorCode{};
}

}  // namespace taskdag::test

/// \file
/// PETSc's indices and the library's: PetscInt has 32 or 64 bits, Index has 32.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "compat.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::petsc {

/// As the index of an array of the standard library.
inline std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// Arrays of PetscInt are copied, with fewer bits, before the library can read them.
inline constexpr bool narrows = sizeof(PetscInt) != sizeof(Index);

/// The largest number of rows, or entries, that a rank may have.
inline constexpr PetscInt most_indices = std::numeric_limits<Index>::max();

/// @returns PETSC_ERR_SUP for more than that; `what`: "rows", "entries"
inline PetscErrorCode check_fits(PetscInt count, const char* what) {
  PetscFunctionBegin;
  PetscCheck(count <= most_indices, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "TaskDAG works with up to %" PetscInt_FMT " %s on a rank, and here are %" PetscInt_FMT ": use more ranks",
             most_indices, what, count);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The entries of an index set; none for null.
PetscErrorCode read_index_set(IS set, std::vector<Index>* indices);

/// Whether a sequential index set is 0, 1, 2, … by its indices. ISIdentity() says what they were when it was first
/// asked: PETSc's -pc_factor_nonzeros_along_diagonal then changes them in place.
PetscErrorCode is_identity(IS set, PetscBool* identity);

/// The order of the rows of a matrix that keeps blocks of `block` rows (1: that keeps none), from a set of rows or of
/// blocks. `rows`: their number.
PetscErrorCode read_row_order(IS set, PetscInt rows, PetscInt block, std::vector<Index>* order);
/// Replaces a set of blocks by the set of their rows.
PetscErrorCode expand_row_order(IS* set, PetscInt rows, PetscInt block);

/// The order of blocks of `size` rows that an order of rows is; nothing where it takes blocks apart.
std::optional<std::vector<Index>> order_of_blocks(const std::vector<Index>& order, Index size);

/// A sequential index set of these entries, copied. Use: PETSC_COPY_VALUES, or PETSC_USE_POINTER where they outlive it
/// (and then copied all the same, where PetscInt has other bits).
PetscErrorCode make_index_set(std::span<const Index> indices, PetscCopyMode use, IS* set);

}  // namespace taskdag::petsc

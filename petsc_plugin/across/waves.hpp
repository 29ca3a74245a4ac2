/// \file
/// Steps in which ranks go through the rows of a matrix in its own order.
#pragma once

#include <vector>

#include "across/numbering.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::petsc {

/// A row is of no earlier wave than the rows before it that it is coupled to, and of a later one than those of other
/// ranks. So a rank does the rows of a wave one after the other, and what other ranks need goes out after each. Waves
/// follow the levels of the whole matrix, some at a time: a rank begins soon after those before it.
/// `graph`: neighbours of own rows, no loops; the columns from graph.rows on are ghosts. Takes ghosts and forest of the
/// numbering, and writes its colours. Collective.
PetscErrorCode find_waves(MPI_Comm comm, const CsrPattern& graph, PetscInt first, Numbering* numbering);

}  // namespace taskdag::petsc

/// \file
/// Errors that one rank meets alone: the others must not wait for it in the next collective call.
#pragma once

#include "compat.hpp"

namespace taskdag::petsc {

/// Makes an error on one rank one of all ranks, in the same words: on those without one it is raised anew. Between
/// what may fail on a rank alone and the next collective call. Collective.
/// @returns what this rank has met, else what the first rank with the largest code has; success where none has an error
PetscErrorCode share_error(MPI_Comm comm, PetscErrorCode mine);

/// Whether other ranks may wait for what a sequential object leads to, which cannot share an error: it may hold the
/// block of a rank in a solver of several.
bool others_may_wait();

/// Says on the standard error why a solve will end with a failed reason, in the words of the last error that was raised
/// on this rank. For errors that cannot be returned, where others_may_wait(). `what`: has failed.
PetscErrorCode report_swallowed_error(const char* what);

}  // namespace taskdag::petsc

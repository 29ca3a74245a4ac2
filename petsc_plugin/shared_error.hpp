/// \file
/// Errors that one rank meets alone: the others must not wait for it in the next collective call.
#pragma once

#include <utility>

#include "boundary.hpp"
#include "compat.hpp"

namespace taskdag::petsc {

/// Makes an error on one rank one of all ranks, in the same words: on those without one it is raised anew. Between
/// what may fail on a rank alone and the next collective call. Collective.
/// @returns what this rank has met, else what the first rank with the largest code has; success where none has an error
PetscErrorCode share_error(MPI_Comm comm, PetscErrorCode mine);

/// guarded(), with its error shared. Collective.
template <class Body>
PetscErrorCode guarded(MPI_Comm comm, Body&& body, const char* file = __builtin_FILE(),
                       const char* function = __builtin_FUNCTION(), int line = __builtin_LINE()) {
  return share_error(comm, guarded(std::forward<Body>(body), file, function, line));
}

/// Whether other ranks may wait for what a sequential object leads to, which cannot share an error: it may hold the
/// block of a rank in a solver of several.
bool others_may_wait();

/// Whether an error on `comm` cannot be told to ranks that may wait: it is that of a sequential object in a program of
/// several ranks.
bool is_alone(MPI_Comm comm);

/// What a view returns that has ended with `viewed`: an error of a sequential object is told on the standard error
/// alone, since it may be that of a block, whose other ranks wait for the viewer.
PetscErrorCode end_view(MPI_Comm comm, PetscErrorCode viewed);

/// A setter of PETSc's with its errors shared: a value that one rank alone gives is refused on all. Collective.
template <auto setter>
struct Shared;
template <class... Values, PetscErrorCode (*setter)(PC, Values...)>
struct Shared<setter> {
  static PetscErrorCode call(PC pc, Values... values) {
    return share_error(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), setter(pc, values...));
  }
};

/// Says on the standard error why a solve will end with a failed reason, in the words of the last error that was raised
/// on this rank. For errors that cannot be returned, where others_may_wait(). `what`: has failed.
PetscErrorCode report_swallowed_error(const char* what);
/// The same where something else follows, as `what` says.
PetscErrorCode warn_of_error(const char* what);

}  // namespace taskdag::petsc

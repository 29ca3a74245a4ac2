/// \file
/// Results of a preconditioner whose numbers have failed.
#pragma once

#include "compat.hpp"

namespace taskdag::petsc {

/// Fills this rank's part of all columns of a dense matrix so that the next norm or dot product tells every rank of a
/// failure. Not collective.
PetscErrorCode poison(Mat x, PCFailedReason reason);

}  // namespace taskdag::petsc

/// \file
/// The arrays behind the vectors or dense matrices of one application.
#pragma once

#include "compat.hpp"
#include "taskdag/context.hpp"
#include "taskdag/engine/memory.hpp"

namespace taskdag::petsc {

/// What becomes of a result vector.
enum class ResultUse {
  written,  ///< whatever is in it
  updated   ///< it is read, too
};

/// Right-hand side(s) and result(s) as the library takes them, of whose numbers sizes are. Column k of b starts at b +
/// k·ldb.
struct Arrays {
  const double* b = nullptr;
  double* x = nullptr;
  PetscInt rows = 0;
  PetscInt columns = 1;
  PetscInt ldb = 0;
  PetscInt ldx = 0;
  MemorySpace space = MemorySpace::host;
};

/// Whether the elements of a vector were written last in the memory of a CUDA device.
PetscErrorCode in_device_memory(Vec v, bool* cuda);

/// The local elements, which may be read until the vector is touched; null where they are not in device memory although
/// `cuda`, or the other way round.
PetscErrorCode elements_of(Vec v, bool cuda, const double** array);
/// The same for a context; in the other case of a copy there: a user whose matrix alone is on a GPU has vectors of a
/// null space in host memory. Not collective.
PetscErrorCode elements_or_copy(Vec v, const Context& context, engine::Array<double>* copy, const double** array);

/// Lends the local arrays of b (for reading) and x (for what `use` says). Device arrays are lent if `device` and both
/// have one.
PetscErrorCode open_arrays(Vec b, Vec x, bool device, Arrays* arrays, ResultUse use = ResultUse::written);
PetscErrorCode close_arrays(Vec b, Vec x, Arrays* arrays, ResultUse use = ResultUse::written);

/// The same for dense matrices. @returns PETSC_ERR_SUP for others
PetscErrorCode open_arrays(Mat b, Mat x, bool device, Arrays* arrays, ResultUse use = ResultUse::written);
PetscErrorCode close_arrays(Mat b, Mat x, Arrays* arrays, ResultUse use = ResultUse::written);

}  // namespace taskdag::petsc

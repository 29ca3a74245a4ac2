/// \file
/// The execution contexts of this process: which backend a matrix gets, and why.
#pragma once

#include <petscsys.h>

#include <optional>
#include <string>

#include "settings.hpp"
#include "taskdag/context.hpp"

namespace taskdag::petsc {

/// What is known about a matrix when its backend is chosen.
struct MatrixSummary {
  PetscInt rows = 0;
  bool on_device = false;  ///< its entries are in device memory
};

/// A context and one clause that says why it is the one.
struct BackendChoice {
  Context context;
  std::string reason;
};

/// Learns this rank's number among the ranks of its node. Collective on PETSC_COMM_WORLD.
PetscErrorCode initialize_backends();

/// Ends all contexts of this process.
PetscErrorCode finalize_backends();

/// The context for a matrix; contexts with the same configuration are the same one. `auto` takes host threads where the
/// GPU cannot be used, whatever the cause, and says so; a GPU that is asked for and cannot be used is an error.
/// `choice` is not touched where an error is returned.
PetscErrorCode choose_backend(const BackendSettings& settings, const MatrixSummary& matrix,
                              std::optional<BackendChoice>* choice);

/// The GPU that choose_backend() would take.
struct DevicePlace {
  std::string uuid;         ///< empty: host threads
  double free_bytes = 0.0;  ///< 0 where the GPU cannot be used
};

/// Where choose_backend() would let a matrix' work run. Makes no context, so that a GPU which cannot be used is known
/// as such only from the first choose_backend() on.
PetscErrorCode find_device(const BackendSettings& settings, const MatrixSummary& matrix, DevicePlace* device);

}  // namespace taskdag::petsc

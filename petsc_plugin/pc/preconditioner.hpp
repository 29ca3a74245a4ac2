/// \file
/// What a type of the preconditioner has to do: the only thing that -pc_type taskdag knows of one.
#pragma once

#include <optional>

#include "compat.hpp"
#include "taskdag/factorization.hpp"

namespace taskdag::petsc {

/// A preconditioner of one rank's own rows and columns. update() and apply() come after analyse(), view() and reset()
/// at any time. How to add a type: a class of this kind in files of its own, a row in types.hpp, a value of
/// PCTaskDAGType.
class Preconditioner {
 public:
  Preconditioner() = default;
  Preconditioner(const Preconditioner&) = delete;
  Preconditioner& operator=(const Preconditioner&) = delete;
  virtual ~Preconditioner() = default;

  /// Takes pattern and values of a sequential matrix. A failure of the numbers is an error with `error_if_failure`,
  /// else failure() tells.
  virtual PetscErrorCode analyse(Mat matrix, bool error_if_failure) = 0;

  /// New values on the pattern that was analysed.
  virtual PetscErrorCode update(Mat matrix, bool error_if_failure) = 0;

  /// What the numbers led to in the last analyse() or update() on this rank; none: a type for which they cannot fail.
  [[nodiscard]] virtual std::optional<MatFactorError> failure() const { return std::nullopt; }

  /// Applies the preconditioner to the local part of a vector, or to the columns of a dense matrix. `part`: full or
  /// transposed; a half, of vectors, only where the table of types says that there are such.
  virtual PetscErrorCode apply(Apply part, Vec b, Vec x) = 0;
  virtual PetscErrorCode apply(Apply part, Mat b, Mat x) = 0;

  /// Prints settings, backend and sizes.
  virtual PetscErrorCode view(PetscViewer viewer) const = 0;

  /// Drops what analyse() made. To be called before the destructor, which reports no errors.
  virtual PetscErrorCode reset() = 0;
};

}  // namespace taskdag::petsc

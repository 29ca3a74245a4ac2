/// \file
/// Jacobi sweeps on a PETSc matrix.
#pragma once

#include <optional>

#include "mat/bridge.hpp"
#include "settings.hpp"
#include "taskdag/jacobi.hpp"

namespace taskdag::petsc {

class JacobiBridge : public Bridge {
 public:
  /// Takes pattern and values.
  PetscErrorCode analyse(Mat matrix, const JacobiOptions& options, const BackendSettings& settings);

  /// New values on the pattern that was analysed.
  PetscErrorCode update(Mat matrix);

  PetscErrorCode apply(bool transposed, Vec b, Vec x);
  PetscErrorCode apply(bool transposed, Mat b, Mat x);

  PetscErrorCode view(PetscViewer viewer) const;
  PetscErrorCode reset();

 private:
  PetscErrorCode report_zeros(Mat matrix) const;
  [[nodiscard]] PetscLogDouble flops() const;

  JacobiOptions options_;
  Offset entries_ = 0;
  std::optional<Jacobi> jacobi_;
};

}  // namespace taskdag::petsc

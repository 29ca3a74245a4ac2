/// \file
/// PETSc's sequential ILU(0) as the host benchmark's rival. In a build without PETSc, petsc_absent.cpp stands in.
#pragma once

#include <memory>
#include <string>

#include "taskdag/csr.hpp"

namespace taskdag::benchmark {

/// PETSc's own ILU(0) of a sequential aij matrix in the natural order.
class PetscRival {
 public:
  [[nodiscard]] static bool available();
  [[nodiscard]] static std::string version();

  /// Does the symbolic factorisation. `a` must outlive this. @throws Error with PETSc's error number
  explicit PetscRival(const CsrMatrix& a);
  ~PetscRival();
  PetscRival(const PetscRival&) = delete;
  PetscRival& operator=(const PetscRival&) = delete;

  void factor();                           ///< numeric phase
  void solve(const double* b, double* x);  ///< x = (L U)⁻¹ b

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace taskdag::benchmark

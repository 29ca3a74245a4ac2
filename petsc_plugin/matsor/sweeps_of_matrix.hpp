/// \file
/// What MatSOR() does with one sequential matrix.
#pragma once

#include <memory>
#include <vector>

#include "compat.hpp"
#include "mat/held.hpp"
#include "pc/types.hpp"

namespace taskdag::petsc {

/// Solvers for one matrix, one for each omega and shift that it is called with; the latest few are kept. They follow
/// the matrix: another state means new values, another nonzero state a new pattern.
class SweepsOfMatrix {
 public:
  SweepsOfMatrix() = default;
  SweepsOfMatrix(const SweepsOfMatrix&) = delete;
  SweepsOfMatrix& operator=(const SweepsOfMatrix&) = delete;
  ~SweepsOfMatrix() = default;

  /// MatSOR(), with PETSc's meaning of all arguments. A diagonal entry that cannot be divided by is the matrix' factor
  /// error, as PETSc has it for shifts, and an error where the matrix asks for errors.
  PetscErrorCode sweep(Mat matrix, Vec b, PetscReal omega, MatSORType flag, PetscReal shift, PetscInt its,
                       PetscInt lits, Vec x);
  /// To be called before the destructor, which reports no errors.
  PetscErrorCode reset();

 private:
  /// The settings stay where they are: the solver reads them.
  struct Solver {
    Settings settings;
    std::unique_ptr<Preconditioner> sor;
    PetscObjectState values = -1;   ///< of the matrix, when they were taken
    PetscObjectState pattern = -1;  ///< of the matrix, when it was analysed; −1: not at all
    Held<Vec> diagonal;             ///< of the matrix, for Eisenstat's trick
    PetscObjectState diagonal_values = -1;
  };

  PetscErrorCode find(Mat matrix, PetscReal omega, PetscReal shift, Solver** solver);
  static PetscErrorCode eisenstat(Mat matrix, Solver* solver, Vec b, Vec x);
  static PetscErrorCode reset(Solver* solver);

  std::vector<std::unique_ptr<Solver>> solvers_;  ///< the one used last is the last one
};

}  // namespace taskdag::petsc

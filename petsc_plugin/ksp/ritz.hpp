/// \file
/// Ritz values: what a method that builds on Lanczos' or Arnoldi's process knows of the spectrum of M⁻¹ A.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

#include "compat.hpp"
#include "taskdag/krylov.hpp"

namespace taskdag::petsc {

/// Whether the library keeps what they are made from.
bool has_ritz_values(KrylovMethod method);

/// A function that finds values of the spectrum.
template <class Value>
using FindValues = PetscErrorCode(const KrylovOptions& options, const KrylovOutcome& outcome, std::size_t iterations,
                                  std::vector<Value>* values);

/// Those of the first so many iterations, by ascending real parts; of fewer where the solve has ended within one.
/// GMRES: of its last cycle so far, whatever `iterations`. `outcome`: with coefficients.
PetscErrorCode find_ritz_values(const KrylovOptions& options, const KrylovOutcome& outcome, std::size_t iterations,
                                std::vector<std::complex<double>>* values);

/// Of the same, what PETSc calls singular values: of CG the Ritz values whatever their sign, of MINRES their moduli, of
/// GMRES the singular values of its small matrix.
PetscErrorCode find_singular_values(const KrylovOptions& options, const KrylovOutcome& outcome, std::size_t iterations,
                                    std::vector<double>* values);

}  // namespace taskdag::petsc

/// \file
/// Ritz values: what a method that builds on Lanczos' process knows of the spectrum of M⁻¹ A.
#pragma once

#include <cstddef>
#include <vector>

#include "taskdag/krylov.hpp"

namespace taskdag::petsc {

/// Whether the library keeps what they are made from.
bool has_ritz_values(KrylovMethod method);

/// Those of the first so many iterations, ascending; of fewer where the solve has ended within one. `outcome`: with
/// coefficients.
std::vector<double> ritz_values(KrylovMethod method, const KrylovOutcome& outcome, std::size_t iterations);

}  // namespace taskdag::petsc

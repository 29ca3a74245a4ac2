/// \file
/// Serial damped Jacobi sweeps: the oracle for the executors.
#pragma once

#include <vector>

#include "taskdag/jacobi.hpp"

namespace taskdag::kernels {

/// The result of `options.sweeps` sweeps on b, with A or (transposed) with its transpose.
std::vector<double> reference_jacobi(const CsrView& a, const JacobiOptions& options, const std::vector<double>& b,
                                     bool transposed, const std::vector<double>& guess = {});

}  // namespace taskdag::kernels

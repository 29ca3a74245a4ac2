/// \file
/// Serial triangular solve: the oracle for the executors.
#pragma once

#include "taskdag/triangular.hpp"

namespace taskdag::kernels {

/// x = T⁻¹ b, T as `options` say; b and x apart.
void reference_sptrsv(const CsrView& a, const TriangularOptions& options, const double* b, double* x);

}  // namespace taskdag::kernels

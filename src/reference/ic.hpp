/// \file
/// Serial IC(0) of a matrix in the factor's numbering: the oracle for the executors.
#pragma once

#include "taskdag/factorization.hpp"

namespace taskdag::kernels {

/// One attempt with `shift` added to the diagonal. `b` has a full diagonal; the factor has the layout of
/// Factorization::copy_factor(). Rows with a zero pivot under options.shift are recorded in `status`.
CsrMatrix reference_ic(const CsrView& b, const FactorOptions& options, double shift, FactorStatus& status);

}  // namespace taskdag::kernels

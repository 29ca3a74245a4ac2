/// \file
/// Damped Jacobi sweeps on host threads.
#pragma once

#include "backends/host/thread_pool.hpp"
#include "kernels/jacobi/host_row.hpp"
#include "taskdag/jacobi.hpp"

namespace taskdag::kernels {

/// scale[i] = damping / d_i, rows split over the pool. @returns how many d_i are zero
Index host_jacobi_scale(const CsrView& a, const JacobiOptions& options, host::ThreadPool& pool, double* scale);

/// y = x + weight · scale · (b − A x), y apart from x and b. backward: begins with the last rows.
void host_jacobi_sweep(const CsrView& a, const double* scale, double weight, const double* b, const double* x,
                       double* y, const RowCut& cut, bool backward, host::ThreadPool& pool);

/// r = b − A x, r apart from both.
void host_jacobi_residual(const CsrView& a, const double* b, const double* x, double* r, host::ThreadPool& pool);

}  // namespace taskdag::kernels

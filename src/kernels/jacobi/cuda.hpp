/// \file
/// Damped Jacobi sweeps on CUDA. Every array in device memory, every function asynchronous on `stream`.
#pragma once

#include <cuda_runtime_api.h>

#include "csr/pattern.hpp"
#include "kernels/jacobi/part_task.hpp"
#include "taskdag/jacobi.hpp"

namespace taskdag::kernels {

/// scale[i] = damping / d_i, and zeros[0] = how many d_i are zero. outside: JacobiOptions::outside in device memory, or
/// null.
void cuda_jacobi_scale(const DevicePattern& pattern, const double* values, const JacobiOptions& options,
                       const double* outside, double* scale, Index* zeros, cudaStream_t stream);

/// The same for JacobiDiagonal::diagonal, whatever pattern.entries is.
void cuda_jacobi_diagonal(const DevicePattern& pattern, const double* values, const JacobiOptions& options,
                          double* scale, Index* zeros, cudaStream_t stream);

/// x = weight · scale · b: the first sweep from x = 0. x and b may be the same array.
void cuda_jacobi_first_sweep(Index rows, const double* scale, double weight, const double* b, double* x,
                             cudaStream_t stream);

/// y = x + weight · scale · (b − A x), y apart from x and b. backward: begins with the last rows.
void cuda_jacobi_sweep(const DevicePattern& pattern, const double* values, const double* scale, double weight,
                       const double* b, const double* x, double* y, bool backward, cudaStream_t stream);

/// Lanes that share a row in every form: 1, 2, 4, … 32.
int cuda_jacobi_lanes(Index rows, Offset entries);

/// The same by parts, a block each: where long rows are in pieces. sweep: as in part_task.hpp, all device memory.
void cuda_jacobi_sweep_parts(const JacobiSweep& sweep, const JacobiPart* parts, std::uint32_t count, bool backward,
                             cudaStream_t stream);

/// *change = ‖x − y‖₁, the additions in no fixed order.
void cuda_jacobi_change(Index rows, const double* x, const double* y, double* change, cudaStream_t stream);

}  // namespace taskdag::kernels

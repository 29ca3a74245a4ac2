/// \file
/// D⁻¹ A and D⁻¹ b on CUDA, D being the diagonal blocks of A. All arrays are in device memory, every function is
/// asynchronous on `stream`.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/jacobi/blocks/inverse.hpp"
#include "kernels/sor/point_block/rows.hpp"

namespace taskdag::kernels::point_block {

/// The pattern of D⁻¹ A.
void cuda_scaled_pattern(const ScaledRows& a, Offset* row_offsets, Index* col_indices, cudaStream_t stream);

/// The values of D⁻¹ A and the inverses of D, a warp a row of blocks. Blocks without an inverse leave infinities and
/// NaNs, and lower or raise *findings.
void cuda_scale_rows(const ScaledRows& a, const double* blocks, double omega, double shift, double* inverses,
                     double* values, BlockFindings* findings, cudaStream_t stream);

/// x = D⁻¹ b, two different arrays.
void cuda_multiply_inverses(Index rows, int block_size, const double* inverses, const double* b, double* x,
                            cudaStream_t stream);

}  // namespace taskdag::kernels::point_block

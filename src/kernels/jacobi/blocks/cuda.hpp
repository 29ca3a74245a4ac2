/// \file
/// Block Jacobi on CUDA. Every array in device memory, every function asynchronous on `stream`.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/jacobi/blocks/layout.hpp"

namespace taskdag::kernels {

/// The inverses of the blocks of a, a warp for a slice. Blocks that have none are filled with NaN, and lower or raise
/// *findings. largest: rows of the largest block.
void cuda_invert_blocks(const CsrView& a, const BlockSlices& blocks, Index largest, double* inverse,
                        BlockFindings* findings, cudaStream_t stream);

/// x = factor · M⁻¹ b, or M⁻ᵀ; adds: that is added to x. x may be b unless it adds.
void cuda_apply_blocks(const BlockSlices& blocks, const double* inverse, bool transposed, bool adds, double factor,
                       const double* b, double* x, cudaStream_t stream);

}  // namespace taskdag::kernels

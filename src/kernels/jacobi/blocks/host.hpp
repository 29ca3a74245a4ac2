/// \file
/// Block Jacobi on host threads.
#pragma once

#include "backends/host/thread_pool.hpp"
#include "kernels/jacobi/blocks/layout.hpp"

namespace taskdag::kernels {

/// The inverses of the blocks of a, slices split over the pool. Blocks that have none are filled with NaN.
BlockFindings host_invert_blocks(const CsrView& a, const BlockSlices& blocks, host::ThreadPool& pool, double* inverse);

/// x = factor · M⁻¹ b, or M⁻ᵀ; adds: that is added to x. x may be b unless it adds.
void host_apply_blocks(const BlockSlices& blocks, const double* inverse, bool transposed, bool adds, double factor,
                       const double* b, double* x, host::ThreadPool& pool);

}  // namespace taskdag::kernels

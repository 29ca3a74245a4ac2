/// \file
/// Symbolic phase of factorisations with fill inside blocks of rows, on CUDA: the patterns of levels.hpp.
///
/// A thread block takes a block of rows and keeps the block's couplings as bitmaps, a bit for each pair of rows: those
/// by an entry, and those by way of one row of an earlier block. A row's fill is then found level by level by joining
/// rows of the bitmaps: reached(l) = reached(l − 1) ∪ entries of reached(l − 1) ∪ detours of reached(l − 2), each of
/// smaller rows only. Bitmaps live in shared memory, or in device memory if a block is too large for that.
#pragma once

#include <cuda_runtime_api.h>

#include "csr/device_csr.hpp"
#include "taskdag/factorization.hpp"
#include "taskdag/row_blocks.hpp"

namespace taskdag::kernels {

/// The pattern of ILU(levels) or IC(levels) with fill inside `blocks` only, levels > 0. `pattern`: all of a square
/// matrix (ilu) or its upper triangle (ic), every diagonal entry present. `source` of the result leads to where that
/// of `pattern` does, −1 for fill. Synchronises.
/// @throws InvalidInput if there are more entries than 32-bit offsets can address; OutOfMemory
DeviceCsr fill_in_blocks(const DeviceCsr& pattern, FactorKind kind, const RowBlocks& blocks, Index levels,
                         cudaStream_t stream);

}  // namespace taskdag::kernels

/// \file
/// Symbolic phase of factorisations with fill levels: ILU(k) and IC(k) patterns, on host threads. Fill inside blocks
/// has a form for CUDA, kernels/factor/fill/blocks.hpp; this is its oracle.
///
/// Entry (i, j) of the factor has level l where the shortest path from i to j in the graph of the matrix whose inner
/// nodes are all smaller than min(i, j) has l + 1 edges (fill path theorem). So the upper part of a row is found by a
/// breadth-first search of its own, and rows are independent of each other; the lower part is the upper part of the
/// transposed matrix. The result is that of the usual rule level(i, j) = min over k of level(i, k) + level(k, j) + 1.
///
/// Where fill between two blocks is dropped, both entries that a path is joined from must have been kept: such a path
/// stays inside the block, but for detours by way of a single row of an earlier block, along entries of the matrix.
/// (Two such rows one after the other would need fill between one of them and the block.)
///
/// Source: Hysom & Pothen, A Scalable Parallel Algorithm for Incomplete Factor Preconditioning, SIAM J. Sci. Comput.
/// 2001, doi:10.1137/S1064827500376193; Rose & Tarjan 1978 for the theorem.
#pragma once

#include "backends/host/thread_pool.hpp"
#include "dag/transpose.hpp"
#include "taskdag/row_blocks.hpp"

namespace taskdag {

/// The pattern of ILU(levels): all entries of `pattern` (square, every diagonal entry present) with their source_entry,
/// and those of fill level 1 … levels, with −1 for it. `blocks`: fill inside these only; null: everywhere.
/// @throws InvalidInput if there are more than 32-bit offsets can address
MappedPattern fill_pattern(const MappedPattern& pattern, Index levels, const RowBlocks* blocks, host::ThreadPool& pool);

/// The same for IC(levels): `upper` stands for a symmetric pattern and holds its upper triangle, each row beginning
/// with the diagonal entry. So does the result.
MappedPattern fill_upper_pattern(const MappedPattern& upper, Index levels, const RowBlocks* blocks,
                                 host::ThreadPool& pool);

}  // namespace taskdag

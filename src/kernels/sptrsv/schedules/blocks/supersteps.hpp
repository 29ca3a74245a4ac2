/// \file
/// Schedules by supersteps on CUDA: portions of a superstep, a thread block each, do not wait for each other.
///
/// A *portion* holds rows that wait for rows of earlier supersteps and for each other only. Its block
///   loads what does not change from solve to solve, and the right-hand sides, into shared memory,
///   waits for those portions that hold operands of its rows, a flag each,
///   subtracts the entries with such operands,
///   walks the portion level by level, one warp, a lane or some lanes a row, operands and results in shared memory,
///   writes the results out.
/// So a hop inside a portion costs a trip through shared memory, a hop between portions the rest of this list.
///
/// Sources: supersteps and portions: Böhnlein et al. 2025, section 2; waits between portions: Park et al. 2014; blocks
/// of one colour: Iwashita et al. 2012.
#pragma once

#include <memory>

#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels {

struct BlocksOptions {
  Index portion_rows = 0;  ///< most rows in a portion, at most 1024; 0: chosen
  int threads = 0;         ///< of a thread block: 128, 256 or 512; 0: chosen
};

/// The schedule "blocks": colours are supersteps. All portions in one launch, handed out in their order, to blocks that
/// take one after the other; the first ones are loaded while the kernel before still runs. Synchronises `stream`.
/// @throws InvalidInput without input.blocks, or where they do not fit the pattern
std::unique_ptr<Sweep> make_blocks_sweep(const SweepInput& input, const BlocksOptions& options, cudaStream_t stream);

}  // namespace taskdag::kernels

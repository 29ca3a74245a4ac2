/// \file
/// Levels that the whole grid walks.
#pragma once

#include <cooperative_groups.h>

#include "kernels/ordering/rcm/walk/share.cuh"

namespace taskdag::kernels::rcm {

namespace cg = cooperative_groups;

/// The whole grid: one level, the `wide`-th that is walked like this. @returns the end of the next one.
template <bool kOrdered>
__device__ Index walk_wide(const Walk& walk, Index begin, Index end, Index level, Index wide) {
  const cg::grid_group grid = cg::this_grid();
  if (grid.thread_rank() == 0) walk.level_begin[level] = begin;
  const auto node_at = [&walk](Index p) { return __ldcg(walk.queue + p); };
  const auto put = [&walk](Index p, Index v) { walk.queue[p] = v; };
  const Index first = boundary(begin, end, blockIdx.x, gridDim.x);
  const Index last = boundary(begin, end, blockIdx.x + 1, gridDim.x);
  if constexpr (kOrdered) {
    LevelShare share;
    claim_share(walk, first, last, node_at, share);
    grid.sync();
    const Index mine = count_share(walk, first, last, node_at, share);
    if (threadIdx.x == 0) walk.block_total[blockIdx.x] = mine;
    grid.sync();
    __shared__ Index sums[2];
    if (threadIdx.x < 32) {
      Index before = 0;
      Index all = 0;
      for (unsigned b = threadIdx.x; b < gridDim.x; b += 32) {
        const Index total = __ldcg(walk.block_total + b);
        all += total;
        if (b < blockIdx.x) before += total;
      }
      before = __reduce_add_sync(0xFFFFFFFFU, before);
      all = __reduce_add_sync(0xFFFFFFFFU, all);
      if (threadIdx.x == 0) {
        sums[0] = before;
        sums[1] = all;
      }
    }
    __syncthreads();
    const Index to = end + sums[0];
    const Index new_end = end + sums[1];
    put_share(walk, first, last, node_at, share, to, put);
    grid.sync();
    return new_end;
  } else {
    // Three counters take turns: one is pushed to, one may still be read, one is cleared for the next level.
    Index* const pushed = walk.state->pushed;
    if (grid.thread_rank() == 0) pushed[(wide + 1) % 3] = 0;
    take_range(
        walk, first, last, node_at, [&](Index n) { return end + atomicAdd(pushed + wide % 3, n); }, put);
    grid.sync();
    return end + __ldcg(pushed + wide % 3);
  }
}

}  // namespace taskdag::kernels::rcm

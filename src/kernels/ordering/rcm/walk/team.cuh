/// \file
/// Levels that the first cluster walks.
#pragma once

#include <cooperative_groups.h>

#include "kernels/ordering/rcm/walk/narrow.cuh"
#include "kernels/ordering/rcm/walk/share.cuh"

namespace taskdag::kernels::rcm {

namespace cg = cooperative_groups;

/// Most blocks in a cluster that walks together.
inline constexpr int kTeam = 8;

/// The first cluster: walks levels from [begin, end) on, ordered, until one is too wide, too narrow or empty. Each
/// block goes on with the nodes that it has found itself as long as that is fair. All blocks of it learn where they
/// stand, and see the queue.
__device__ inline void walk_middle(const Walk& walk, Index& begin, Index& end, Index& level, Index* lists) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  __shared__ Index totals[2][kTeam];  ///< by parity of the level; filled in by all blocks
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  const unsigned blocks = cluster.num_blocks();
  int now = 0;
  Index first = 0;
  Index last = 0;
  const auto divide = [&] {
    first = boundary(begin, end, rank, blocks);
    last = boundary(begin, end, rank + 1, blocks);
    for (Index p = first + static_cast<Index>(threadIdx.x); p < last; p += kBlock) {
      lists[now * kListed + p - first] = __ldcg(walk.queue + p);
    }
    __syncthreads();
  };
  divide();
  while (end - begin > walk.narrow && end - begin <= walk.middle) {
    if (rank == 0 && threadIdx.x == 0) walk.level_begin[level] = begin;
    const Index* const current = lists + now * kListed;
    Index* const next = lists + (1 - now) * kListed;
    const auto node_at = [=](Index p) { return current[p - first]; };
    LevelShare share;
    claim_share(walk, first, last, node_at, share);
    cluster.sync();
    const Index mine = count_share(walk, first, last, node_at, share);
    Index* const of_level = totals[level % 2];
    if (threadIdx.x < blocks) *cluster.map_shared_rank(of_level + rank, threadIdx.x) = mine;
    cluster.sync();
    Index to = end;
    Index total = 0;
    Index most = 0;
    for (unsigned b = 0; b < blocks; ++b) {
      if (b < rank) to += of_level[b];
      total += of_level[b];
      most = max(most, of_level[b]);
    }
    const auto put = [=, &walk](Index p, Index v) {
      walk.queue[p] = v;
      if (p - to < kListed) next[p - to] = v;
    };
    put_share(walk, first, last, node_at, share, to, put);
    begin = end;
    end += total;
    ++level;
    now = 1 - now;
    first = to;
    last = to + mine;
    if (total <= walk.narrow || total > walk.middle) break;
    if (most <= min(kListed, 2 * total / static_cast<Index>(blocks))) {
      __syncthreads();
    } else {
      cluster.sync();  // the queue is needed
      divide();
    }
  }
  cluster.sync();
#else
  __trap();  // no level is of its width where there are no clusters
#endif
}

/// The first cluster, or block 0 where there are none: walks levels until one is too wide or empty, and writes down
/// where it stands.
template <bool kOrdered>
__device__ void walk_team(const Walk& walk, Index begin, Index end, Index level, Index* lists) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  const cg::cluster_group team = cg::this_cluster();
#else
  const cg::thread_block team = cg::this_thread_block();
#endif
  while (begin < end && end - begin <= walk.middle) {
    if (end - begin <= walk.narrow) {
      if (blockIdx.x == 0) walk_narrow<kOrdered>(walk, begin, end, level, lists);
      team.sync();
      begin = __ldcg(&walk.state->begin);
      end = __ldcg(&walk.state->end);
      level = __ldcg(&walk.state->level);
      team.sync();  // block 0 may write it again
    } else {
      walk_middle(walk, begin, end, level, lists);
    }
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    walk.state->begin = begin;
    walk.state->end = end;
    walk.state->level = level;
    if (begin == end) walk.level_begin[level] = end;
  }
}

/// Blocks that walk together where the grid is too many.
__device__ inline unsigned team_size() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  return cg::this_cluster().num_blocks();
#else
  return 1;
#endif
}

}  // namespace taskdag::kernels::rcm

#include <cooperative_groups.h>

#include <algorithm>
#include <array>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "base/index.hpp"
#include "kernels/rcm/sweep.hpp"

// One kernel walks all levels. Levels of few nodes are walked by block 0 alone, whose barrier costs nanoseconds; those
// of some thousand by the cluster of blocks that it belongs to, whose barrier costs a few hundred (from compute
// capability 9.0 on), because one multiprocessor alone has too few memory requests in flight; the others wait at the
// grid's barrier meanwhile. Wider ones are walked by the whole grid, which is launched cooperatively.
//
// Encoding: owner[v] is the smallest place in the queue among the neighbours of v that have been walked, kFree before
// the first. All of v's neighbours in the level before v's write it by atomicMin before the level's barrier; those that
// come later have larger places and change nothing. So after the barrier owner[v] names v's parent in Cuthill–McKee's
// order, and each parent takes the neighbours that name it. An unordered walk takes v where it was kFree.
namespace taskdag::kernels {
namespace {

namespace cg = cooperative_groups;

constexpr int kBlock = 1024;
constexpr Index kFree = 0x7FFFFFFF;
/// Nodes of a level that a block keeps in shared memory.
constexpr Index kListed = 4096;
/// Most blocks in a cluster that walks together.
constexpr int kTeam = 8;
/// Levels of so many nodes times lanes are walked by one block, by a cluster. Measured on an H200.
constexpr Index kNarrowWithCluster = 1024;
constexpr Index kNarrowAlone = kListed;
constexpr Index kMiddle = 8192;
/// An unordered walk gives up where it has met fewer nodes a level than this after kPatience levels, or after one for
/// every kPatienceNodes nodes of the graph if those are more. A level costs about 2 µs, a node on a host thread 0.05.
constexpr Index kFewNodes = 32;
constexpr Index kPatience = 1024;
constexpr Index kPatienceNodes = 256;
/// Neighbours that a thread looks at together.
constexpr int kBatch = 4;

/// What the blocks tell each other; in device memory.
struct State {
  Index begin;
  Index end;
  Index level;
  Index gave_up;
  Index pushed[3];  ///< by the number of the wide level, modulo 3
};

struct Walk {
  GraphView graph;
  int log2_lanes;  ///< threads that share a node
  Index hub;       ///< nodes of more neighbours are walked by a whole block
  bool hubs;       ///< there are such nodes
  Index narrow;    ///< levels of so many nodes are walked by one block, at most kListed
  Index middle;    ///< by one cluster, at most kListed for each of its blocks; `narrow` where there are no clusters
  Index starts;
  Index* queue;
  Index* level_begin;
  Index* owner;
  Index* block_total;
  State* state;
};

/// Some neighbours of a node, those of one thread.
struct Part {
  EdgeOffset first;
  EdgeOffset last;
};

/// That of one of 2^log2_lanes threads.
__device__ Part part_of(EdgeOffset begin, EdgeOffset end, Index lane, int log2_lanes) {
  const EdgeOffset each = (end - begin + (EdgeOffset{1} << log2_lanes) - 1) >> log2_lanes;
  const EdgeOffset first = min(begin + lane * each, end);
  return {first, min(first + each, end)};
}

/// Calls take(v[], count) for batches of the part's neighbours.
template <class Take>
__device__ void for_batches(const Walk& walk, const Part& part, const Take& take) {
  for (EdgeOffset e = part.first; e < part.last; e += kBatch) {
    Index v[kBatch];
    const auto count = static_cast<int>(min(part.last - e, EdgeOffset{kBatch}));
#pragma unroll
    for (int k = 0; k < kBatch; ++k) v[k] = k < count ? __ldg(walk.graph.neighbours + e + k) : 0;
    take(v, count);
  }
}

__device__ void claim(const Walk& walk, const Part& part, Index place) {
  for_batches(walk, part, [&](const Index(&v)[kBatch], int count) {
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (k < count) atomicMin(walk.owner + v[k], place);
    }
  });
}

__device__ Index count_children(const Walk& walk, const Part& part, Index place) {
  Index children = 0;
  for_batches(walk, part, [&](const Index(&v)[kBatch], int count) {
    Index owner[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; ++k) owner[k] = k < count ? __ldcg(walk.owner + v[k]) : kFree;
#pragma unroll
    for (int k = 0; k < kBatch; ++k) children += owner[k] == place ? 1 : 0;
  });
  return children;
}

template <class Put>
__device__ void put_children(const Walk& walk, const Part& part, Index place, Index to, const Put& put) {
  for_batches(walk, part, [&](const Index(&v)[kBatch], int count) {
    Index owner[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; ++k) owner[k] = k < count ? __ldcg(walk.owner + v[k]) : kFree;
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (owner[k] == place) put(to++, v[k]);
    }
  });
}

/// Sum over the threads before this one; `total` over all. The whole block.
__device__ Index block_scan(Index value, Index& total) {
  __shared__ Index of_warp[kBlock / 32];
  const auto lane = static_cast<int>(threadIdx.x % 32);
  const auto warp = static_cast<int>(threadIdx.x / 32);
  Index sum = value;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const Index left = __shfl_up_sync(0xFFFFFFFFU, sum, step);
    if (lane >= step) sum += left;
  }
  if (lane == 31) of_warp[warp] = sum;
  __syncthreads();
  Index warps = of_warp[lane];
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const Index left = __shfl_up_sync(0xFFFFFFFFU, warps, step);
    if (lane >= step) warps += left;
  }
  total = __shfl_sync(0xFFFFFFFFU, warps, 31);
  const Index before = __shfl_sync(0xFFFFFFFFU, warps, warp == 0 ? 0 : warp - 1);
  __syncthreads();  // of_warp may be written again
  return (warp == 0 ? 0 : before) + sum - value;
}

/// The first hub in [first, last), or last. The whole block.
template <class NodeAt>
__device__ Index first_hub(const Walk& walk, Index first, Index last, const NodeAt& node_at) {
  __shared__ Index found;
  if (threadIdx.x == 0) found = last;
  __syncthreads();
  for (Index p = first + static_cast<Index>(threadIdx.x); p < last; p += kBlock) {
    if (walk.graph.degree(node_at(p)) > walk.hub) {
      atomicMin(&found, p);
      break;
    }
  }
  __syncthreads();
  const Index result = found;
  __syncthreads();
  return result;
}

/// Cuts places [first, last) into what groups of lanes walk and hubs, in order: calls
/// visit(first, last, log2 of the threads a node). The whole block.
template <class NodeAt, class Visit>
__device__ void between_hubs(const Walk& walk, Index first, Index last, const NodeAt& node_at, const Visit& visit) {
  if (!walk.hubs) {
    visit(first, last, walk.log2_lanes);
    return;
  }
  while (first < last) {
    const Index window = min(last, first + kBlock);
    const Index hub = first_hub(walk, first, window, node_at);
    if (first < hub) visit(first, hub, walk.log2_lanes);
    if (hub < window) visit(hub, hub + 1, 10);
    first = hub < window ? hub + 1 : window;
  }
}

/// The calling thread's share of a node when places come in tiles of kBlock / lanes from `tile` on.
struct Share {
  Index place;
  Part part;
};
template <class NodeAt>
__device__ Share share_of(const Walk& walk, Index tile, Index last, int log2_lanes, const NodeAt& node_at) {
  const Index place = tile + static_cast<Index>(threadIdx.x >> log2_lanes);
  if (place >= last) return {place, {0, 0}};
  const Index node = node_at(place);
  const EdgeOffset begin = __ldg(walk.graph.offsets + node);
  const EdgeOffset end = __ldg(walk.graph.offsets + node + 1);
  const Index lane = static_cast<Index>(threadIdx.x) & ((Index{1} << log2_lanes) - 1);
  return {place, part_of(begin, end, lane, log2_lanes)};
}

/// A thread's share of a level that is one tile: its first neighbours stay in registers from step to step.
struct Held {
  Index place;
  Index v[kBatch];
  int count;
  Part rest;
  unsigned children;  ///< bit k: v[k] is one
};

template <class NodeAt>
__device__ Held hold(const Walk& walk, Index first, Index last, const NodeAt& node_at) {
  const Share share = share_of(walk, first, last, walk.log2_lanes, node_at);
  Held held;
  held.place = share.place;
  held.count = static_cast<int>(min(share.part.last - share.part.first, EdgeOffset{kBatch}));
#pragma unroll
  for (int k = 0; k < kBatch; ++k) {
    held.v[k] = k < held.count ? __ldg(walk.graph.neighbours + share.part.first + k) : 0;
  }
  held.rest = {share.part.first + held.count, share.part.last};
  held.children = 0;
  return held;
}

__device__ void claim(const Walk& walk, const Held& held) {
#pragma unroll
  for (int k = 0; k < kBatch; ++k) {
    if (k < held.count) atomicMin(walk.owner + held.v[k], held.place);
  }
  claim(walk, held.rest, held.place);
}

/// @returns how many children the thread's share has
__device__ Index find_children(const Walk& walk, Held& held) {
  Index owner[kBatch];
#pragma unroll
  for (int k = 0; k < kBatch; ++k) owner[k] = k < held.count ? __ldcg(walk.owner + held.v[k]) : kFree;
#pragma unroll
  for (int k = 0; k < kBatch; ++k) held.children |= owner[k] == held.place ? 1U << k : 0U;
  return __popc(held.children) + count_children(walk, held.rest, held.place);
}

template <class Put>
__device__ void put_children(const Walk& walk, const Held& held, Index to, const Put& put) {
#pragma unroll
  for (int k = 0; k < kBatch; ++k) {
    if (held.children >> k & 1U) put(to++, held.v[k]);
  }
  put_children(walk, held.rest, held.place, to, put);
}

/// Whether a block's places [first, last) can be held.
__device__ bool is_one_tile(const Walk& walk, Index first, Index last) {
  return !walk.hubs && last - first <= kBlock >> walk.log2_lanes;
}

template <class NodeAt>
__device__ void claim_range(const Walk& walk, Index first, Index last, const NodeAt& node_at) {
  between_hubs(walk, first, last, node_at, [&](Index from, Index to, int log2_lanes) {
    for (Index tile = from; tile < to; tile += kBlock >> log2_lanes) {
      const Share share = share_of(walk, tile, to, log2_lanes, node_at);
      claim(walk, share.part, share.place);
    }
  });
}

/// The children of places [first, last). The whole block, which learns the sum.
template <class NodeAt>
__device__ Index count_range(const Walk& walk, Index first, Index last, const NodeAt& node_at) {
  Index mine = 0;
  between_hubs(walk, first, last, node_at, [&](Index from, Index to, int log2_lanes) {
    for (Index tile = from; tile < to; tile += kBlock >> log2_lanes) {
      const Share share = share_of(walk, tile, to, log2_lanes, node_at);
      mine += count_children(walk, share.part, share.place);
    }
  });
  Index total = 0;
  block_scan(mine, total);
  return total;
}

/// Puts the children of places [first, last) to places from `to` on, in order. @returns the place after them. The
/// whole block.
template <class NodeAt, class Put>
__device__ Index put_range(const Walk& walk, Index first, Index last, Index to, const NodeAt& node_at, const Put& put) {
  between_hubs(walk, first, last, node_at, [&](Index from, Index end, int log2_lanes) {
    for (Index tile = from; tile < end; tile += kBlock >> log2_lanes) {
      const Share share = share_of(walk, tile, end, log2_lanes, node_at);
      Index total = 0;
      const Index before = block_scan(count_children(walk, share.part, share.place), total);
      put_children(walk, share.part, share.place, to + before, put);
      to += total;
    }
  });
  return to;
}

/// Takes the free neighbours of places [first, last) in steps of `stride` tiles. reserve(n) gives the warp n places
/// and is called by one lane. The whole block.
template <class NodeAt, class Reserve, class Put>
__device__ void take_range(const Walk& walk, Index first, Index last, const NodeAt& node_at, const Reserve& reserve,
                           const Put& put) {
  const auto lane = static_cast<int>(threadIdx.x % 32);
  between_hubs(walk, first, last, node_at, [&](Index from, Index to, int log2_lanes) {
    for (Index tile = from; tile < to; tile += kBlock >> log2_lanes) {
      const Share share = share_of(walk, tile, to, log2_lanes, node_at);
      EdgeOffset e = share.part.first;
      while (__any_sync(0xFFFFFFFFU, e < share.part.last)) {
        Index v[kBatch];
        Index old[kBatch];
        const auto count = static_cast<int>(max(min(share.part.last - e, EdgeOffset{kBatch}), EdgeOffset{0}));
#pragma unroll
        for (int k = 0; k < kBatch; ++k) v[k] = k < count ? __ldg(walk.graph.neighbours + e + k) : 0;
#pragma unroll
        for (int k = 0; k < kBatch; ++k) old[k] = k < count ? atomicMin(walk.owner + v[k], share.place) : 0;
        Index found = 0;
#pragma unroll
        for (int k = 0; k < kBatch; ++k) found += old[k] == kFree ? 1 : 0;
        Index sum = found;
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
          const Index left = __shfl_up_sync(0xFFFFFFFFU, sum, step);
          if (lane >= step) sum += left;
        }
        Index base = 0;
        if (lane == 31 && sum > 0) base = reserve(sum);
        Index at = __shfl_sync(0xFFFFFFFFU, base, 31) + sum - found;
#pragma unroll
        for (int k = 0; k < kBatch; ++k) {
          if (old[k] == kFree) put(at++, v[k]);
        }
        e += kBatch;
      }
    }
  });
}

/// Block 0: walks levels from [begin, end) on until one is too wide or empty, and writes down where it stands. `lists`:
/// in shared memory, twice kListed.
template <bool kOrdered>
__device__ void walk_narrow(const Walk& walk, Index begin, Index end, Index level, Index* lists) {
  __shared__ Index tail[2];
  int now = 0;
  for (Index p = begin + static_cast<Index>(threadIdx.x); p < end; p += kBlock) {
    lists[p - begin] = __ldcg(walk.queue + p);
  }
  if (threadIdx.x < 2) tail[threadIdx.x] = end;
  __syncthreads();
  while (begin < end && end - begin <= walk.narrow) {
    if (threadIdx.x == 0) walk.level_begin[level] = begin;
    const Index* const current = lists + now * kListed;
    Index* const next = lists + (1 - now) * kListed;
    const auto node_at = [=](Index p) { return current[p - begin]; };
    const auto put = [=, &walk](Index p, Index v) {
      walk.queue[p] = v;
      if (p - end < kListed) next[p - end] = v;
    };
    Index new_end = end;
    if constexpr (kOrdered) {
      if (is_one_tile(walk, begin, end)) {
        Held held = hold(walk, begin, end, node_at);
        claim(walk, held);
        __syncthreads();
        Index total = 0;
        const Index before = block_scan(find_children(walk, held), total);
        put_children(walk, held, end + before, put);
        new_end += total;
      } else {
        claim_range(walk, begin, end, node_at);
        __syncthreads();
        new_end = put_range(walk, begin, end, end, node_at, put);
      }
      __syncthreads();
    } else {
      // The tail of the other parity starts where this level's ends.
      take_range(
          walk, begin, end, node_at, [&](Index n) { return atomicAdd(&tail[now], n); }, put);
      __syncthreads();
      new_end = tail[now];
      if (threadIdx.x == 0) tail[1 - now] = new_end;
      __syncthreads();
    }
    begin = end;
    end = new_end;
    now = 1 - now;
    ++level;
    if constexpr (!kOrdered) {
      if (level > max(kPatience, walk.graph.nodes / kPatienceNodes) && end / level < kFewNodes && begin < end) {
        if (threadIdx.x == 0) walk.state->gave_up = 1;
        begin = end;
      }
    }
  }
  if (threadIdx.x == 0) {
    walk.state->begin = begin;
    walk.state->end = end;
    walk.state->level = level;
  }
}

/// Where the k-th of `parts` equal parts of [begin, end) begins.
__device__ Index boundary(Index begin, Index end, unsigned k, unsigned parts) {
  return static_cast<Index>(begin + (end - begin) * std::int64_t{k} / parts);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// The first cluster: walks levels from [begin, end) on, ordered, until one is too wide, too narrow or empty. Each
/// block goes on with the nodes that it has found itself as long as that is fair. All blocks of it learn where they
/// stand, and see the queue.
__device__ void walk_middle(const Walk& walk, Index& begin, Index& end, Index& level, Index* lists) {
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
    const bool one_tile = is_one_tile(walk, first, last);
    Held held;
    if (one_tile) {
      held = hold(walk, first, last, node_at);
      claim(walk, held);
    } else {
      claim_range(walk, first, last, node_at);
    }
    cluster.sync();
    Index mine = 0;
    Index before = 0;
    if (one_tile) {
      before = block_scan(find_children(walk, held), mine);
    } else {
      mine = count_range(walk, first, last, node_at);
    }
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
    if (one_tile) {
      put_children(walk, held, to + before, put);
    } else {
      put_range(walk, first, last, to, node_at, put);
    }
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
}

#endif

/// The first cluster, or block 0 where there are none: walks levels until one is too wide or empty, and writes down
/// where it stands.
template <bool kOrdered>
__device__ void walk_team(const Walk& walk, Index begin, Index end, Index level, Index* lists) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
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
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
      walk_middle(walk, begin, end, level, lists);
#endif
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
__device__ unsigned team_size() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  return cg::this_cluster().num_blocks();
#else
  return 1;
#endif
}

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
    const bool one_tile = is_one_tile(walk, first, last);
    Held held;
    if (one_tile) {
      held = hold(walk, first, last, node_at);
      claim(walk, held);
    } else {
      claim_range(walk, first, last, node_at);
    }
    grid.sync();
    Index mine = 0;
    Index before_mine = 0;
    if (one_tile) {
      before_mine = block_scan(find_children(walk, held), mine);
    } else {
      mine = count_range(walk, first, last, node_at);
    }
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
    if (one_tile) {
      put_children(walk, held, to + before_mine, put);
    } else {
      put_range(walk, first, last, to, node_at, put);
    }
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

template <bool kOrdered>
__global__ void __launch_bounds__(kBlock, 1) walk_levels(Walk walk) {
  __shared__ Index lists[2 * kListed];
  const cg::grid_group grid = cg::this_grid();
  Index begin = 0;
  Index end = walk.starts;
  Index level = 0;
  Index wide = 0;
  while (begin < end) {
    if (end - begin <= walk.middle) {
      if (blockIdx.x < team_size()) walk_team<kOrdered>(walk, begin, end, level, lists);
      grid.sync();
      begin = __ldcg(&walk.state->begin);
      end = __ldcg(&walk.state->end);
      level = __ldcg(&walk.state->level);
    } else {
      const Index new_end = walk_wide<kOrdered>(walk, begin, end, level, wide++);
      begin = end;
      end = new_end;
      ++level;
      if (begin == end && grid.thread_rank() == 0) {
        walk.level_begin[level] = end;
        walk.state->end = end;
        walk.state->level = level;
      }
    }
  }
}

__global__ void free_all(Index nodes, Index* owner, State* state) {
  const auto v = static_cast<Index>(cuda::element());
  if (v < nodes) owner[v] = kFree;
  if (v == 0) *state = {0, 0, 0, 0, {0, 0, 0}};
}

__global__ void own_starts(Index starts, const Index* queue, Index* owner) {
  const auto p = static_cast<Index>(cuda::element());
  if (p < starts) owner[queue[p]] = -1;
}

int log2_lanes_for(const DeviceGraph& graph) {
  const EdgeOffset average = graph.nodes == 0 ? 0 : graph.entries / graph.nodes;
  int log2_lanes = 0;
  while (log2_lanes < 5 && (EdgeOffset{kBatch} << log2_lanes) < average) ++log2_lanes;
  return log2_lanes;
}

/// As many blocks as can run at the same time and have something to do; in clusters where the device has them.
WalkShape shape_for(Index nodes) {
  const int useful = std::max(1, std::min(cuda::device_limits().multiprocessors, nodes / kBlock));
  int device = 0;
  int major = 0;
  cuda::check(cudaGetDevice(&device), "asking for the current device");
  cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "reading a limit");
  if (major < 9 || useful < kTeam) return {useful, 1};
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {kTeam, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(kTeam);
  config.blockDim = dim3(kBlock);
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters = 0;
  int clusters_unordered = 0;
  cuda::check(cudaOccupancyMaxActiveClusters(&clusters, walk_levels<true>, &config), "asking for clusters");
  cuda::check(cudaOccupancyMaxActiveClusters(&clusters_unordered, walk_levels<false>, &config), "asking for clusters");
  clusters = std::min(clusters, clusters_unordered);
  if (clusters == 0) return {useful, 1};
  return {kTeam * std::min(clusters, useful / kTeam), kTeam};
}

}  // namespace

Walker::Walker(const RankedGraph& ranked, cudaStream_t stream)
    : graph_(ranked.graph.view()),
      log2_lanes_(log2_lanes_for(ranked.graph)),
      hub_(Index{64} << log2_lanes_),
      hubs_(ranked.most_neighbours > hub_),
      shape_(shape_for(ranked.graph.nodes)),
      stream_(stream),
      queue_(at(ranked.graph.nodes), stream),
      level_begin_(at(ranked.graph.nodes) + 1, stream),
      owner_(at(ranked.graph.nodes), stream),
      block_total_(static_cast<std::size_t>(shape_.blocks), stream),
      state_(sizeof(State) / sizeof(Index), stream) {}

Levels Walker::walk(Index starts, bool ordered) {
  if (starts == 0) return {};
  auto* const state = reinterpret_cast<State*>(state_.data());
  free_all<<<cuda::element_blocks(graph_.nodes), cuda::kElementBlock, 0, stream_>>>(graph_.nodes, owner_.data(), state);
  cuda::check_launch("free_all");
  own_starts<<<cuda::element_blocks(starts), cuda::kElementBlock, 0, stream_>>>(starts, queue_.data(), owner_.data());
  cuda::check_launch("own_starts");
  const bool clusters = shape_.team > 1;
  const Index narrow = (clusters ? kNarrowWithCluster : kNarrowAlone) >> log2_lanes_;
  const Walk walk{graph_,
                  log2_lanes_,
                  hub_,
                  hubs_,
                  narrow,
                  clusters ? std::min(kMiddle >> log2_lanes_, shape_.team * kListed) : narrow,
                  starts,
                  queue_.data(),
                  level_begin_.data(),
                  owner_.data(),
                  block_total_.data(),
                  state};
  std::array<cudaLaunchAttribute, 2> attributes{};
  attributes[0].id = cudaLaunchAttributeCooperative;
  attributes[0].val.cooperative = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {static_cast<unsigned>(shape_.team), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(shape_.blocks));
  config.blockDim = dim3(kBlock);
  config.stream = stream_;
  config.attrs = attributes.data();
  config.numAttrs = clusters ? 2 : 1;
  cuda::check(cudaLaunchKernelEx(&config, ordered ? walk_levels<true> : walk_levels<false>, walk), "walk_levels");
  const State reached = cuda::fetch(state, stream_);
  return {reached.level, reached.end, reached.gave_up != 0};
}

}  // namespace taskdag::kernels

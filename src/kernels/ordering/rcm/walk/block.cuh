/// \file
/// What a block does with a range of a level's positions.
#pragma once

#include "kernels/ordering/rcm/walk/neighbours.cuh"

namespace taskdag::kernels::rcm {

/// Where the k-th of `count` equal ranges of [begin, end) begins.
__device__ inline Index boundary(Index begin, Index end, unsigned k, unsigned count) {
  return static_cast<Index>(begin + (end - begin) * std::int64_t{k} / count);
}

/// Sum over the threads before this one; `total` over all. The whole block.
__device__ inline Index block_scan(Index value, Index& total) {
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

/// Cuts positions [first, last) into what groups of lanes walk and hubs, in order: calls
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

/// Whether a block's positions [first, last) can be held.
__device__ inline bool is_one_tile(const Walk& walk, Index first, Index last) {
  return !walk.hubs && last - first <= kBlock >> walk.log2_lanes;
}

template <class NodeAt>
__device__ void claim_range(const Walk& walk, Index first, Index last, const NodeAt& node_at) {
  between_hubs(walk, first, last, node_at, [&](Index from, Index to, int log2_lanes) {
    for (Index tile = from; tile < to; tile += kBlock >> log2_lanes) {
      const Share share = share_of(walk, tile, to, log2_lanes, node_at);
      claim(walk, share.edges, share.position);
    }
  });
}

/// The children of positions [first, last). The whole block, which learns the sum.
template <class NodeAt>
__device__ Index count_range(const Walk& walk, Index first, Index last, const NodeAt& node_at) {
  Index mine = 0;
  between_hubs(walk, first, last, node_at, [&](Index from, Index to, int log2_lanes) {
    for (Index tile = from; tile < to; tile += kBlock >> log2_lanes) {
      const Share share = share_of(walk, tile, to, log2_lanes, node_at);
      mine += count_children(walk, share.edges, share.position);
    }
  });
  Index total = 0;
  block_scan(mine, total);
  return total;
}

/// Puts the children of positions [first, last) to positions from `to` on, in order. @returns the position after them.
/// The whole block.
template <class NodeAt, class Put>
__device__ Index put_range(const Walk& walk, Index first, Index last, Index to, const NodeAt& node_at, const Put& put) {
  between_hubs(walk, first, last, node_at, [&](Index from, Index end, int log2_lanes) {
    for (Index tile = from; tile < end; tile += kBlock >> log2_lanes) {
      const Share share = share_of(walk, tile, end, log2_lanes, node_at);
      Index total = 0;
      const Index before = block_scan(count_children(walk, share.edges, share.position), total);
      put_children(walk, share.edges, share.position, to + before, put);
      to += total;
    }
  });
  return to;
}

/// Takes the free neighbours of positions [first, last) in any order. reserve(n) gives the warp n positions and is
/// called by one lane. The whole block.
template <class NodeAt, class Reserve, class Put>
__device__ void take_range(const Walk& walk, Index first, Index last, const NodeAt& node_at, const Reserve& reserve,
                           const Put& put) {
  const auto lane = static_cast<int>(threadIdx.x % 32);
  between_hubs(walk, first, last, node_at, [&](Index from, Index to, int log2_lanes) {
    for (Index tile = from; tile < to; tile += kBlock >> log2_lanes) {
      const Share share = share_of(walk, tile, to, log2_lanes, node_at);
      EdgeOffset e = share.edges.first;
      while (__any_sync(0xFFFFFFFFU, e < share.edges.last)) {
        Index v[kBatch];
        Index old[kBatch];
        const auto count = static_cast<int>(max(min(share.edges.last - e, EdgeOffset{kBatch}), EdgeOffset{0}));
#pragma unroll
        for (int k = 0; k < kBatch; ++k) v[k] = k < count ? __ldg(walk.graph.neighbours + e + k) : 0;
#pragma unroll
        for (int k = 0; k < kBatch; ++k) old[k] = k < count ? atomicMin(walk.owner + v[k], share.position) : 0;
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

}  // namespace taskdag::kernels::rcm

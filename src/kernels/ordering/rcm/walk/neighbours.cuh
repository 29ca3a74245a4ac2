/// \file
/// The neighbours of a node, shared by the threads that it has: claiming them, counting and placing those that became
/// children.
#pragma once

#include "kernels/ordering/rcm/walk/state.cuh"

namespace taskdag::kernels::rcm {

/// Some edges of a node, those of one thread.
struct EdgeRange {
  EdgeOffset first;
  EdgeOffset last;
};

/// The edges of one of 2^log2_lanes threads among a node's.
__device__ inline EdgeRange edges_of(EdgeOffset begin, EdgeOffset end, Index lane, int log2_lanes) {
  const EdgeOffset each = (end - begin + (EdgeOffset{1} << log2_lanes) - 1) >> log2_lanes;
  const EdgeOffset first = min(begin + lane * each, end);
  return {first, min(first + each, end)};
}

/// Calls take(v[], count) for batches of the neighbours at `edges`.
template <class Take>
__device__ void for_batches(const Walk& walk, const EdgeRange& edges, const Take& take) {
  for (EdgeOffset e = edges.first; e < edges.last; e += kBatch) {
    Index v[kBatch];
    const auto count = static_cast<int>(min(edges.last - e, EdgeOffset{kBatch}));
#pragma unroll
    for (int k = 0; k < kBatch; ++k) v[k] = k < count ? __ldg(walk.graph.neighbours + e + k) : 0;
    take(v, count);
  }
}

__device__ inline void claim(const Walk& walk, const EdgeRange& edges, Index position) {
  for_batches(walk, edges, [&](const Index(&v)[kBatch], int count) {
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (k < count) atomicMin(walk.owner + v[k], position);
    }
  });
}

__device__ inline Index count_children(const Walk& walk, const EdgeRange& edges, Index position) {
  Index children = 0;
  for_batches(walk, edges, [&](const Index(&v)[kBatch], int count) {
    Index owner[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; ++k) owner[k] = k < count ? __ldcg(walk.owner + v[k]) : kFree;
#pragma unroll
    for (int k = 0; k < kBatch; ++k) children += owner[k] == position ? 1 : 0;
  });
  return children;
}

template <class Put>
__device__ void put_children(const Walk& walk, const EdgeRange& edges, Index position, Index to, const Put& put) {
  for_batches(walk, edges, [&](const Index(&v)[kBatch], int count) {
    Index owner[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; ++k) owner[k] = k < count ? __ldcg(walk.owner + v[k]) : kFree;
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (owner[k] == position) put(to++, v[k]);
    }
  });
}

/// The calling thread's share of a node when positions come in tiles of kBlock / lanes from `tile` on.
struct Share {
  Index position;
  EdgeRange edges;
};
template <class NodeAt>
__device__ Share share_of(const Walk& walk, Index tile, Index last, int log2_lanes, const NodeAt& node_at) {
  const Index position = tile + static_cast<Index>(threadIdx.x >> log2_lanes);
  if (position >= last) return {position, {0, 0}};
  const Index node = node_at(position);
  const EdgeOffset begin = __ldg(walk.graph.offsets + node);
  const EdgeOffset end = __ldg(walk.graph.offsets + node + 1);
  const Index lane = static_cast<Index>(threadIdx.x) & ((Index{1} << log2_lanes) - 1);
  return {position, edges_of(begin, end, lane, log2_lanes)};
}

/// A thread's share of a level that is one tile: its first neighbours stay in registers from step to step.
struct Held {
  Index position;
  Index v[kBatch];
  int count;
  EdgeRange rest;
  unsigned children;  ///< bit k: v[k] is one
};

template <class NodeAt>
__device__ Held hold(const Walk& walk, Index first, Index last, const NodeAt& node_at) {
  const Share share = share_of(walk, first, last, walk.log2_lanes, node_at);
  Held held;
  held.position = share.position;
  held.count = static_cast<int>(min(share.edges.last - share.edges.first, EdgeOffset{kBatch}));
#pragma unroll
  for (int k = 0; k < kBatch; ++k) {
    held.v[k] = k < held.count ? __ldg(walk.graph.neighbours + share.edges.first + k) : 0;
  }
  held.rest = {share.edges.first + held.count, share.edges.last};
  held.children = 0;
  return held;
}

__device__ inline void claim(const Walk& walk, const Held& held) {
#pragma unroll
  for (int k = 0; k < kBatch; ++k) {
    if (k < held.count) atomicMin(walk.owner + held.v[k], held.position);
  }
  claim(walk, held.rest, held.position);
}

/// @returns how many children the thread's share has
__device__ inline Index find_children(const Walk& walk, Held& held) {
  Index owner[kBatch];
#pragma unroll
  for (int k = 0; k < kBatch; ++k) owner[k] = k < held.count ? __ldcg(walk.owner + held.v[k]) : kFree;
#pragma unroll
  for (int k = 0; k < kBatch; ++k) held.children |= owner[k] == held.position ? 1U << k : 0U;
  return __popc(held.children) + count_children(walk, held.rest, held.position);
}

template <class Put>
__device__ void put_children(const Walk& walk, const Held& held, Index to, const Put& put) {
#pragma unroll
  for (int k = 0; k < kBatch; ++k) {
    if (held.children >> k & 1U) put(to++, held.v[k]);
  }
  put_children(walk, held.rest, held.position, to, put);
}

}  // namespace taskdag::kernels::rcm

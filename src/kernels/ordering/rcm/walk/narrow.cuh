/// \file
/// Levels that one block walks alone.
#pragma once

#include "kernels/ordering/rcm/walk/block.cuh"

namespace taskdag::kernels::rcm {

/// An unordered walk gives up where it has met fewer nodes a level than this after kPatience levels, or after one for
/// every kPatienceNodes nodes of the graph if those are more. A level costs about 2 µs, a node on a host thread 0.05.
inline constexpr Index kFewNodes = 32;
inline constexpr Index kPatience = 1024;
inline constexpr Index kPatienceNodes = 256;

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

}  // namespace taskdag::kernels::rcm

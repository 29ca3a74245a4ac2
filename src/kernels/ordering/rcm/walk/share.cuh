/// \file
/// What a block does of a level that several blocks walk in order: its positions [first, last).
#pragma once

#include "kernels/ordering/rcm/walk/block.cuh"

namespace taskdag::kernels::rcm {

/// What a thread of the block keeps of it from step to step.
struct LevelShare {
  bool one_tile;
  Held held;         ///< if one tile
  Index before = 0;  ///< if one tile: children of the threads before this one, once they are counted
};

template <class NodeAt>
__device__ void claim_share(const Walk& walk, Index first, Index last, const NodeAt& node_at, LevelShare& share) {
  share.one_tile = is_one_tile(walk, first, last);
  if (share.one_tile) {
    share.held = hold(walk, first, last, node_at);
    claim(walk, share.held);
  } else {
    claim_range(walk, first, last, node_at);
  }
}

/// After a barrier of the blocks. @returns how many children the positions have
template <class NodeAt>
__device__ Index count_share(const Walk& walk, Index first, Index last, const NodeAt& node_at, LevelShare& share) {
  Index mine = 0;
  if (share.one_tile) {
    share.before = block_scan(find_children(walk, share.held), mine);
  } else {
    mine = count_range(walk, first, last, node_at);
  }
  return mine;
}

/// Puts the children to positions from `to` on, in order.
template <class NodeAt, class Put>
__device__ void put_share(const Walk& walk, Index first, Index last, const NodeAt& node_at, const LevelShare& share,
                          Index to, const Put& put) {
  if (share.one_tile) {
    put_children(walk, share.held, to + share.before, put);
  } else {
    put_range(walk, first, last, to, node_at, put);
  }
}

}  // namespace taskdag::kernels::rcm

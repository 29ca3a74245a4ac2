/// \file
/// A level that one worker makes by itself: for few nodes, creating tasks takes longer than what they do.
#pragma once

#include "papers/pichler/rcm/permutation/claim_children.hpp"
#include "papers/pichler/rcm/sort/network.hpp"

namespace taskdag::kernels::rcm_tasks {

inline constexpr std::size_t kNarrowScratch = sizeof(EdgeScratch) > sizeof(SortKey) * kMostChunk
                                                  ? sizeof(EdgeScratch)
                                                  : sizeof(SortKey) * kMostChunk;

/// Finds the children of a whole level and, where they are a chunk at most, sorts them into `keys`; else they are left
/// to be compressed. Reached by all lanes. @param shared kNarrowScratch bytes @returns the number of children
/// @pre the level's state has none yet; there is a list of candidates
template <class Group>
TASKDAG_TASK std::uint32_t make_narrow_level(const Group& group, std::byte* shared, const PermutationData& data,
                                             const ParentRange& level) {
  claim_children(group, shared, data, level);
  group.sync();
  const std::uint32_t children = look(data.state->touched);
  if (children > data.chunk) return children;
  const auto rank = static_cast<std::uint32_t>(group.rank());
  const auto lanes = static_cast<std::uint32_t>(group.size());
  auto* const keys = reinterpret_cast<SortKey*>(shared);
  std::uint32_t size = 1;
  while (size < children) size *= 2;
  for (std::uint32_t i = rank; i < size; i += lanes) {
    keys[i] = kLargestKey;
    if (i >= children) continue;
    const Index node = data.candidates[i];
    keys[i] = data.key(data.parents[node], node);
    data.parents[node] = kPlaced;
  }
  group.sync();
  for (std::uint32_t run = 2; run <= size; run *= 2) merge_runs(group, keys, size, 0, run);
  for (std::uint32_t i = rank; i < children; i += lanes) data.keys[i] = keys[i];
  group.sync();
  return children;
}

}  // namespace taskdag::kernels::rcm_tasks

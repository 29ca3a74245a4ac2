/// \file
/// The six task types of the permutation and their items, so that they can name each other.
#pragma once

#include "papers/pichler/rcm/permutation/data.hpp"
#include "papers/pichler/rcm/permutation/flow.hpp"
#include "papers/pichler/rcm/share.hpp"

namespace taskdag::kernels::rcm_tasks {

// Template parameter: ByPhases or ByDependencies.
template <class Flow>
struct CreateSortData;
template <class Flow>
struct CompressSortData;
template <class Flow>
struct Delegate;
template <class Flow>
struct SortBlock;
template <class Flow>
struct SortDelegate;
template <class Flow>
struct SortGlobal;

/// Parents at positions [first, end) of the order; their level begins at `level`.
struct ParentRange {
  Index first;
  Index end;
  Index level;
};

/// What compression looks through, from `first` to `end`; `first` below 0: all of it, to be cut into tasks.
struct CompressRange {
  Index first;
  Index end;
};

/// One step of the sorting network for chunks [first, end): merges bitonic runs of `run` keys at
/// `distance`. Distance 0 stands for all distances below a chunk, and with run == chunk for all smaller runs, too.
struct SortStep {
  std::uint32_t first;
  std::uint32_t end;
  std::uint32_t run;
  std::uint32_t distance;
};

/// The step of the network that has ended; run 0: the keys are sorted. start >= 0: nothing has been done yet, the
/// component is to begin at this node.
struct SortProgress {
  std::uint32_t run;
  std::uint32_t distance;
  Index start;
};

}  // namespace taskdag::kernels::rcm_tasks

/// \file
/// The bitonic network in memory that all lanes of a worker see (MHive, algorithm A.2).
#pragma once

#include "papers/pichler/rcm/permutation/data.hpp"

namespace taskdag::kernels::rcm_tasks {

/// Merges runs of `run` keys among `size`, both powers of two; `at`: position of the first among all keys, which
/// decides whether a run goes up or down. Reached by all lanes; `keys` are there for all, and sync'd at the end.
template <class Group>
TASKDAG_TASK void merge_runs(const Group& group, SortKey* keys, std::uint32_t size, std::uint32_t at,
                             std::uint32_t run) {
  const auto rank = static_cast<std::uint32_t>(group.rank());
  const auto lanes = static_cast<std::uint32_t>(group.size());
  for (std::uint32_t distance = run < size ? run / 2 : size / 2; distance > 0; distance /= 2) {
    for (std::uint32_t pair = rank; pair < size / 2; pair += lanes) {
      const std::uint32_t low = 2 * pair - (pair & (distance - 1));
      const std::uint32_t high = low + distance;
      const bool up = ((at + low) & run) == 0;
      const SortKey a = keys[low];
      const SortKey b = keys[high];
      const bool swap = (a > b) == up;  // no two keys are equal but the padding
      keys[low] = swap ? b : a;
      keys[high] = swap ? a : b;
    }
    group.sync();
  }
}

}  // namespace taskdag::kernels::rcm_tasks

/// \file
/// A bitonic sorting network for all lanes of a worker (K. E. Batcher 1968, "Sorting networks and their applications",
/// DOI 10.1145/1468075.1468121).
#pragma once

#include <cstdint>

#include "taskdag/engine/platform.hpp"

namespace quicksort {

/// Sorts `size` keys, a power of two, in memory that all lanes of the group see. Reached by all lanes; at the end all
/// of them see the result.
template <class Group>
TASKDAG_TASK void bitonic_sort(const Group& group, std::uint32_t* keys, std::uint32_t size) {
  const auto rank = static_cast<std::uint32_t>(group.rank());
  const auto lanes = static_cast<std::uint32_t>(group.size());
  group.sync();
  for (std::uint32_t run = 2; run <= size; run *= 2) {
    for (std::uint32_t distance = run / 2; distance > 0; distance /= 2) {
      for (std::uint32_t pair = rank; pair < size / 2; pair += lanes) {
        const std::uint32_t low = 2 * pair - (pair & (distance - 1));
        const std::uint32_t high = low + distance;
        const bool rising = (low & run) == 0;
        const std::uint32_t a = keys[low];
        const std::uint32_t b = keys[high];
        const bool swap = (a > b) == rising;
        keys[low] = swap ? b : a;
        keys[high] = swap ? a : b;
      }
      group.sync();
    }
  }
}

}  // namespace quicksort

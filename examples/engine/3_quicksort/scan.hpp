/// \file
/// Prefix sums over the lanes of a worker (W. D. Hillis, G. L. Steele 1986, "Data parallel algorithms",
/// DOI 10.1145/7902.7903).
#pragma once

#include <cstdint>

#include "taskdag/engine/platform.hpp"

namespace quicksort {

struct Scan {
  std::uint32_t before;  ///< sum of the values of lower lanes
  std::uint32_t total;   ///< of all lanes
};

/// @param scratch room for two numbers per lane, in memory that all lanes see. Reached by all lanes.
template <class Group>
TASKDAG_TASK Scan scan(const Group& group, std::uint32_t* scratch, std::uint32_t value) {
  const int rank = group.rank();
  std::uint32_t* from = scratch;
  std::uint32_t* to = scratch + group.size();
  from[rank] = value;
  group.sync();
  for (int distance = 1; distance < group.size(); distance *= 2) {
    to[rank] = from[rank] + (rank >= distance ? from[rank - distance] : 0U);
    group.sync();
    std::uint32_t* const summed = to;
    to = from;
    from = summed;
  }
  const Scan result{from[rank] - value, from[group.size() - 1]};
  group.sync();  // the next scan writes here
  return result;
}

}  // namespace quicksort

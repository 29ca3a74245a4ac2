/// \file
/// Sums over the lanes of one worker (W. D. Hillis, G. L. Steele 1986, "Data parallel algorithms",
/// DOI 10.1145/7902.7903).
#pragma once

#include "papers/pichler/rcm/share.hpp"

namespace taskdag::kernels::rcm_tasks {

/// @returns by lane, the sum of its value and of those of the lanes before it; in `scratch`, which may be written again
/// after the next sync(). Reached by all lanes; all of them see the result.
template <class T, class Group>
TASKDAG_TASK const T* inclusive_sums(const Group& group, T (&scratch)[2][kLanes], T value) {
  const int rank = group.rank();
  T* sums = scratch[0];
  T* next = scratch[1];
  sums[rank] = value;
  group.sync();
  for (int distance = 1; distance < group.size(); distance *= 2) {
    next[rank] = sums[rank] + (rank >= distance ? sums[rank - distance] : 0);
    group.sync();
    T* const summed = next;
    next = sums;
    sums = summed;
  }
  return sums;
}

}  // namespace taskdag::kernels::rcm_tasks

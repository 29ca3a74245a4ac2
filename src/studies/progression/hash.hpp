/// \file
/// hash2 of listing 4: the queue that a task goes to.
#pragma once

#include "base/hash.hpp"
#include "studies/progression/settings.hpp"

namespace taskdag::progression {

/// `child`: 0 for a task's first successor, 1 for the second, …; in a wavefront the right one and the lower one.
TASKDAG_HD std::uint32_t ring_of_task(Hash hash, std::uint32_t task, std::uint32_t child, std::uint32_t rings) {
  if (hash == Hash::mixed) {
    return static_cast<std::uint32_t>(hash_of_entry(0, static_cast<Index>(task)) % rings);
  }
  return (hash == Hash::b ? task + 3U + 2U * (child % 2U) : task) % rings;
}

}  // namespace taskdag::progression

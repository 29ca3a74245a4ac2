/// \file
/// Listing 4: several queues, each with a lock. A block takes tasks from its own alone, hash1; a task that became ready
/// goes to the queue that hash2 says, each under a lock of its own. So every queue's block must be running.
#pragma once

#include "studies/progression/hash.hpp"
#include "studies/progression/ring.hpp"

namespace taskdag::progression {

template <class Probe>
TASKDAG_TASK void run_multi(Block<Probe>& block) {
  const std::uint32_t rings = block.state.rings;
  Ring<Probe> own(block, block.number % rings);
  run_from(block, own, [&](std::uint32_t task) {
    const Successors list = block.successors_of(task);
    for (std::uint32_t k = list.first; k < list.last; ++k) {
      const std::uint32_t next = block.successor(list, k);
      if (!block.resolve(next)) continue;
      Ring<Probe> ring(block, ring_of_task(block.state.hash, next, block.child(list, k), rings));
      if (!ring.lock()) return false;
      ring.add(next);
      ring.unlock();
    }
    return true;
  });
}

}  // namespace taskdag::progression

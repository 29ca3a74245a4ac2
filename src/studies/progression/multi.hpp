/// \file
/// Listing 4: several queues, each with a lock. A block takes tasks from its own alone, hash1; a task that became ready
/// goes to the queue that hash2 says, each under a lock of its own. So every queue's block must be running.
#pragma once

#include "studies/progression/hash.hpp"
#include "studies/progression/ring.hpp"

namespace taskdag::progression {

template <class Probe>
TASKDAG_TASK void run_multi(Block<Probe>& block) {
  engine::Backoff pause;
  const std::uint32_t rings = block.state.rings;
  Ring<Probe> own(block, block.number % rings);
  while (block.goes_on()) {
    std::uint32_t task = 0;
    const Popped popped = own.pop(task);
    if (popped == Popped::out_of_time) return;
    if (popped == Popped::none) {
      turn(pause, block.state.backoff);
      continue;
    }
    pause.reset();
    block.compute(task);
    const Successors list = block.successors_of(task);
    for (std::uint32_t k = list.first; k < list.last; ++k) {
      const std::uint32_t next = block.successor(list, k);
      if (!block.resolve(next)) continue;
      Ring<Probe> ring(block, ring_of_task(block.state.hash, next, block.child(list, k), rings));
      if (!ring.lock()) return;
      ring.add(next);
      ring.unlock();
    }
    block.count_task();
  }
}

}  // namespace taskdag::progression

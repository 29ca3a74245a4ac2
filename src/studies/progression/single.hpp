/// \file
/// Listing 3: one queue. A block that has run a task appends all that became ready under one lock.
#pragma once

#include "studies/progression/ring.hpp"

namespace taskdag::progression {

/// Resolves what waits for a task and appends what became ready, 32 successors at a time. @returns whether it goes on
template <class Probe>
TASKDAG_TASK bool pass_on_together(Block<Probe>& block, Ring<Probe>& ring, const Successors& list) {
  for (std::uint32_t first = list.first; first < list.last; first += 32U) {
    const std::uint32_t count = list.last - first < 32U ? list.last - first : 32U;
    std::uint32_t ready = 0;
    for (std::uint32_t k = 0; k < count; ++k) {
      if (block.resolve(block.successor(list, first + k))) ready |= 1U << k;
    }
    if (ready == 0) continue;
    if (!ring.lock()) return false;
    for (std::uint32_t k = 0; k < count; ++k) {
      if ((ready >> k & 1U) != 0) ring.add(block.successor(list, first + k));
    }
    ring.unlock();
  }
  return true;
}

template <class Probe>
TASKDAG_TASK void run_single(Block<Probe>& block) {
  Ring<Probe> ring(block, 0);
  run_from(block, ring, [&](std::uint32_t task) { return pass_on_together(block, ring, block.successors_of(task)); });
}

}  // namespace taskdag::progression

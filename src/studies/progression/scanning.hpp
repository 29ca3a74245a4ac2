/// \file
/// Listing 2: no queue. Each block goes through the dependency counts from the first cell on, again and again; a task
/// without open dependencies belongs to the block that gets its lock, which is never freed.
#pragma once

#include "studies/progression/block.hpp"
#include "studies/progression/lock.hpp"

namespace taskdag::progression {

template <class Probe>
TASKDAG_TASK void scan(Block<Probe>& block) {
  engine::Backoff pause;
  while (block.goes_on()) {
    for (std::uint32_t task = 0; task < block.dag.tasks; ++task) {
      if (block.out_of_time()) return;
      engine::AtomicRef<std::uint32_t> remaining(block.state.dependencies[task]);
      block.probe.load();
      if (remaining.load(engine::relaxed) != 0) continue;
      if (!Lock(block.state.locks[task], block.number).try_lock(block.probe)) continue;
      // acquire: what the task's predecessors computed. No operation of the listing.
      if constexpr (Block<Probe>::kComputes) static_cast<void>(remaining.load(engine::acquire));
      block.compute(task);
      block.probe.store();
      remaining.store(1U, engine::relaxed);  // anything but 0
      const Successors list = block.successors_of(task);
      for (std::uint32_t k = list.first; k < list.last; ++k) {
        static_cast<void>(block.resolve(block.successor(list, k)));
      }
      block.count_task();
    }
    turn(pause, false);
  }
}

}  // namespace taskdag::progression

/// \file
/// A run's memory as its blocks see it, and where it lies. No functions: sources for both processors and for the host
/// alone share it.
#pragma once

#include <cstdint>

#include "studies/progression/settings.hpp"

namespace taskdag::progression {

/// dag.hpp, in memory of the backend. Predecessors are there in the form that counts.
struct DagView {
  std::uint32_t tasks;
  std::uint32_t columns;
  const std::uint32_t* predecessor_offsets;
  const std::uint32_t* predecessors;
  const std::uint32_t* successor_offsets;
  const std::uint32_t* successors;
};

/// | what         | written by                                                      | read by                      |
/// |--------------|-----------------------------------------------------------------|------------------------------|
/// | counter      | any block, fetch_add once a task; fetch_or of how a run ended   | all, relaxed: numbers only   |
/// | dependencies | any block, fetch_sub once an edge; scanning: its block, 1       | scanning: all                |
/// | locks        | any block, compare_exchange (lock.hpp); scanning: one a task    | –                            |
/// | sizes, heads | the block that holds the queue's lock                           | the same                     |
/// | items        | the same                                                        | the same                     |
/// | values       | the task's block                                                | blocks of tasks that wait    |
///
/// Values are handed on by the counts: fetch_sub is acq_rel where there are values, so the block that takes a count to
/// 0 has seen what the others wrote before theirs. From there a queue's lock hands them on; scanning reads the count
/// again.
struct State {
  static constexpr std::uint32_t kTimeLimit = 1U << 31U;  ///< bits of the counter, which is then never below `tasks`
  static constexpr std::uint32_t kQueueFull = 1U << 30U;

  std::uint32_t* counter;
  std::uint32_t* dependencies;
  std::uint32_t* locks;  ///< 0: free, else a block's number + 1
  std::uint32_t* sizes;
  std::uint32_t* heads;  ///< of the oldest item, where queues are first in, first out
  std::uint32_t* items;
  std::uint32_t* values;
  std::uint32_t rings;
  std::uint32_t capacity;
  std::uint32_t stride;  ///< words from a queue's lock or size to the next one's
  Hash hash;
  bool fifo;
  bool backoff;
  std::uint64_t limit_ns;
};

}  // namespace taskdag::progression

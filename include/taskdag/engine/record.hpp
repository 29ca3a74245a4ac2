/// \file
/// What probes record. No templates: the same for all programs.
#pragma once

#include <cstdint>

namespace taskdag::engine {

/// Operations of the engine on memory that workers share, summed over a run. The bodies of tasks are not included.
struct OperationCounts {
  std::uint64_t compare_and_swaps = 0;  ///< attempts, failed ones included
  std::uint64_t other_atomics = 0;      ///< fetch_add and the like
  std::uint64_t loads = 0;              ///< of counters, flags and items
  std::uint64_t stores = 0;
};

/// One execute(), times of clock_ns().
struct TraceEvent {
  std::uint64_t created;  ///< when the task became ready: its item entered the queue
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t worker;     ///< GPU: first thread of the team over the block size and grid; host: thread
  std::uint16_t processor;  ///< GPU: multiprocessor; host: thread
  std::uint16_t type;       ///< the type's number in the program
};

}  // namespace taskdag::engine

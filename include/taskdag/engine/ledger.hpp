/// \file
/// How a run knows that it has ended, or never will.
///
/// `total` holds two numbers in one word: pending, in its lower half, the items that were created and have not been
/// executed to the end; waiting, in its upper half, those of them that wait for dependencies. One word, so that one
/// look is a consistent look:
/// - pending = 0: nothing is queued, waits or runs, and only a task could change that. The run has ended.
/// - pending = waiting > 0: nothing is queued or runs, so no task is left to resolve a dependency: a deadlock.
///
/// | when                            | operation on total | before / after                                        |
/// |---------------------------------|--------------------|-------------------------------------------------------|
/// | an item is created              | + 1                | before it is pushed, and the creator is still pending |
/// | an item is created and waits    | + 1, + 2^32        | before its dependencies are added to the count        |
/// | its last dependency is resolved | - 2^32             | after that, before it is pushed                       |
/// | its execute() has returned      | - 1                | in one operation with the children that it holds back |
/// | an idle worker has found it     | + 1                | before it is pushed, and only if pending > waiting    |
///
/// Order: the numbers publish no data (queues and dependencies do), so adding is relaxed. Subtracting is a release and
/// the look an acquire where a run goes on after pending = 0 without the end of a kernel (host threads).
/// `phase_pending` is pending split by phase, for programs with phases.
#pragma once

#include "taskdag/engine/platform.hpp"

TASKDAG_ENGINE_BEGIN

/// Why a run was stopped. The first reason stays.
enum class Stop : std::uint32_t {
  none,
  suspended,       ///< a queue or a storage is above its capacity
  deadlock,        ///< all that is left waits for dependencies
  watchdog,        ///< no task ended for longer than allowed
  broken_promise,  ///< a task created more items than its type's max_children, and a queue was full
  task_failed,     ///< a task called fail()
};

struct Ledger {
  static constexpr int kPhases = 33;  ///< phase p at p + 1, phaseless at 0
  alignas(128) std::uint64_t total;
  alignas(128) std::uint32_t stop;
  std::uint32_t full_type;  ///< number of the task type that the run was suspended for
  std::uint32_t full_code;  ///< 0: its queue is full, 1: its storage
  std::uint32_t stop_type;  ///< number of the task type that caused another stop
  std::uint32_t stop_code;  ///< fail()'s argument; 0 or 1 as above
  alignas(128) std::uint32_t phase_pending[kPhases];
  alignas(128) std::uint64_t executed[32];  ///< by type; written as teams end
  alignas(128) std::uint64_t found[32];     ///< by type: items that idle workers have found
  alignas(128) std::uint64_t turns;         ///< of teams in which tasks ended; counted for the watchdog only
  alignas(128) std::uint64_t gate;          ///< which phase runs, and for whom; see phase_gate.hpp
};

namespace detail {
inline constexpr std::uint64_t kOneWaiting = std::uint64_t{1} << 32U;
TASKDAG_TASK constexpr std::uint32_t pending_of(std::uint64_t total) { return static_cast<std::uint32_t>(total); }
TASKDAG_TASK constexpr std::uint32_t waiting_of(std::uint64_t total) {
  return static_cast<std::uint32_t>(total >> 32U);
}

/// Records a reason, if it is the first; a suspension gives way to others, since a run may go on after it.
TASKDAG_TASK inline void stop_run(Ledger& ledger, Stop reason, int type, std::uint32_t code) {
  std::uint32_t seen = 0;
  // acquire/release: a reader of the reason may read type and code after the run only, so success may be relaxed; the
  // type and code are written by the winner alone.
  AtomicRef<std::uint32_t> stop(ledger.stop);
  while (!stop.compare_exchange_strong(seen, static_cast<std::uint32_t>(reason), relaxed, relaxed)) {
    if (reason == Stop::suspended || seen != static_cast<std::uint32_t>(Stop::suspended)) return;
  }
  (reason == Stop::suspended ? ledger.full_type : ledger.stop_type) = static_cast<std::uint32_t>(type);
  (reason == Stop::suspended ? ledger.full_code : ledger.stop_code) = code;
}
}  // namespace detail

TASKDAG_ENGINE_END

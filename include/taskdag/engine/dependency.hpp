/// \file
/// Individual and grouped dependencies (MHive, chapter 5 and its future work): what an application stores, in memory of
/// the backend, one per task that waits. All members start as zero (a zeroed array is an array of fresh objects).
#pragma once

#include "taskdag/engine/platform.hpp"

TASKDAG_ENGINE_BEGIN

/// What one task still waits for.
///
/// `count`: dependencies declared minus dependencies reduced; reductions may come first, then it is negative. The
/// item is in the waiting storage before its dependencies are added to the count, in one operation: that is the
/// thesis' "+1 against the race" and its removal at once. The one that brings the count to zero moves the task to its
/// queue:
/// | who      | operation                | brought it to zero if    |
/// |----------|--------------------------|--------------------------|
/// | creator  | fetch_add(n), acq_rel    | the old value was -n     |
/// | reducer  | fetch_sub(k), acq_rel    | the old value was k      |
/// acq_rel: the one who gets zero has read from all the others (their writes go with the task to its queue), and the
/// reducer who gets zero sees `place` and the item that the creator wrote. At zero the object is fresh again.
struct Dependency {
  std::int32_t count = 0;
  std::uint32_t place = 0;  ///< where the item waits, in the waiting storage
};

/// What a group of tasks waits for together: one counter for all of them.
///
/// `open_group` declares n dependencies, `reduce_group` resolves them, in any order; tasks join before or after. At
/// zero, once opened, the group is released: what waits is queued, and who joins later is queued at once.
/// `waiting` is a list through the waiting storage: empty (0), a place + 1, or kReleased. Tasks are only pushed, and
/// the list is taken as a whole, once: no ABA. push: compare_exchange release; take: exchange acq_rel.
struct DependencyGroup {
  static constexpr std::uint32_t kReleased = 0xFFFFFFFFU;
  std::int32_t count = 0;
  std::uint32_t waiting = 0;
};

TASKDAG_ENGINE_END

/// \file
/// How the phase changes while a megakernel runs: without the host, and without waiting for a block that has not begun.
///
/// A *party* is a block, on the host a thread. It runs tasks only between enter() and leave(), and only those of the
/// phase that enter() told it. The party that leaves last, when no other is inside, works on the queues alone: its
/// look at the ledger is exact, and it alone names the next phase. Who has left waits for that name. So a party waits
/// only for parties that are inside, that is, resident and at work: grids may be smaller or larger than what fits.
///
/// One word holds who is inside and what runs:
/// | bits     | meaning                                                                                             |
/// |----------|-----------------------------------------------------------------------------------------------------|
/// | 0 to 15  | parties inside                                                                                      |
/// | 16 to 21 | phase + 1                                                                                           |
/// | 22       | over: no phase comes any more                                                                       |
/// | 23 to 43 | turn: counts the names given; who waits, waits for another turn                                     |
/// | 44 to 63 | entries: so that a party which came and went while the last one looked makes the last one's CAS fail |
///
/// | who                        | operation            | order                                                      |
/// |----------------------------|----------------------|------------------------------------------------------------|
/// | enter                      | fetch_add            | acquire: sees all tasks that ended before the phase began  |
/// | leave                      | fetch_sub            | acq_rel: the last one has seen what all others have done   |
/// | the last: names the phase  | compare_exchange     | release; if it fails, a party is inside and leaves later   |
/// | who has left and waits     | load                 | relaxed: it enters next                                    |
///
/// All changes are read-modify-writes, so a release is seen through those that come after it.
#pragma once

#include "taskdag/engine/platform.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {

class PhaseGate {
 public:
  /// The word before the first party enters, phase -1: none, phaseless types only.
  TASKDAG_TASK static constexpr std::uint64_t begin(int phase) {
    return static_cast<std::uint64_t>(phase + 1) << kPhaseAt;
  }
  TASKDAG_TASK static constexpr int phase(std::uint64_t word) {
    return static_cast<int>(word >> kPhaseAt & kPhaseMask) - 1;
  }
  TASKDAG_TASK static constexpr bool over(std::uint64_t word) { return (word & kOver) != 0; }

  /// @returns what is to be done: a phase, or over
  TASKDAG_TASK static std::uint64_t enter(std::uint64_t& word) {
    return AtomicRef<std::uint64_t>(word).fetch_add(kOneEntry + 1U, acquire);
  }

  /// Leaves and waits until the phase that comes next has a name. `entered`: what enter() returned. `next(phase)`:
  /// called while no party is inside; returns whether another phase comes, and writes which. `stopped()`: whether to go
  /// without waiting. @returns whether there may be more to do
  TASKDAG_ENGINE_ANY_SIDE
  template <class Next, class Stopped>
  TASKDAG_TASK static bool leave(std::uint64_t& word, std::uint64_t entered, const Next& next, const Stopped& stopped) {
    AtomicRef<std::uint64_t> gate(word);
    std::uint64_t left = gate.fetch_sub(1U, acq_rel) - 1U;
    if ((left & kInsideMask) == 0) {
      int named = phase(left);
      const bool more = next(named);
      const std::uint64_t turned = ((left & kTurnMask) + kOneTurn) & kTurnMask;
      const std::uint64_t named_word = (left & ~(kTurnMask | kLowMask)) | turned | begin(named) | (more ? 0U : kOver);
      gate.compare_exchange_strong(left, named_word, release, relaxed);
    }
    Backoff backoff;
    while ((gate.load(relaxed) & kTurnMask) == (entered & kTurnMask)) {
      if (stopped()) return false;
      backoff.turn();
    }
    return true;
  }

 private:
  static constexpr unsigned kPhaseAt = 16;
  static constexpr std::uint64_t kInsideMask = 0xFFFFU;
  static constexpr std::uint64_t kPhaseMask = 0x3FU;
  static constexpr std::uint64_t kOver = std::uint64_t{1} << 22U;
  static constexpr std::uint64_t kOneTurn = std::uint64_t{1} << 23U;
  static constexpr std::uint64_t kOneEntry = std::uint64_t{1} << 44U;
  static constexpr std::uint64_t kLowMask = kOneTurn - 1U;
  static constexpr std::uint64_t kTurnMask = kOneEntry - kOneTurn;
};

}  // namespace detail

TASKDAG_ENGINE_END

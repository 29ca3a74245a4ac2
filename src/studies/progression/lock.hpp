/// \file
/// Listing 1: a lock by compare-and-swap, free or tagged with its owner.
///
/// lock: compare_exchange free → tag, acquire: sees what the last owner left; again at once where it fails. unlock:
/// compare_exchange tag → free, release. The paper has no orders; they cost fences, no operations.
#pragma once

#include "studies/progression/patience.hpp"

namespace taskdag::progression {

class Lock {
 public:
  TASKDAG_TASK Lock(std::uint32_t& word, std::uint32_t block) : word_(word), tag_(block + 1U) {}

  template <class Probe>
  [[nodiscard]] TASKDAG_TASK bool try_lock(Probe& probe) const {
    std::uint32_t expected = 0;
    probe.cas();
    return engine::AtomicRef<std::uint32_t>(word_).compare_exchange_strong(expected, tag_, engine::acquire,
                                                                           engine::relaxed);
  }
  /// @returns false where the time is up
  template <class Probe>
  [[nodiscard]] TASKDAG_TASK bool lock(bool backoff, Patience& patience, Probe& probe) const {
    engine::Backoff pause;
    while (!try_lock(probe)) {
      if (patience.over()) return false;
      turn(pause, backoff);
    }
    return true;
  }
  template <class Probe>
  TASKDAG_TASK void unlock(Probe& probe) const {
    std::uint32_t expected = tag_;
    probe.cas();
    engine::AtomicRef<std::uint32_t>(word_).compare_exchange_strong(expected, 0U, engine::release, engine::relaxed);
  }

 private:
  std::uint32_t& word_;
  std::uint32_t tag_;
};

}  // namespace taskdag::progression

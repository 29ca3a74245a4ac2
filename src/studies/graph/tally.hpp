/// \file
/// What a run has done: the amount of work, and when.
#pragma once

#include <cstdint>

#include "taskdag/engine/platform.hpp"

namespace taskdag::graph {

/// In memory of the backend, zeroed before a run. Additions are relaxed: read after the run.
struct Tally {
  static constexpr int kBins = 4096;
  std::uint64_t work;
  std::uint64_t start;  ///< clock of the first addition with a timeline; 0: none yet
  std::uint32_t bins[kBins];
};

/// A tally as tasks see it.
struct TallyRef {
  Tally* tally = nullptr;
  std::uint32_t bin_ns = 0;  ///< width of a bin of the timeline; 0: no timeline

  /// By one lane of a worker.
  TASKDAG_TASK void add(std::uint32_t amount) const {
    if (amount == 0) return;
    engine::AtomicRef<std::uint64_t>(tally->work).fetch_add(amount, engine::relaxed);
    if (bin_ns == 0) return;
    const std::uint64_t now = engine::clock_ns();
    std::uint64_t start = 0;
    if (engine::AtomicRef<std::uint64_t>(tally->start)
            .compare_exchange_strong(start, now, engine::relaxed, engine::relaxed)) {
      start = now;
    }
    const std::uint64_t bin = now > start ? (now - start) / bin_ns : 0;
    const std::uint64_t last = Tally::kBins - 1;
    engine::AtomicRef<std::uint32_t>(tally->bins[bin < last ? bin : last]).fetch_add(amount, engine::relaxed);
  }
};

}  // namespace taskdag::graph

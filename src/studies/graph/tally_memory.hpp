/// \file
/// The memory of a tally, and what a run is told of it.
#pragma once

#include <vector>

#include "studies/graph/algorithm.hpp"
#include "studies/graph/tally.hpp"
#include "taskdag/engine/memory.hpp"

namespace taskdag::graph {

class TallyMemory {
 public:
  explicit TallyMemory(const Context& context) : memory_(context, 1) {}
  TallyRef clear(std::uint32_t bin_ns) {
    memory_.clear();
    return {memory_.data(), bin_ns};
  }
  void read(Run& run, std::uint32_t bin_ns) const {
    const std::vector<Tally> tally = memory_.download();
    run.work = tally[0].work;
    if (bin_ns == 0) return;
    int used = Tally::kBins;
    while (used > 0 && tally[0].bins[used - 1] == 0) --used;
    run.timeline.assign(tally[0].bins, tally[0].bins + used);
  }

 private:
  engine::Array<Tally> memory_;
};

}  // namespace taskdag::graph

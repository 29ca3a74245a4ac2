/// \file
/// Numbers that GPUs of one host hand each other without the host.
#pragma once

#include <cstdint>

#include "taskdag/rank_group.hpp"

namespace taskdag::benchmark {

enum class Pattern {
  one_way,    ///< rank 0 to the last rank, which answers: half of a round
  among_all,  ///< each to each, as a sum over all ranks is made
};
const char* to_string(Pattern pattern);

/// Of one pattern with so many numbers a message, by one thread block on each GPU.
struct HopTime {
  double us = 0.0;    ///< median of repeated launches, of one hop or one exchange
  bool equal = true;  ///< whether all numbers came, each the one that was sent
};

/// Collective; the caller's device is current. @throws Unsupported where GPUs do not reach each other's memory
HopTime measure_hops(const RankGroup& ranks, int device, Pattern pattern, std::uint32_t numbers);

}  // namespace taskdag::benchmark

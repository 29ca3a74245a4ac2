/// \file
/// Hashes of patterns.
#pragma once

#include <cstdint>

#include "base/macros.hpp"
#include "taskdag/csr.hpp"

namespace taskdag {

/// Hash of an entry's position. The sum over the entries of a pattern is a hash of the pattern, in whatever order they
/// are added. Source: the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
TASKDAG_HD std::uint64_t hash_of_entry(Index row, Index column) {
  std::uint64_t bits = (static_cast<std::uint64_t>(row) << 32U) | static_cast<std::uint32_t>(column);
  bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBULL;
  return bits ^ (bits >> 31U);
}

}  // namespace taskdag

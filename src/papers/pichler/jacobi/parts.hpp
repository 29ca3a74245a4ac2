/// \file
/// Which parts of a matrix wait for which, for Jacobi sweeps by tasks (MHive, section 7.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/jacobi/parts.hpp"

namespace taskdag::kernels {

/// Parts, and which of them wait for which.
struct JacobiParts {
  /// pattern: square, columns in range, in host memory; the rest as in cut_into_parts().
  JacobiParts(const CsrPattern& pattern, Index part_entries, Index long_row);

  std::vector<JacobiPart> part;
  /// Which parts a part has to wait for: those whose rows are columns of its own, and those that read its rows, since
  /// it writes over what they read. Itself always; of a long row the first piece stands for the row.
  std::vector<std::uint32_t> need_begin;  ///< parts + 1. No needs at all: every part
  std::vector<Index> need;                ///< ascending
  bool some_need_all = false;
  std::uint32_t reach = 0;  ///< part p needs none above p + reach

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(part.size()); }
  [[nodiscard]] bool needs_all(std::uint32_t p) const { return need_begin[p] == need_begin[p + 1]; }
};

/// Parts that need more parts than this need all.
inline constexpr std::size_t kMostNeeds = 64;

/// A task of a program of several sweeps; part kEndOfSweep: what is done between two of them.
struct JacobiTask {
  std::uint32_t part;
  std::uint32_t sweep;
};
inline constexpr std::uint32_t kEndOfSweep = 0xFFFFFFFFU;

/// All parts of all sweeps in an order in which each follows what it needs, and the same part of neighbouring sweeps
/// are `skew` tasks of a sweep apart, so that values are still near when they are used again (skew >= the number of
/// parts: sweep by sweep). @pre skew > parts.reach, and skew >= the number of parts where some need all
std::vector<JacobiTask> skewed_order(const JacobiParts& parts, std::uint32_t sweeps, std::uint32_t skew);

}  // namespace taskdag::kernels

/// \file
/// A matrix cut into parts of about as many entries each (MHive, algorithm 7.4), for Jacobi sweeps by tasks. Rows that
/// alone have more entries are cut into pieces, which the thesis left open.
#pragma once

#include <cstdint>
#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// What one task of a sweep does: `rows` whole rows from `row` on, or a piece of `row`: then the row's pieces are the
/// parts first_piece, …, first_piece + pieces − 1. Whichever piece ends last finishes the row; then the first piece
/// counts as done.
struct JacobiPart {
  Index row;
  Index rows;
  Offset begin;  ///< entries of the matrix
  Offset end;
  Index first_piece;
  Index pieces;  ///< 0: whole rows
};

/// row_offsets: in host memory. part_entries: entries of a part, at most, but for a whole row that has more. long_row:
/// rows with more entries are cut into pieces of part_entries; 0: none is.
std::vector<JacobiPart> cut_into_parts(const Offset* row_offsets, Index rows, Index part_entries, Index long_row);

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

/// \file
/// A square pattern as its strict triangles and its diagonal, in which a factorisation on host threads is worked on:
/// its sweeps read the triangles where they stand.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag {

/// Both strict triangles, each a pattern of its own, and a full diagonal. "Place" is an entry's position in an array
/// that holds the values of the lower triangle, then those of the upper one, then the diagonal.
struct SplitPattern {
  Index rows = 0;
  std::vector<Offset> lower_offsets;
  std::vector<Offset> upper_offsets;
  std::unique_ptr<Index[]> columns;  ///< of both triangles, by place

  [[nodiscard]] Offset lower_entries() const { return rows == 0 ? 0 : lower_offsets.back(); }
  [[nodiscard]] Offset upper_entries() const { return rows == 0 ? 0 : upper_offsets.back(); }
  /// With the diagonal.
  [[nodiscard]] Offset entries() const { return lower_entries() + upper_entries() + rows; }
  [[nodiscard]] CsrPattern lower() const { return {rows, rows, lower_offsets.data(), columns.get()}; }
  [[nodiscard]] CsrPattern upper() const { return {rows, rows, upper_offsets.data(), columns.get() + lower_entries()}; }
  [[nodiscard]] std::int64_t bytes() const;
};

/// Which entries beside the diagonal are taken.
enum class SplitParts { both, upper };

/// Splits a square pattern. `diagonal`: of diagonal_entries().
SplitPattern split(const CsrPattern& pattern, std::span<const Offset> diagonal, SplitParts parts);

/// Puts the parts together again. `values`: by place.
CsrMatrix join(const SplitPattern& pattern, const double* values);

}  // namespace taskdag

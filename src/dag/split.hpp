/// \file
/// A square pattern as its strict triangles and its diagonal, in which a factorisation on host threads is worked on:
/// its sweeps read the triangles where they stand.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "dag/transpose.hpp"
#include "taskdag/csr.hpp"

namespace taskdag {

/// Both strict triangles, each a pattern of its own, and a full diagonal. An entry's "position" is that in an array
/// that holds the values of the lower triangle, then those of the upper one, then the diagonal.
struct SplitPattern {
  Index rows = 0;
  std::unique_ptr<Offset[]> offsets;  ///< rows + 1 of the lower triangle, then as many of the upper one
  std::unique_ptr<Index[]> columns;   ///< of both triangles, by position

  [[nodiscard]] const Offset* lower_offsets() const { return offsets.get(); }
  [[nodiscard]] const Offset* upper_offsets() const { return offsets.get() + rows + 1; }
  [[nodiscard]] Offset lower_entries() const { return rows == 0 ? 0 : lower_offsets()[rows]; }
  [[nodiscard]] Offset upper_entries() const { return rows == 0 ? 0 : upper_offsets()[rows]; }
  /// With the diagonal.
  [[nodiscard]] Offset entries() const { return lower_entries() + upper_entries() + rows; }
  [[nodiscard]] CsrPattern lower() const { return {rows, rows, lower_offsets(), columns.get()}; }
  [[nodiscard]] CsrPattern upper() const { return {rows, rows, upper_offsets(), columns.get() + lower_entries()}; }
  [[nodiscard]] std::int64_t bytes() const;
};

/// Splits a square pattern. @throws InvalidInput as refuse_missing_diagonal()
SplitPattern split(const CsrPattern& pattern, const RowNames& names = {});

/// The same for a pattern whose triangles are each other's transposes; nothing for another one.
std::optional<SplitPattern> split_symmetric(const CsrPattern& pattern);

/// The upper triangle of a square pattern, and its transpose as the lower one. `diagonal`: of
/// diagonal_entries().
SplitPattern mirror_upper(const CsrPattern& pattern, std::span<const Offset> diagonal);

/// Puts triangles and diagonal together again. `lower`, null: the lower triangle is left out.
CsrMatrix join(const SplitPattern& pattern, const double* lower, const double* upper, const double* diagonal);

}  // namespace taskdag

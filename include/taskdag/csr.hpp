/// \file
/// Compressed sparse row matrices: non-owning views, an owner, and validation.
///
/// Conventions used everywhere in the library: indices are 0-based; row i's entries are
/// [row_offsets[i], row_offsets[i+1]); columns ascend strictly inside a row; values are double.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "taskdag/export.hpp"

namespace taskdag {

/// Row or column number.
using Index = std::int32_t;
/// Position of an entry. 32 bits: a matrix with 2^31 entries or more is refused where it enters the library.
using Offset = std::int32_t;

/// A sparsity pattern in memory that it does not own (host memory unless a parameter says otherwise).
struct CsrPattern {
  Index rows = 0;
  Index cols = 0;
  const Offset* row_offsets = nullptr;  ///< rows + 1 ascending offsets, the first one 0
  const Index* col_indices = nullptr;   ///< one column per entry

  /// Number of entries. @pre row_offsets is readable on the host.
  [[nodiscard]] Offset entries() const { return rows == 0 ? 0 : row_offsets[rows]; }
};

/// A pattern with values, in memory that it does not own.
struct CsrView {
  CsrPattern pattern;
  const double* values = nullptr;  ///< one value per entry
};

/// Owns a CSR matrix in host memory.
struct CsrMatrix {
  Index rows = 0;
  Index cols = 0;
  std::vector<Offset> row_offsets = {0};
  std::vector<Index> col_indices;
  std::vector<double> values;

  [[nodiscard]] Offset entries() const { return row_offsets.back(); }
  [[nodiscard]] CsrPattern pattern() const { return {rows, cols, row_offsets.data(), col_indices.data()}; }
  [[nodiscard]] CsrView view() const { return {pattern(), values.data()}; }
};

/// What validate() demands beyond ascending offsets and columns inside the range.
struct CsrRequirements {
  bool square = false;
  bool diagonal = false;  ///< every row holds an entry on the diagonal
};

/// Checks a host pattern: offsets start at 0 and ascend, columns are in range, ascend and do not repeat, and what
/// `requirements` adds. Cost: one pass over the entries.
/// @throws InvalidInput naming the first offending row
TASKDAG_API void validate(const CsrPattern& pattern, CsrRequirements requirements = {});

/// y = A x on the host. x: cols values, y: rows values, not aliased. Serial.
TASKDAG_API void multiply(const CsrView& a, std::span<const double> x, std::span<double> y);

/// Converts a count to a 32-bit offset.
/// @throws InvalidInput "<what> has N entries, more than 32-bit offsets can address"
TASKDAG_API Offset checked_offset(std::int64_t count, const std::string& what);

}  // namespace taskdag

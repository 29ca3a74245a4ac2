#include "dag/split.hpp"

#include "base/index.hpp"

namespace taskdag {

std::int64_t SplitPattern::bytes() const {
  return static_cast<std::int64_t>(sizeof(Offset) * (lower_offsets.size() + upper_offsets.size())) +
         static_cast<std::int64_t>(sizeof(Index)) * (lower_entries() + upper_entries());
}

SplitPattern split(const CsrPattern& pattern, std::span<const Offset> diagonal, SplitParts parts) {
  SplitPattern result;
  result.rows = pattern.rows;
  const std::size_t rows = at(pattern.rows);
  result.lower_offsets.reserve(rows + 1);
  result.upper_offsets.reserve(rows + 1);
  Offset lower = 0;
  Offset upper = 0;
  result.lower_offsets.push_back(0);
  result.upper_offsets.push_back(0);
  for (std::size_t i = 0; i < rows; ++i) {
    if (parts == SplitParts::both) lower += diagonal[i] - pattern.row_offsets[i];
    upper += pattern.row_offsets[i + 1] - diagonal[i] - 1;
    result.lower_offsets.push_back(lower);
    result.upper_offsets.push_back(upper);
  }
  result.columns = std::make_unique_for_overwrite<Index[]>(at(lower) + at(upper));
  Index* below = result.columns.get();
  Index* above = below + lower;
  // Entry by entry: most rows are too short for a call of memmove().
  for (std::size_t i = 0; i < rows; ++i) {
    const Offset middle = diagonal[i];
    const Offset end = pattern.row_offsets[i + 1];
    for (Offset e = parts == SplitParts::both ? pattern.row_offsets[i] : middle; e < end; ++e) {
      const Index column = pattern.col_indices[e];
      if (e < middle) {
        *below++ = column;
      } else if (e > middle) {
        *above++ = column;
      }
    }
  }
  return result;
}

CsrMatrix join(const SplitPattern& pattern, const double* values) {
  CsrMatrix matrix;
  matrix.rows = matrix.cols = pattern.rows;
  matrix.col_indices.reserve(at(pattern.entries()));
  matrix.values.reserve(at(pattern.entries()));
  const double* const diagonal = values + pattern.lower_entries() + pattern.upper_entries();
  const auto append = [&](Offset first, Offset last) {
    matrix.col_indices.insert(matrix.col_indices.end(), pattern.columns.get() + first, pattern.columns.get() + last);
    matrix.values.insert(matrix.values.end(), values + first, values + last);
  };
  for (std::size_t i = 0; i < at(pattern.rows); ++i) {
    append(pattern.lower_offsets[i], pattern.lower_offsets[i + 1]);
    matrix.col_indices.push_back(static_cast<Index>(i));
    matrix.values.push_back(diagonal[i]);
    append(pattern.lower_entries() + pattern.upper_offsets[i], pattern.lower_entries() + pattern.upper_offsets[i + 1]);
    matrix.row_offsets.push_back(static_cast<Offset>(matrix.col_indices.size()));
  }
  return matrix;
}

}  // namespace taskdag

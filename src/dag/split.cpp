#include "dag/split.hpp"

#include <algorithm>

#include "base/index.hpp"

namespace taskdag {

namespace {

SplitPattern with_offsets(Index rows) {
  SplitPattern result;
  result.rows = rows;
  result.offsets = std::make_unique_for_overwrite<Offset[]>(2 * (at(rows) + 1));
  return result;
}

/// Finds the offsets of both triangles.
SplitPattern split_offsets(const CsrPattern& pattern, const RowNames& names = {}) {
  SplitPattern result = with_offsets(pattern.rows);
  Offset* const lower = result.offsets.get();
  Offset* const upper = lower + pattern.rows + 1;
  lower[0] = upper[0] = 0;
  Offset below = 0;
  for (Index i = 0; i < pattern.rows; ++i) {
    const Offset begin = pattern.row_offsets[i];
    const Offset end = pattern.row_offsets[i + 1];
    // Most rows have as many entries before the diagonal as the one above.
    if (begin + below >= end || pattern.col_indices[begin + below] != i) {
      below = diagonal_entry(pattern, i, names) - begin;
    }
    lower[i + 1] = lower[i] + below;
    upper[i + 1] = end - lower[i + 1] - (i + 1);
  }
  return result;
}

/// Copies the columns row by row. meets(i, column): of each entry of the lower triangle, once the rows above have been
/// copied; false ends the copy.
template <class Meets>
bool copy_columns(const CsrPattern& pattern, SplitPattern& result, const Meets& meets) {
  const Offset* const lower = result.lower_offsets();
  Index* to_lower = result.columns.get();
  Index* to_upper = to_lower + result.lower_entries();
  const Index* from = pattern.col_indices;
  for (Index i = 0; i < pattern.rows; ++i) {
    const Index* const diagonal = from + (lower[i + 1] - lower[i]);
    const Index* const end = pattern.col_indices + pattern.row_offsets[i + 1];
    for (; from != diagonal; ++from) {
      *to_lower++ = *from;
      if (!meets(i, *from)) return false;
    }
    for (++from; from != end; ++from) *to_upper++ = *from;
  }
  return true;
}

}  // namespace

std::int64_t SplitPattern::bytes() const {
  return static_cast<std::int64_t>(sizeof(Offset)) * 2 * (std::int64_t{rows} + 1) +
         static_cast<std::int64_t>(sizeof(Index)) * (lower_entries() + upper_entries());
}

SplitPattern split(const CsrPattern& pattern, const RowNames& names) {
  SplitPattern result = split_offsets(pattern, names);
  result.columns = std::make_unique_for_overwrite<Index[]>(at(result.lower_entries()) + at(result.upper_entries()));
  copy_columns(pattern, result, [](Index, Index) { return true; });
  return result;
}

std::optional<SplitPattern> split_symmetric(const CsrPattern& pattern) {
  SplitPattern result = split_offsets(pattern);
  if (result.lower_entries() != result.upper_entries()) return std::nullopt;
  result.columns = std::make_unique_for_overwrite<Index[]>(2 * at(result.lower_entries()));
  // Row i of the lower triangle has the rows above that have column i as the next one. Where a row begins is moved to
  // its end meanwhile, and so becomes where the next one begins.
  Offset* const upper = result.offsets.get() + pattern.rows + 1;
  for (Index i = pattern.rows; i > 0; --i) upper[i] = upper[i - 1];
  const Index* const columns = result.columns.get() + result.lower_entries();
  const auto meets = [&](Index i, Index above) {
    const Offset next = upper[above + 1]++;
    return next < upper[i + 1] && columns[next] == i;
  };
  if (!copy_columns(pattern, result, meets)) return std::nullopt;
  // A row that ran into the one below it has been taken for a longer one.
  const Offset* const lower = result.lower_offsets();
  bool right = true;
  for (Index i = 1; i <= pattern.rows; ++i) right &= upper[i] == pattern.row_offsets[i] - lower[i] - i;
  if (!right) return std::nullopt;
  return result;
}

SplitPattern mirror_upper(const CsrPattern& pattern, std::span<const Offset> diagonal) {
  SplitPattern result = with_offsets(pattern.rows);
  Offset* const lower = result.offsets.get();
  Offset* const upper = lower + pattern.rows + 1;
  upper[0] = 0;
  for (Index i = 0; i < pattern.rows; ++i) {
    upper[i + 1] = upper[i] + pattern.row_offsets[i + 1] - diagonal[at(i)] - 1;
  }
  std::fill_n(lower, at(pattern.rows) + 1, 0);
  result.columns = std::make_unique_for_overwrite<Index[]>(2 * at(upper[pattern.rows]));
  Index* const below = result.columns.get();
  Index* const above = below + upper[pattern.rows];
  Index* to = above;
  for (Index i = 0; i < pattern.rows; ++i) {
    for (Offset e = diagonal[at(i)] + 1; e < pattern.row_offsets[i + 1]; ++e) {
      const Index column = pattern.col_indices[e];
      *to++ = column;
      ++lower[column + 1];
    }
  }
  // Where a row begins, which its entries move to its end.
  Offset begin = 0;
  for (Index i = 0; i < pattern.rows; ++i) {
    const Offset count = lower[i + 1];
    lower[i + 1] = begin;
    begin += count;
  }
  for (Index i = 0; i < pattern.rows; ++i) {
    for (Offset e = upper[i]; e < upper[i + 1]; ++e) below[lower[above[e] + 1]++] = i;
  }
  return result;
}

CsrMatrix join(const SplitPattern& pattern, const double* lower, const double* upper, const double* diagonal) {
  CsrMatrix matrix;
  matrix.rows = matrix.cols = pattern.rows;
  const Offset entries = pattern.entries() - (lower == nullptr ? pattern.lower_entries() : 0);
  matrix.col_indices.reserve(at(entries));
  matrix.values.reserve(at(entries));
  const auto append = [&](const CsrPattern& triangle, Index i, const double* values) {
    const Offset first = triangle.row_offsets[i];
    const Offset last = triangle.row_offsets[i + 1];
    matrix.col_indices.insert(matrix.col_indices.end(), triangle.col_indices + first, triangle.col_indices + last);
    matrix.values.insert(matrix.values.end(), values + first, values + last);
  };
  for (Index i = 0; i < pattern.rows; ++i) {
    if (lower != nullptr) append(pattern.lower(), i, lower);
    matrix.col_indices.push_back(i);
    matrix.values.push_back(diagonal[i]);
    append(pattern.upper(), i, upper);
    matrix.row_offsets.push_back(static_cast<Offset>(matrix.col_indices.size()));
  }
  return matrix;
}

}  // namespace taskdag

/// \file
/// Patterns derived from patterns on the host, with the way back to the entries of the original.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/missing_diagonal.hpp"
#include "taskdag/csr.hpp"

namespace taskdag {

/// A pattern that owns its arrays; source_entry[e] is the original's entry that stands at entry e.
struct MappedPattern {
  Index rows = 0;
  Index cols = 0;
  std::vector<Offset> row_offsets;
  std::vector<Index> col_indices;
  std::vector<Offset> source_entry;

  [[nodiscard]] CsrPattern view() const { return {rows, cols, row_offsets.data(), col_indices.data()}; }
};

/// The transposed pattern, columns ascending.
using Transposed = MappedPattern;
Transposed transpose(const CsrPattern& pattern);

/// B(i, j) = A(row_order[i], col_order[j]), columns ascending; an empty order is the natural one.
/// @pre the orders are permutations of the rows and of the columns
MappedPattern permute_pattern(const CsrPattern& pattern, std::span<const Index> row_order,
                              std::span<const Index> col_order);

/// The entries with column >= row of a square pattern; each row starts with its diagonal entry if it has one.
MappedPattern upper_triangle(const CsrPattern& pattern);

/// The position of the row's diagonal entry. Most rows are short, and most patterns regular: then looking at each entry
/// is faster than std::lower_bound().
/// @throws InvalidInput as refuse_missing_diagonal()
inline Offset diagonal_entry(const CsrPattern& pattern, Index row, const RowNames& names = {}) {
  constexpr Offset kShort = 16;
  const Index* const columns = pattern.col_indices;
  Offset e = pattern.row_offsets[row];
  const Offset end = pattern.row_offsets[row + 1];
  if (end - e > kShort) {
    e = static_cast<Offset>(std::lower_bound(columns + e, columns + end, row) - columns);
  } else {
    while (e != end && columns[e] < row) ++e;
  }
  if (e == end || columns[e] != row) refuse_missing_diagonal(row, names);
  return e;
}

/// The position of each row's diagonal entry.
/// @throws InvalidInput as refuse_missing_diagonal()
std::vector<Offset> diagonal_entries(const CsrPattern& pattern, const RowNames& names = {});

}  // namespace taskdag

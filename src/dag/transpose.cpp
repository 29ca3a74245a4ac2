#include "dag/transpose.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace taskdag {

Transposed transpose(const CsrPattern& pattern) {
  const auto entries = static_cast<std::size_t>(pattern.entries());
  Transposed result{pattern.cols, pattern.rows, std::vector<Offset>(static_cast<std::size_t>(pattern.cols) + 1, 0),
                    std::vector<Index>(entries), std::vector<Offset>(entries)};
  for (std::size_t e = 0; e < entries; ++e) ++result.row_offsets[static_cast<std::size_t>(pattern.col_indices[e]) + 1];
  std::partial_sum(result.row_offsets.begin(), result.row_offsets.end(), result.row_offsets.begin());

  std::vector<Offset> next(result.row_offsets);
  for (Index row = 0; row < pattern.rows; ++row) {
    for (Offset e = pattern.row_offsets[row]; e < pattern.row_offsets[row + 1]; ++e) {
      const auto target = static_cast<std::size_t>(next[static_cast<std::size_t>(pattern.col_indices[e])]++);
      result.col_indices[target] = row;
      result.source_entry[target] = e;
    }
  }
  return result;
}

MappedPattern permute_pattern(const CsrPattern& pattern, std::span<const Index> row_order,
                              std::span<const Index> col_order) {
  const auto rows = static_cast<std::size_t>(pattern.rows);
  const auto entries = static_cast<std::size_t>(pattern.entries());
  std::vector<Index> new_column(col_order.size());
  for (std::size_t j = 0; j < col_order.size(); ++j) {
    new_column[static_cast<std::size_t>(col_order[j])] = static_cast<Index>(j);
  }

  MappedPattern result{pattern.rows, pattern.cols, std::vector<Offset>(rows + 1, 0), std::vector<Index>(entries),
                       std::vector<Offset>(entries)};
  Offset fill = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const Index row = row_order.empty() ? static_cast<Index>(i) : row_order[i];
    const Offset first = pattern.row_offsets[row];
    const Offset count = pattern.row_offsets[row + 1] - first;
    const auto sources = result.source_entry.begin() + fill;
    std::iota(sources, sources + count, first);
    const auto column = [&](Offset e) {
      const Index old = pattern.col_indices[e];
      return col_order.empty() ? old : new_column[static_cast<std::size_t>(old)];
    };
    if (!col_order.empty()) {
      std::sort(sources, sources + count, [&](Offset a, Offset b) { return column(a) < column(b); });
    }
    std::transform(sources, sources + count, result.col_indices.begin() + fill, column);
    fill += count;
    result.row_offsets[i + 1] = fill;
  }
  return result;
}

MappedPattern upper_triangle(const CsrPattern& pattern) {
  MappedPattern result{
      pattern.rows, pattern.cols, std::vector<Offset>(static_cast<std::size_t>(pattern.rows) + 1, 0), {}, {}};
  for (Index row = 0; row < pattern.rows; ++row) {
    const Index* const end = pattern.col_indices + pattern.row_offsets[row + 1];
    const Index* const begin = std::lower_bound(pattern.col_indices + pattern.row_offsets[row], end, row);
    result.col_indices.insert(result.col_indices.end(), begin, end);
    for (const Index* column = begin; column != end; ++column) {
      result.source_entry.push_back(static_cast<Offset>(column - pattern.col_indices));
    }
    result.row_offsets[static_cast<std::size_t>(row) + 1] = static_cast<Offset>(result.col_indices.size());
  }
  return result;
}

std::vector<Offset> diagonal_entries(const CsrPattern& pattern, const RowNames& names) {
  std::vector<Offset> diagonal(static_cast<std::size_t>(pattern.rows));
  for (Index row = 0; row < pattern.rows; ++row) {
    diagonal[static_cast<std::size_t>(row)] = diagonal_entry(pattern, row, names);
  }
  return diagonal;
}

}  // namespace taskdag

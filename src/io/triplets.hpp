/// \file
/// Entries in the order in which a file gives them, and their conversion to CSR.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::input {

/// A matrix as a list of entries in any order, repetitions included. Value: double, std::complex<double>.
template <class Value>
struct Triplets {
  Index rows = 0;
  Index cols = 0;
  std::vector<Index> row;
  std::vector<Index> column;
  std::vector<Value> value;
  bool row_major = true;  ///< entries ascend strictly by row, then column: they are CSR but for the offsets

  /// At most `count` entries will come; a mirrored one counts.
  void reserve(std::int64_t count) {
    row.reserve(static_cast<std::size_t>(count));
    column.reserve(static_cast<std::size_t>(count));
    value.reserve(static_cast<std::size_t>(count));
  }

  void add(Index i, Index j, Value v) {
    if (!row.empty()) row_major = row_major && (row.back() < i || (row.back() == i && column.back() < j));
    row.push_back(i);
    column.push_back(j);
    value.push_back(v);
  }
};

/// Sorts each row by column, keeping the order of equal columns, and sums these. Rows in order cost one pass.
template <class Matrix>
void sort_rows_and_merge(Matrix& a) {
  using Value = typename decltype(Matrix::values)::value_type;
  Index* column = a.col_indices.data();
  Value* value = a.values.data();
  Offset* offset = a.row_offsets.data();
  std::vector<std::pair<Index, Value>> sorted;
  Offset kept = 0;
  Offset begin = 0;
  for (Index i = 0; i < a.rows; ++i) {
    const Offset end = offset[i + 1];
    if (!std::is_sorted(column + begin, column + end)) {
      sorted.clear();
      for (Offset e = begin; e < end; ++e) sorted.emplace_back(column[e], value[e]);
      std::stable_sort(sorted.begin(), sorted.end(),
                       [](const auto& left, const auto& right) { return left.first < right.first; });
      Offset e = begin;
      for (const auto& [j, v] : sorted) {
        column[e] = j;
        value[e++] = v;
      }
    }
    const Offset row_begin = kept;
    for (Offset e = begin; e < end; ++e) {
      if (kept > row_begin && column[kept - 1] == column[e]) {
        value[kept - 1] += value[e];
      } else {
        column[kept] = column[e];
        value[kept++] = value[e];
      }
    }
    offset[i + 1] = kept;
    begin = end;
  }
  a.col_indices.resize(static_cast<std::size_t>(kept));
  a.values.resize(static_cast<std::size_t>(kept));
}

/// Counting sort by row, then by column inside the rows; repeated entries are summed in their order.
/// Matrix: CsrMatrix, ComplexMatrix.
/// @pre the number of entries fits an Offset
template <class Matrix, class Value>
Matrix to_csr(Triplets<Value>&& triplets) {
  Matrix a;
  a.rows = triplets.rows;
  a.cols = triplets.cols;
  a.row_offsets.assign(static_cast<std::size_t>(a.rows) + 1, 0);
  Offset* offset = a.row_offsets.data();
  for (const Index i : triplets.row) ++offset[i + 1];
  for (Index i = 0; i < a.rows; ++i) offset[i + 1] += offset[i];
  if (triplets.row_major) {
    a.col_indices = std::move(triplets.column);
    a.values = std::move(triplets.value);
    return a;
  }
  const std::size_t entries = triplets.row.size();
  a.col_indices.resize(entries);
  a.values.resize(entries);
  std::vector<Offset> next_of_row(a.row_offsets);
  Offset* next = next_of_row.data();
  for (std::size_t t = 0; t < entries; ++t) {
    const Offset e = next[triplets.row[t]]++;
    a.col_indices.data()[e] = triplets.column[t];
    a.values.data()[e] = triplets.value[t];
  }
  sort_rows_and_merge(a);
  return a;
}

}  // namespace taskdag::input

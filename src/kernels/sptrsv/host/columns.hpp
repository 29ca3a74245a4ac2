/// \file
/// Rows of triangular sweeps over several right-hand sides on host threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/handover.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// Columns that a pass over a triangle on host threads takes at most: a row of so many doubles is a cache line.
inline constexpr Index kHostColumns = 8;

/// A row of right-hand sides or results, Width columns.
template <int Width>
struct ColumnValues {
  double at[std::size_t{Width}];
};

/// Row i of vectors that are stored by rows of Width.
template <int Width, class T>
T* row_of(T* x, Index i) {
  return x + std::size_t{Width} * static_cast<std::size_t>(i);
}

/// difference[k] − Σ value · x[column][k] for each of Width columns, x by rows of Width. Every column's operations are
/// those of subtract_row(), in its order, so that a column has the bits of a single solve. Four columns at a time:
/// their four sums fit in the registers of any processor. `Step`: from an entry to the next, 1 or −1.
template <int Width, int Step = 1, class Value>
void subtract_rows(ColumnValues<Width>& difference, const Index* column, const Value* value, Offset count,
                   const double* x) {
  constexpr int kTogether = std::min(Width, 4);
  for (int first = 0; first < Width; first += kTogether) {
    double* const result = difference.at + first;
    Offset e = 0;
    if (count > 8) {
      double sums[4][std::size_t{kTogether}] = {};
      do {
        for (int k = 0; k < 4; ++k) {
          const double* const operand = row_of<Width>(x, column[std::ptrdiff_t{e + k} * Step]) + first;
          for (int c = 0; c < kTogether; ++c) sums[k][c] += double{value[std::ptrdiff_t{e + k} * Step]} * operand[c];
        }
        e += 4;
      } while (count - e > 4);
      for (int c = 0; c < kTogether; ++c) result[c] -= (sums[0][c] + sums[1][c]) + (sums[2][c] + sums[3][c]);
    }
    for (; e < count; ++e) {
      const double* const operand = row_of<Width>(x, column[std::ptrdiff_t{e} * Step]) + first;
      for (int c = 0; c < kTogether; ++c) result[c] -= double{value[std::ptrdiff_t{e} * Step]} * operand[c];
    }
  }
}

/// Columns one after the other, `stride` apart, of which a pass reads or writes row i at order[i], times factor[i].
/// Null: of `values` the pass's own work space, of `order` i itself, of `factor` 1.
template <class Number>
struct ColumnsAt {
  Number* values = nullptr;
  std::int64_t stride = 0;
  const Index* order = nullptr;
  const double* factor = nullptr;

  [[nodiscard]] Number* row(Index i) const { return values + (order == nullptr ? i : order[i]); }
  [[nodiscard]] double scale(Index i) const { return factor == nullptr ? 1.0 : factor[i]; }
};

/// A sweep over `count` columns: x_i = pivot_i (rhs_i − Σ a_ij x_j), then result_i = x_i. Plain numbers, unlike what a
/// sweep over one column takes: a row of several has enough to do, and one form of it serves all.
struct ColumnPass {
  Index count = 1;
  ColumnsAt<const double> rhs;
  const double* pivot = nullptr;  ///< by row; null: 1
  bool pivot_by_position = false;
  ColumnsAt<double> result;

  [[nodiscard]] double pivot_of(Index row, Index position) const {
    return pivot == nullptr ? 1.0 : pivot[pivot_by_position ? position : row];
  }
};

/// The doubles of a row of a pass's work space: columns that are not there are 0.
inline Index column_width(Index count) {
  Index width = 1;
  while (width < count) width *= 2;
  return width;
}

/// Calls body.operator()<column_width(count)>(), of more columns than one.
template <class Body>
auto with_column_width(Index count, const Body& body) {
  static_assert(kHostColumns == 8);
  switch (column_width(count)) {
    case 2:
      return body.template operator()<2>();
    case 4:
      return body.template operator()<4>();
    default:
      return body.template operator()<8>();
  }
}

/// Row i of the right-hand sides.
template <int Width>
ColumnValues<Width> read_rhs(const ColumnPass& pass, Index i, const double* work) {
  ColumnValues<Width> values{};
  const double scale = pass.rhs.scale(i);
  if (pass.rhs.values == nullptr) {
    for (int k = 0; k < Width; ++k) values.at[k] = scale * row_of<Width>(work, i)[k];
  } else {
    const double* const row = pass.rhs.row(i);
    for (Index k = 0; k < pass.count; ++k) values.at[k] = scale * row[k * pass.rhs.stride];
  }
  return values;
}

/// Writes row i of the results where they belong.
inline void write_result(const ColumnPass& pass, Index i, const double* values) {
  if (pass.result.values == nullptr) return;
  double* const result = pass.result.row(i);
  const double scale = pass.result.scale(i);
  for (Index k = 0; k < pass.count; ++k) result[k * pass.result.stride] = scale * values[k];
}

/// Row i of a pass, at `position` of its order: Σ over `count` entries, whose operands `x` has, the pivot, the result
/// to row `to` of x and where it belongs. `work`: of the right-hand sides. @returns whether it is finite
template <int Width, int Step = 1, class Value>
bool run_row(const ColumnPass& pass, Index i, Index position, const Index* column, const Value* value, Offset count,
             double* x, Index to, double* work) {
  ColumnValues<Width> values = read_rhs<Width>(pass, i, work);
  subtract_rows<Width, Step>(values, column, value, count, x);
  const double pivot = pass.pivot_of(i, position);
  bool finite = true;
  for (int k = 0; k < Width; ++k) {
    values.at[k] *= pivot;
    row_of<Width>(x, to)[k] = values.at[k];
    row_of<Width>(work, i)[k] = values.at[k];
    finite &= is_finite(values.at[k]);
  }
  write_result(pass, i, values.at);
  return finite;
}

}  // namespace taskdag::kernels

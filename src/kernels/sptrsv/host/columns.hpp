/// \file
/// Rows of triangular sweeps over several right-hand sides on host threads.
#pragma once

#include <algorithm>
#include <cstddef>

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

/// One row of a sweep: Σ, pivot, the result to row `to` of x. @returns whether it is finite
template <int Width, int Step = 1, class Value, class Pivot>
bool run_row(ColumnValues<Width>& values, const Index* column, const Value* value, Offset count, const Pivot& pivot,
             double* x, Index to) {
  subtract_rows<Width, Step>(values, column, value, count, x);
  bool finite = true;
  for (int k = 0; k < Width; ++k) {
    values.at[k] = pivot(values.at[k]);
    row_of<Width>(x, to)[k] = values.at[k];
    finite &= is_finite(values.at[k]);
  }
  return finite;
}

}  // namespace taskdag::kernels

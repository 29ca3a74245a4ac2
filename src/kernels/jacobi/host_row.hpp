/// \file
/// One sweep of one row on the host, long rows in pieces.
#pragma once

#include "backends/host/seam.hpp"
#include "base/index.hpp"
#include "kernels/jacobi/task.hpp"

namespace taskdag::kernels {

/// How long rows are cut: those with more than long_row entries (0: none) into pieces of part_entries.
struct RowCut {
  Index part_entries;
  Index long_row;
};

/// jacobi_row() on one thread, the additions in the order of a row's pieces.
inline double jacobi_row_in_pieces(const CsrView& a, Index i, const double* x, double b, double scale,
                                   const RowCut& cut) {
  const Offset begin = a.pattern.row_offsets[i];
  const Offset end = a.pattern.row_offsets[i + 1];
  if (cut.long_row == 0 || end - begin <= cut.long_row) return jacobi_row(host::SingleThread(), a, i, x, b, scale);
  double total = 0.0;
  for (Offset first = begin; first < end;) {
    const Offset last = end_of_piece(first, cut.part_entries, end);
    double sum = 0.0;
    for (Offset e = first; e < last; ++e) sum += a.values[e] * x[a.pattern.col_indices[e]];
    total += sum;
    first = last;
  }
  return x[i] + scale * (b - total);
}

}  // namespace taskdag::kernels

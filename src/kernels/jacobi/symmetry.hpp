/// \file
/// Whether a matrix is its own transpose: the task of an entry, and how it runs over all rows on the host.
#pragma once

#include "backends/host/thread_pool.hpp"
#include "base/macros.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// Whether entry `e` of row i has an equal one across the diagonal. A NaN equals nothing.
TASKDAG_HD bool has_equal_mirror(const CsrView& a, Index i, Offset e) {
  const Index j = a.pattern.col_indices[e];
  if (j == i) return true;
  Offset first = a.pattern.row_offsets[j];
  Offset last = a.pattern.row_offsets[j + 1];
  while (first < last) {
    const Offset middle = first + (last - first) / 2;
    const Index column = a.pattern.col_indices[middle];
    if (column == i) return a.values[middle] == a.values[e];
    if (column < i) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return false;
}

/// Whether all entries of row i that `rank` of `size` threads looks at have one.
TASKDAG_HD bool symmetric_share(const CsrView& a, Index i, int rank, int size) {
  for (Offset e = a.pattern.row_offsets[i] + rank; e < a.pattern.row_offsets[i + 1]; e += size) {
    if (!has_equal_mirror(a, i, e)) return false;
  }
  return true;
}

bool host_symmetric(const CsrView& a, host::ThreadPool& pool);

}  // namespace taskdag::kernels

/// \file
/// The task of a block row in a factorisation by point blocks: both executors run this.
///
/// A = L U with blocks for entries: L has unit diagonal blocks, U has diagonal blocks D. The factor keeps L below the
/// diagonal, D⁻¹ on it, U above. ic: U is that of Uᵀ D⁻ᵀ U, and row i takes its blocks of L from the rows that it
/// waits for, L_ik = (U_ki)ᵀ D_k⁻¹, so only blocks from the diagonal on are updated.
#pragma once

#include "kernels/factor/point_block/block.hpp"

namespace taskdag::kernels::point_block {

/// Worker, beside a Group (block.hpp):
///   begin(i), diagonal(i), end(i), column(e)   the row's entries in the factor's pattern
///   mine(e)                                    block e of the row at work
///   finished(e)                                block e of a row that was waited for
///   row_is_symmetric()                         ic
///   mirror(e)                                  ic: the entry (k, i) of entry e = (i, k)
///   input(e)                                   the block of the matrix at entry e; null: fill
///   wait_for(k)                                until row k is done
///   scratch()                                  a block
///   pivot_rows()                               as invert() wants it
///   each_update(i, k, f)                       f(f_entry, target, r, c) for all (r, c) and each entry f_entry = (k, j)
///                                              right of the diagonal with an entry target = (i, j); ic: j >= i alone
/// @returns what the inverse of the diagonal block found
template <class Size, class Worker>
TASKDAG_HD Inversion eliminate_row(Size size, Worker& worker, Index i, double amount) {
  const int n = size.rows();
  const Offset diagonal = worker.diagonal(i);
  for (Offset e = worker.row_is_symmetric() ? diagonal : worker.begin(i); e < worker.end(i); ++e) {
    const double* const from = worker.input(e);
    double* const to = worker.mine(e);
    worker.each_element(size, [&](int r, int c) { to[c * n + r] = from != nullptr ? from[c * n + r] : 0.0; });
  }
  worker.sync();
  double* const scratch = worker.scratch();
  for (Offset e = worker.begin(i); e < diagonal; ++e) {
    const Index k = worker.column(e);
    worker.wait_for(k);
    double* const multiplier = worker.mine(e);
    if (worker.row_is_symmetric()) {
      const double* const above = worker.finished(worker.mirror(e));
      worker.each_element(size, [&](int r, int c) { scratch[c * n + r] = above[r * n + c]; });
    } else {
      worker.each_element(size, [&](int r, int c) { scratch[c * n + r] = multiplier[c * n + r]; });
    }
    worker.sync();
    const double* const inverse = worker.finished(worker.diagonal(k));
    worker.each_element(size, [&](int r, int c) { multiplier[c * n + r] = product(size, scratch, inverse, r, c); });
    worker.sync();
    worker.each_update(size, i, k, [&](Offset factor, Offset target, int r, int c) {
      worker.mine(target)[c * n + r] -= product(size, multiplier, worker.finished(factor), r, c);
    });
    worker.sync();
  }
  return invert(size, worker, worker.mine(diagonal), worker.pivot_rows(), amount);
}

}  // namespace taskdag::kernels::point_block

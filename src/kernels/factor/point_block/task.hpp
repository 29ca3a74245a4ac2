/// \file
/// The task of a block row in a factorisation by point blocks: both executors run this.
///
/// A = L U with blocks for entries: L has unit diagonal blocks, U has diagonal blocks D. The factor keeps L below the
/// diagonal, D⁻¹ on it, U above. ic: U is that of Uᵀ D⁻ᵀ U, and row i takes its blocks of L from the rows that it
/// waits for, L_ik = (U_ki)ᵀ D_k⁻¹, so only blocks from the diagonal on are updated.
#pragma once

#include "kernels/factor/point_block/pivoting.hpp"

namespace taskdag::kernels::point_block {

/// Worker, beside a Group (block.hpp):
///   begin(i), diagonal(i), end(i), column(e)   the row's entries in the factor's pattern
///   each_in_row(size, i, from, f)              f(e, r, c) for every element of the row's entries from `from` on
///   mine(e)                                    block e of the row at work
///   input(e, r, c)                             element of the matrix' block at entry e; of fill 0
///   row_is_symmetric()                         ic
///   take_finished(size, i, e)                  until row k = column(e) is done, of which the next three are:
///   inverse()                                  its diagonal block
///   above()                                    ic: its block (k, i)
///   subtract(size, i, e, f)                    f(block, r, c), for all (r, c) and each block (k, j) right of the
///                                              diagonal, from the block (i, j), where there is one; ic: j >= i alone
///   multiply(size, block, f, other)            block becomes the product of that with elements f(r, c), which may be
///                                              the block itself, and another
///   invert_block(size, block, amount)          what invert() does
///   sum_of(from, to, f)                        of f(e), in any order
///   finish_beside_diagonal(size, i)            all blocks of row i are final but for the diagonal one
/// @returns what the inverse of the diagonal block found
template <class Size, class Worker>
TASKDAG_HD Inversion eliminate_row(Size size, Worker& worker, Index i, const Pivoting& pivoting) {
  const int n = size.rows();
  const Offset diagonal = worker.diagonal(i);
  worker.each_in_row(size, i, worker.row_is_symmetric() ? diagonal : worker.begin(i), [&](Offset e, int r, int c) {
    const bool shifted = e == diagonal && r == c;
    worker.mine(e)[c * n + r] = worker.input(e, r, c) + (shifted ? pivoting.shift : 0.0);
  });
  worker.sync();
  for (Offset e = worker.begin(i); e < diagonal; ++e) {
    worker.take_finished(size, i, e);
    double* const multiplier = worker.mine(e);
    const double* const inverse = worker.inverse();
    if (worker.row_is_symmetric()) {
      const double* const above = worker.above();
      worker.multiply(
          size, multiplier, [&](int r, int k) { return pivoting.transposed(above[r * n + k], r, k); }, inverse);
    } else {
      worker.multiply(
          size, multiplier, [&](int r, int k) { return multiplier[k * n + r]; }, inverse);
    }
    worker.sync();
    worker.subtract(size, i, e,
                    [&](const double* block, int r, int c) { return product(size, multiplier, block, r, c); });
    worker.sync();
  }
  worker.finish_beside_diagonal(size, i);
  if constexpr (Size::known == 2) {
    if (pivoting.numbers) {
      const auto size_of = [&](Offset e) { return magnitude(worker.mine(e)); };
      double sum = 0.0;
      if (pivoting.needs_sum()) {
        sum = worker.sum_of(diagonal + 1, worker.end(i), size_of);
        if (!worker.row_is_symmetric()) sum += worker.sum_of(worker.begin(i), diagonal, size_of);
      }
      return invert_number(size, worker, worker.mine(diagonal), pivoting.rule, sum);
    }
  }
  return worker.invert_block(size, worker.mine(diagonal), pivoting.amount);
}

}  // namespace taskdag::kernels::point_block

/// \file
/// SOR by point blocks is SOR by rows of D⁻¹ A, D being the diagonal blocks of A: the rows of a block do not wait for
/// each other there, since a row has nothing but a 1 in its own diagonal block. Here is how D⁻¹ A comes about, for both
/// executors. Blocks are as in kernels/factor/point_block/block.hpp.
#pragma once

#include "kernels/factor/point_block/block.hpp"
#include "kernels/sor/row.hpp"

namespace taskdag::kernels::point_block {

/// Where the entries of D⁻¹ A stand, row by row. No index is beyond the elements of A's blocks, which Offset counts.
struct ScaledRows {
  Index rows;              ///< of blocks; this and the next three are those of A
  const Offset* offsets;   ///< of its rows of blocks
  const Offset* diagonal;  ///< the entry of each diagonal block
  const Index* columns;    ///< of blocks
  int block_size;

  /// `blocks`: of A.
  [[nodiscard]] TASKDAG_HD Offset entries(Offset blocks) const {
    return ((blocks - rows) * block_size + rows) * block_size;
  }
  /// Of each row of block row i.
  [[nodiscard]] TASKDAG_HD Offset length(Index i) const { return (offsets[i + 1] - offsets[i] - 1) * block_size + 1; }
  /// Of row r of block row i.
  [[nodiscard]] TASKDAG_HD Offset begin(Index i, int r) const {
    return ((offsets[i] - i) * block_size + i) * block_size + r * length(i);
  }
  /// Element (r, c) of block e in block row i; of the diagonal block there is (r, r) alone.
  [[nodiscard]] TASKDAG_HD Offset entry(Index i, Offset e, int r, int c) const {
    const Offset before = (e - offsets[i]) * block_size;
    if (e < diagonal[i]) return begin(i, r) + before + c;
    return begin(i, r) + before + (e == diagonal[i] ? 0 : c + 1 - block_size);
  }
};

/// The offsets and columns of D⁻¹ A that belong to block row i. `group`: see block.hpp.
template <class Size, class Group>
TASKDAG_HD void write_pattern(Size size, const Group& group, const ScaledRows& a, Index i, Offset* row_offsets,
                              Index* col_indices) {
  const int n = size.rows();
  group.each(n, [&](int r) {
    row_offsets[i * n + r + 1] = a.begin(i, r) + a.length(i);
    col_indices[a.entry(i, a.diagonal[i], r, r)] = i * n + r;
  });
  for (Offset e = a.offsets[i]; e < a.offsets[i + 1]; ++e) {
    if (e == a.diagonal[i]) continue;
    group.each_element(size, [&](int r, int c) { col_indices[a.entry(i, e, r, c)] = a.columns[e] * n + c; });
  }
}

/// The values that belong to block row i of D⁻¹ A; `inverse` becomes the inverse of the diagonal block, its shift
/// included. `blocks`: A's values; pivot_rows: as invert() wants it.
/// @returns what the inverse found
template <class Size, class Group>
TASKDAG_HD Inversion scale_block_row(Size size, const Group& group, const ScaledRows& a, const double* blocks, Index i,
                                     double omega, double shift, double* inverse, int* pivot_rows, double* values) {
  const int n = size.rows();
  const double* const own = blocks + elements_of(size, a.diagonal[i]);
  group.each_element(size, [&](int r, int c) {
    inverse[c * n + r] = r == c ? shifted_diagonal(own[c * n + r], omega, shift) : own[c * n + r];
  });
  group.sync();
  const Inversion found = invert(size, group, inverse, pivot_rows, 0.0);
  for (Offset e = a.offsets[i]; e < a.offsets[i + 1]; ++e) {
    if (e == a.diagonal[i]) {
      group.each(n, [&](int r) { values[a.entry(i, e, r, r)] = 1.0; });
      continue;
    }
    const double* const block = blocks + elements_of(size, e);
    group.each_element(size, [&](int r, int c) { values[a.entry(i, e, r, c)] = product(size, inverse, block, r, c); });
  }
  return found;
}

/// Element r of block i of D⁻¹ b. `inverses`: block after block.
template <class Size>
TASKDAG_HD double inverse_times(Size size, const double* inverses, Index i, int r, const double* b) {
  const int n = size.rows();
  const double* const inverse = inverses + elements_of(size, i);
  double sum = 0.0;
  for (int c = 0; c < n; ++c) sum += inverse[c * n + r] * b[static_cast<std::int64_t>(i) * n + c];
  return sum;
}

}  // namespace taskdag::kernels::point_block

/// \file
/// The mathematics of dense blocks: products and the inverse. Blocks are n x n, column by column, as PETSc's MATBAIJ
/// keeps them: element (r, c) of block a is a[c·n + r].
///
/// A `Group` is who works on a block together, a thread or lanes of a warp:
///   each_element(n, f)   f(r, c) for every element, once, by any of them
///   each(count, f)       f(k) for k in [0, count), once, by any of them
///   sync()               what any of them has written before is seen by all of them afterwards
#pragma once

#include "base/handover.hpp"
#include "base/macros.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/factorization.hpp"

namespace taskdag::kernels::point_block {

/// Largest block: a row of it for each lane of a warp.
inline constexpr int kLargestBlock = largest_point_block;

/// Rows of a block, known to the compiler.
template <int N>
struct BlockSize {
  static constexpr int known = N;
  TASKDAG_HD constexpr explicit BlockSize(int) {}
  [[nodiscard]] TASKDAG_HD constexpr int rows() const { return N; }
};
/// Known when the program runs.
template <>
struct BlockSize<0> {
  static constexpr int known = 0;
  TASKDAG_HD constexpr explicit BlockSize(int rows) : rows_(rows) {}
  [[nodiscard]] TASKDAG_HD constexpr int rows() const { return rows_; }

 private:
  int rows_;
};

/// Calls work(BlockSize) with the form that there is for blocks of n rows.
template <class Work>
decltype(auto) with_block_size(int n, const Work& work) {
  switch (n) {
    case 2:
      return work(BlockSize<2>(n));
    case 3:
      return work(BlockSize<3>(n));
    case 4:
      return work(BlockSize<4>(n));
    case 5:
      return work(BlockSize<5>(n));
    case 6:
      return work(BlockSize<6>(n));
    case 7:
      return work(BlockSize<7>(n));
    case 8:
      return work(BlockSize<8>(n));
    case 12:
      return work(BlockSize<12>(n));
    case 16:
      return work(BlockSize<16>(n));
    default:
      return work(BlockSize<0>(n));
  }
}

/// Of e blocks, so that block e begins there in an array of blocks: there may be 2³¹ and more.
template <class Size>
TASKDAG_HD std::int64_t elements_of(Size size, Offset e) {
  return static_cast<std::int64_t>(e) * (size.rows() * size.rows());
}

/// Element (r, c) of a·b.
template <class Size>
TASKDAG_HD double product(Size size, const double* a, const double* b, int r, int c) {
  const int n = size.rows();
  double sum = 0.0;
  for (int k = 0; k < n; ++k) sum += a[k * n + r] * b[c * n + k];
  return sum;
}

/// An element (r, c) of the transpose of a block of complex numbers, from that of the transposed real block: this is
/// conjugated, so parts that are imaginary change their sign.
TASKDAG_HD double not_conjugated(double element, int r, int c) { return ((r ^ c) & 1) != 0 ? -element : element; }

/// What an inversion found.
struct Inversion {
  int first_zero = -1;  ///< first and last column whose pivots were bad: all exactly 0, or by the rule for numbers
  int last_zero = -1;
  int shifted = 0;     ///< pivots that took the shift instead of 0
  bool finite = true;  ///< all pivots; an infinite one leaves a finite inverse
};

/// What replaces a pivot that is 0: a share of the mean size of the diagonal, as PETSc's blocks have it.
template <class Size>
TASKDAG_HD double pivot_shift(Size size, const double* a, double amount) {
  const int n = size.rows();
  double sum = 1e-12;
  for (int k = 0; k < n; ++k) sum += a[k * n + k] < 0 ? -a[k * n + k] : a[k * n + k];
  return amount * sum / n;
}

/// a becomes its inverse, by Gauss-Jordan elimination with exchanges of rows; the pivots are those of Gaussian
/// elimination with partial pivoting. `amount` 0: a column without a pivot other than 0 leaves infinities and NaNs;
/// else the pivot is pivot_shift(), but for the last column: as with PETSc's blocks that one is never shifted, so no
/// block of zeros gets an inverse. A NaN is no zero. pivot_rows: n elements that all of the group share. All of it
/// takes part, and gets the same answer.
template <class Size, class Group>
TASKDAG_HD Inversion invert(Size size, const Group& group, double* a, int* pivot_rows, double amount) {
  const int n = size.rows();
  Inversion found;
  const double shift = amount > 0.0 ? pivot_shift(size, a, amount) : 0.0;
  for (int k = 0; k < n; ++k) {
    int p = k;
    double largest = a[k * n + k] < 0 ? -a[k * n + k] : a[k * n + k];
    for (int r = k + 1; r < n; ++r) {
      const double value = a[k * n + r] < 0 ? -a[k * n + r] : a[k * n + r];
      if (value > largest || value != value) {  // a NaN is no zero
        largest = value;
        p = r;
      }
    }
    double pivot = a[k * n + p];
    if (pivot == 0.0) {
      if (amount > 0.0 && k + 1 < n) {
        pivot = shift;
        ++found.shifted;
      } else {
        if (found.first_zero < 0) found.first_zero = k;
        found.last_zero = k;
      }
    }
    found.finite = found.finite && is_finite(pivot);
    group.sync();  // all have read column k
    const double inverse = 1.0 / pivot;
    group.each(n, [&](int c) {  // rows k and p are swapped; the new row k is scaled
      const double from = a[c * n + p];
      a[c * n + p] = a[c * n + k];
      a[c * n + k] = c == k ? inverse : from * inverse;
      if (c == k) pivot_rows[k] = p;
    });
    group.sync();
    group.each_element(size, [&](int r, int c) {
      if (r != k && c != k) a[c * n + r] -= a[k * n + r] * a[c * n + k];
    });
    group.sync();
    group.each(n, [&](int r) {
      if (r != k) a[k * n + r] *= -inverse;
    });
    group.sync();
  }
  for (int k = n - 1; k >= 0; --k) {  // the exchanges, from the other side
    const int p = pivot_rows[k];
    if (p == k) continue;
    group.each(n, [&](int r) {
      const double value = a[k * n + r];
      a[k * n + r] = a[p * n + r];
      a[p * n + r] = value;
    });
    group.sync();
  }
  return found;
}

}  // namespace taskdag::kernels::point_block

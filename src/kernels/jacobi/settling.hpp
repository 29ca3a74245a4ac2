/// \file
/// Whether Jacobi sweeps come to rest: the task of a row, and a number of sweeps on either backend.
#pragma once

#include "backends/host/thread_pool.hpp"
#include "base/macros.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

inline constexpr int kSettlingSweeps = 10;

/// What the sweeps begin with: numbers between -1 and 1 without a pattern that a matrix could share.
TASKDAG_HD double scattered(Index i) {
  auto bits = static_cast<unsigned long long>(i) * 0x9E3779B97F4A7C15ULL;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<double>(static_cast<long long>(bits ^ (bits >> 31))) * 0x1p-63;
}

/// A row of a sweep with a right-hand side of zeros, or a share of one.
struct SettlingRow {
  double diagonal = 0.0;
  double beside = 0.0;  ///< Σ a_ij x_j, j ≠ i

  TASKDAG_HD void merge(const SettlingRow& other) {
    diagonal += other.diagonal;
    beside += other.beside;
  }
  /// Not finite where there is no diagonal entry, or it is 0.
  [[nodiscard]] TASKDAG_HD double result() const { return -beside / diagonal; }
};

/// The entries of row i that `rank` of `size` threads collects. x null: scattered().
TASKDAG_HD SettlingRow settling_share(const CsrView& a, Index i, const double* x, int rank, int size) {
  SettlingRow row;
  for (Offset e = a.pattern.row_offsets[i] + rank; e < a.pattern.row_offsets[i + 1]; e += size) {
    const Index j = a.pattern.col_indices[e];
    if (j == i) {
      row.diagonal += a.values[e];
    } else {
      row.beside += a.values[e] * (x != nullptr ? x[j] : scattered(j));
    }
  }
  return row;
}

/// ‖x_k − x_{k−1}‖₁ of the last sweep; not finite where one is not. Its additions are in no fixed order.
double host_settling(const CsrView& a, host::ThreadPool& pool);

}  // namespace taskdag::kernels

/// \file
/// Factorisations in which only diagonal entries change, as on grids with five or seven points.
///
/// Then the inverse pivots are the sequence r_i = 1 / (a_ii − Σ_k a_ik a_ki r_k), k < i with a_ik in the pattern: a
/// triangular sweep with a reciprocal for its pivot (Sweep::solve_reciprocals). All else follows from them without
/// waiting.
#pragma once

#include "kernels/eliminate.hpp"

namespace taskdag::kernels {

/// What that sweep takes. Arrays are made when they are first needed.
class Recurrence {
 public:
  Recurrence() = default;
  /// `pattern` and `diagonal` (entries) of the factor, somebody else's: all of it for ilu0, the upper triangle for ic0.
  /// Asynchronous.
  Recurrence(FactorKind kind, const DevicePattern& pattern, const Offset* diagonal, cudaStream_t stream);

  /// Fills products() and right_hand_side(), the latter's row i at index[i] (null: at i). Asynchronous.
  void load(const FactorInput& input, const Index* index, cudaStream_t stream);

  [[nodiscard]] bool empty() const { return rhs_.size() == 0; }
  /// By entry; ilu0: a_ik a_ki left of the diagonal, ic0: the squares.
  [[nodiscard]] const double* products() const { return product_.data(); }
  [[nodiscard]] const double* right_hand_side() const { return rhs_.data(); }
  /// For the sweep to say that something is not finite. Nobody asks: the factorisation reports it by itself.
  [[nodiscard]] int* non_finite() const { return non_finite_.data(); }
  [[nodiscard]] std::int64_t bytes() const {
    return partner_.bytes() + product_.bytes() + rhs_.bytes() + non_finite_.bytes();
  }

 private:
  FactorKind kind_ = FactorKind::ilu0;
  DevicePattern pattern_;
  const Offset* diagonal_ = nullptr;
  cuda::DeviceArray<Offset> partner_;  ///< ilu0: entry (i, k) → entry (k, i), or −1
  cuda::DeviceArray<double> product_;
  cuda::DeviceArray<double> rhs_;
  cuda::DeviceArray<int> non_finite_;
};

/// Where a factor goes: device memory, the report in pinned memory.
struct FactorTarget {
  double* entries;
  double* inverse_pivots;
  FactorReport* report;
};

/// The factor from its inverse pivots, row i's at inverse[index[i]]. Asynchronous.
void factor_with_inverses(const DevicePattern& pattern, const Offset* diagonal, const FactorInput& input,
                          const PivotRule& rule, const double* inverse, const Index* index, const FactorTarget& target,
                          cudaStream_t stream);

}  // namespace taskdag::kernels

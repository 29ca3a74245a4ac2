/// \file
/// Factorisations in which only diagonal entries change, as on grids with five or seven points.
///
/// Then the inverse pivots are the sequence r_i = 1 / (a_ii − Σ_k a_ik a_ki r_k), k < i with a_ik in the pattern: a
/// triangular sweep with a reciprocal for its pivot (Sweep::solve_reciprocals). All else follows from them without
/// waiting. An elimination has (a_ik r_k) a_ki, which is in range where a_ik a_ki need not be: then the report says so.
#pragma once

#include "kernels/factor/cuda/numeric.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels {

/// A factorisation by that sequence.
class Recurrence final : public EliminationMethod {
 public:
  Recurrence() = default;
  /// `pattern` and `diagonal` (entries) of the factor: all of it for ilu, the upper triangle for ic. `sweep`: over
  /// its lower triangle, or the upper one transposed; results by row. `index`: row → entry of the sweep's right-hand
  /// side (null: the same). All somebody else's. Asynchronous.
  Recurrence(FactorKind kind, const DevicePattern& pattern, const Offset* diagonal, Sweep& sweep, const Index* index,
             cudaStream_t stream);

  /// Whether the sweep can run it. If not, factor() must not be called.
  [[nodiscard]] bool possible() const { return rhs_.size() > 0; }
  /// The factor; what the sweep has loaded is lost. Not for shifts of single pivots (inblocks). Where the report has
  /// lost_products, the factor is wrong. Asynchronous.
  void factor(const FactorInput& input, const PivotRule& rule, const FactorTarget& target,
              cudaStream_t stream) override;

  [[nodiscard]] std::int64_t bytes() const { return partner_.bytes() + rhs_.bytes() + flags_.bytes(); }

 private:
  FactorKind kind_ = FactorKind::ilu;
  DevicePattern pattern_;
  const Offset* diagonal_ = nullptr;
  const Index* index_ = nullptr;
  Sweep* sweep_ = nullptr;
  cuda::DeviceArray<Offset> partner_;  ///< ilu: entry (i, k) left of the diagonal → entry (k, i), or −1
  cuda::DeviceArray<double> rhs_;
  /// Whether results are not finite (nobody asks: the factorisation reports it by itself), whether products are lost.
  cuda::DeviceArray<int> flags_;
};

}  // namespace taskdag::kernels

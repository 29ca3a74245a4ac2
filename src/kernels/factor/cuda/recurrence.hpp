/// \file
/// Factorisations in which only diagonal entries change, as on grids with five or seven points.
///
/// Then the inverse pivots are the sequence r_i = 1 / (a_ii − Σ_k a_ik a_ki r_k), k < i with a_ik in the pattern: a
/// triangular sweep with a reciprocal for its pivot (SolvesReciprocals). All else follows from them without
/// waiting. An elimination has (a_ik r_k) a_ki, which is in range where a_ik a_ki need not be: then the report says so.
#pragma once

#include "kernels/factor/cuda/numeric.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels {

/// How rows are taken where the sweep has no such thing (ilu alone): not at all; as they are numbered, where few wait
/// for rows just before them, as in blocks of colours; or level by level.
enum class RowWalk { none, in_order, by_levels };

/// A factorisation by that sequence. What only one run of it needs is taken for its length, so it holds next to nothing
/// in between.
class Recurrence final : public EliminationMethod {
 public:
  Recurrence() = default;
  /// `pattern` and `diagonal` (entries) of the factor: all of it for ilu, the upper triangle for ic. `sweep`: over
  /// its lower triangle, or the upper one transposed; results by row. `index`: row → entry of the sweep's right-hand
  /// side (null: the same). The caller keeps them all. `walk`: what is done where the sweep cannot. Asynchronous, but
  /// with levels.
  Recurrence(FactorKind kind, const DevicePattern& pattern, const Offset* diagonal, Sweep& sweep, const Index* index,
             cudaStream_t stream, RowWalk walk = RowWalk::none);

  /// Whether it can be run. If not, factor() must not be called.
  [[nodiscard]] bool possible() const { return flags_.size() > 0; }
  /// Whether rows are walked. Then the values to factorise may be where the factor goes, and entry by entry (without
  /// FactorInput::source).
  [[nodiscard]] bool walks() const { return walk_ != RowWalk::none; }
  /// The factor; what the sweep has loaded is lost. Not for shifts of single pivots (inblocks). Where the report has
  /// lost_products, the factor is wrong. Asynchronous.
  void factor(const FactorInput& input, const PivotRule& rule, const FactorTarget& target,
              cudaStream_t stream) override;

  [[nodiscard]] std::int64_t bytes() const override { return order_.bytes() + flags_.bytes(); }

 private:
  /// Entry (i, k) left of the diagonal has entry (k, i) for its partner. room: for a list of them.
  void name_partners(ValueProducts& products, Offset* room, cudaStream_t stream) const;
  void run_sweep(const FactorInput& input, const FactorTarget& target, cudaStream_t stream);
  void run_walk(const FactorInput& input, const FactorTarget& target, cudaStream_t stream);
  void order_by_levels(cudaStream_t stream);

  FactorKind kind_ = FactorKind::ilu;
  DevicePattern pattern_;
  const Offset* diagonal_ = nullptr;
  const Index* index_ = nullptr;
  SolvesReciprocals* sweep_ = nullptr;
  RowWalk walk_ = RowWalk::none;
  cuda::DeviceArray<Index> order_;  ///< by levels: the rows
  /// Whether results are not finite (not read: the factorisation reports it by itself), whether products are lost,
  /// the ticket of a walk.
  cuda::DeviceArray<int> flags_;
};

}  // namespace taskdag::kernels

/// \file
/// Incomplete Cholesky factorisations by adaptive task aggregation.
#include "papers/helal/factor/factor.cuh"

namespace taskdag::kernels {
namespace {

/// Rows of D·U, which are published unscaled, as in factor/ic/task.hpp: row k takes the rows i above it that reach
/// column k, each from its entry (i, k) on, times u_ik = entry(i, k) / d_i.
struct IcElimination {
  static constexpr bool kScalesOwn = false;
  static constexpr bool kScalesUpdates = true;
  static constexpr bool kNormalises = false;
  static constexpr bool kRows = true;
  const Offset* offsets;
  const Index* index;
  const Offset* above_offsets;
  const Index* above_rows;
  const Offset* above_entries;
  bool diagonal_only;

  __device__ Offset diagonal(Index v) const { return offsets[v]; }
  __device__ Offset first(Index v) const { return above_offsets[v]; }
  __device__ Offset last(Index v) const { return above_offsets[v + 1] - 1; }  // the last one is the diagonal
  __device__ Index vector(Offset t) const { return above_rows[t]; }
  __device__ Offset mirrored(Offset t) const { return above_entries[t]; }
  __device__ Offset updates(Offset t, Index) const { return above_entries[t]; }
};

class IcProblem {
 public:
  using Elimination = IcElimination;
  static constexpr bool kScatters = false;
  IcProblem(const DevicePattern& upper, DeviceCsr above, bool diagonal_only)
      : upper_(upper), above_(std::move(above)), diagonal_only_(diagonal_only) {}

  [[nodiscard]] const DevicePattern& vectors() const { return upper_; }
  [[nodiscard]] static const Offset* source() { return nullptr; }
  [[nodiscard]] DevicePattern dependencies() const { return above_.pattern(); }
  [[nodiscard]] Elimination elimination() const {
    return {upper_.row_offsets,        upper_.col_indices,   above_.row_offsets.data(),
            above_.col_indices.data(), above_.source.data(), diagonal_only_};
  }
  [[nodiscard]] std::int64_t bytes() const { return above_.bytes(); }

 private:
  DevicePattern upper_;
  DeviceCsr above_;
  bool diagonal_only_;
};

}  // namespace

std::unique_ptr<AtaFactorization> make_ata_ic(SolveSchedule schedule, const DevicePattern& upper, DeviceCsr above,
                                              bool diagonal_only, const AtaOptions& options, cudaStream_t stream) {
  return ata::make_factor(std::make_shared<const IcProblem>(upper, std::move(above), diagonal_only), schedule, options,
                          stream);
}

}  // namespace taskdag::kernels

#include "studies/ata_factor/factor.cuh"
#include "studies/ata_factor/ic.hpp"

namespace taskdag::kernels {
namespace {

/// Rows of D·U, which are published unscaled, as in factor/ic/task.hpp: row k takes the rows i above it that reach
/// column k, each from its entry (i, k) on, times u_ik = entry(i, k) / d_i.
struct Ic0Elimination {
  static constexpr bool kScalesOwn = false;
  static constexpr bool kScalesUpdates = true;
  static constexpr bool kNormalises = false;
  const Offset* offsets;
  const Index* index;
  const Offset* above_offsets;
  const Index* above_rows;
  const Offset* above_entries;

  __device__ Offset diagonal(Index v) const { return offsets[v]; }
  __device__ Offset first(Index v) const { return above_offsets[v]; }
  __device__ Offset last(Index v) const { return above_offsets[v + 1] - 1; }  // the last one is the diagonal
  __device__ Index vector(Offset t) const { return above_rows[t]; }
  __device__ Offset meeting(Offset t) const { return above_entries[t]; }
  __device__ Offset updates(Offset t, Index) const { return above_entries[t]; }
};

/// One warp a row.
__global__ void unit_factor_kernel(DevicePattern upper, const double* entry, const double* inverse, double* out) {
  const auto row = static_cast<Index>(cuda::element() / cuda::kWarpSize);
  if (row >= upper.rows) return;
  const Offset begin = upper.row_offsets[row];
  for (Offset e = begin + static_cast<Offset>(threadIdx.x) % cuda::kWarpSize; e < upper.row_offsets[row + 1];
       e += cuda::kWarpSize) {
    out[e] = e == begin ? entry[e] : entry[e] * inverse[row];
  }
}

class Ic0Problem {
 public:
  using Elimination = Ic0Elimination;
  Ic0Problem(const DevicePattern& pattern, cudaStream_t stream)
      : upper_(upper_pattern(pattern, ata::diagonals_of(pattern, stream).data(), stream)),
        above_(transpose_pattern(upper_.pattern(), stream)) {}

  [[nodiscard]] const DeviceCsr& vectors() const { return upper_; }
  [[nodiscard]] DevicePattern above() const { return above_.pattern(); }
  [[nodiscard]] Elimination elimination() const {
    return {upper_.row_offsets.data(), upper_.col_indices.data(), above_.row_offsets.data(), above_.col_indices.data(),
            above_.source.data()};
  }
  [[nodiscard]] std::int64_t bytes() const { return upper_.bytes() + above_.bytes(); }
  void copy_factor(const double* entry, const double* inverse, double* factor, cudaStream_t stream) const {
    unit_factor_kernel<<<cuda::element_blocks(std::int64_t{upper_.rows} * cuda::kWarpSize), cuda::kElementBlock, 0,
                         stream>>>(upper_.pattern(), entry, inverse, factor);
    cuda::check_launch("unit_factor_kernel");
  }

 private:
  DeviceCsr upper_;
  DeviceCsr above_;
};

}  // namespace

std::unique_ptr<AtaFactorization> make_ata_ic0(SolveSchedule schedule, const DevicePattern& pattern,
                                               const AtaOptions& options, cudaStream_t stream) {
  const auto problem = std::make_shared<const Ic0Problem>(pattern, stream);
  return ata::make_factor(problem, problem->above(), schedule, options, pattern.entries, stream);
}

}  // namespace taskdag::kernels

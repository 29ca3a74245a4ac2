#include "studies/ata_factor/factor.cuh"
#include "studies/ata_factor/ilu.hpp"

namespace taskdag::kernels {
namespace {

/// Rows (up-looking) or columns (left-looking): the same loop on the pattern or its transpose. What differs is who
/// divides by the pivot: the row that uses it as a multiplier, or the column that holds L's entries.
template <bool Columns>
struct Ilu0Elimination {
  static constexpr bool kScalesOwn = !Columns;
  static constexpr bool kScalesUpdates = false;
  static constexpr bool kNormalises = Columns;
  const Offset* offsets;
  const Index* index;
  const Offset* diagonals;

  __device__ Offset diagonal(Index v) const { return diagonals[v]; }
  __device__ Offset first(Index v) const { return offsets[v]; }
  __device__ Offset last(Index v) const { return diagonals[v]; }
  __device__ Index vector(Offset t) const { return index[t]; }
  __device__ Offset meeting(Offset t) const { return t; }
  __device__ Offset updates(Offset, Index other) const { return diagonals[other] + 1; }
};

__global__ void scatter_kernel(Offset entries, const Offset* source, const double* entry, double* out) {
  const auto e = static_cast<Offset>(cuda::element());
  if (e < entries) out[source[e]] = entry[e];
}

template <bool Columns>
class Ilu0Problem {
 public:
  using Elimination = Ilu0Elimination<Columns>;
  Ilu0Problem(const DevicePattern& pattern, cudaStream_t stream)
      : vectors_(Columns ? transpose_pattern(pattern, stream) : copy_pattern(pattern, stream)),
        diagonals_(ata::diagonals_of(vectors_.pattern(), stream)) {}

  [[nodiscard]] const DeviceCsr& vectors() const { return vectors_; }
  [[nodiscard]] Elimination elimination() const {
    return {vectors_.row_offsets.data(), vectors_.col_indices.data(), diagonals_.data()};
  }
  [[nodiscard]] std::int64_t bytes() const { return vectors_.bytes() + diagonals_.bytes(); }
  void copy_factor(const double* entry, const double*, double* factor, cudaStream_t stream) const {
    if (!Columns) {
      cuda::copy_on_device(factor, entry, static_cast<std::size_t>(vectors_.entries), stream);
      return;
    }
    scatter_kernel<<<cuda::element_blocks(vectors_.entries), cuda::kElementBlock, 0, stream>>>(
        vectors_.entries, vectors_.source.data(), entry, factor);
    cuda::check_launch("scatter_kernel");
  }

 private:
  DeviceCsr vectors_;
  cuda::DeviceArray<Offset> diagonals_;
};

template <bool Columns>
std::unique_ptr<AtaFactorization> make(SolveSchedule schedule, const DevicePattern& pattern, const AtaOptions& options,
                                       cudaStream_t stream) {
  const auto problem = std::make_shared<const Ilu0Problem<Columns>>(pattern, stream);
  return ata::make_factor(problem, problem->vectors().pattern(), schedule, options, pattern.entries, stream);
}

}  // namespace

std::unique_ptr<AtaFactorization> make_ata_ilu0(SolveSchedule schedule, const DevicePattern& pattern, FactorForm form,
                                                const AtaOptions& options, cudaStream_t stream) {
  return form == FactorForm::rows ? make<false>(schedule, pattern, options, stream)
                                  : make<true>(schedule, pattern, options, stream);
}

}  // namespace taskdag::kernels

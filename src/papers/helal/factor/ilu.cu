/// \file
/// Incomplete LU factorisations by adaptive task aggregation, by rows or by columns.
#include "papers/helal/factor/factor.cuh"

namespace taskdag::kernels {
namespace {

/// Rows (up-looking) or columns (left-looking): the same loop on the pattern or its transpose. What differs is who
/// divides by the pivot: the row that uses it as a multiplier, or the column that holds L's entries.
template <bool Columns>
struct IluElimination {
  static constexpr bool kScalesOwn = !Columns;
  static constexpr bool kScalesUpdates = false;
  static constexpr bool kNormalises = Columns;
  static constexpr bool kRows = !Columns;
  const Offset* offsets;
  const Index* index;
  const Offset* diagonals;
  bool diagonal_only;

  __device__ Offset diagonal(Index v) const { return diagonals[v]; }
  __device__ Offset first(Index v) const { return offsets[v]; }
  __device__ Offset last(Index v) const { return diagonals[v]; }
  __device__ Index vector(Offset t) const { return index[t]; }
  __device__ Offset mirrored(Offset t) const { return t; }
  __device__ Offset updates(Offset, Index other) const { return diagonals[other] + 1; }
};

class IluByRows {
 public:
  using Elimination = IluElimination<false>;
  static constexpr bool kScatters = false;
  IluByRows(const DevicePattern& pattern, const Offset* diagonal, bool diagonal_only)
      : pattern_(pattern), diagonal_(diagonal), diagonal_only_(diagonal_only) {}

  [[nodiscard]] const DevicePattern& vectors() const { return pattern_; }
  [[nodiscard]] static const Offset* source() { return nullptr; }
  [[nodiscard]] const DevicePattern& dependencies() const { return pattern_; }
  [[nodiscard]] Elimination elimination() const {
    return {pattern_.row_offsets, pattern_.col_indices, diagonal_, diagonal_only_};
  }
  [[nodiscard]] static std::int64_t bytes() { return 0; }

 private:
  DevicePattern pattern_;
  const Offset* diagonal_;
  bool diagonal_only_;
};

__global__ void scatter_kernel(Offset entries, const Offset* source, const double* entry, double* out) {
  const auto e = static_cast<Offset>(cuda::element());
  if (e < entries) out[source[e]] = entry[e];
}

class IluByColumns {
 public:
  using Elimination = IluElimination<true>;
  static constexpr bool kScatters = true;
  IluByColumns(const DevicePattern& pattern, bool diagonal_only, cudaStream_t stream)
      : columns_(transpose_pattern(pattern, stream)),
        diagonal_(static_cast<std::size_t>(pattern.rows), stream),
        diagonal_only_(diagonal_only) {
    static_cast<void>(find_diagonal(columns_.pattern(), diagonal_.data(), stream));  // the rows have all of them
  }

  [[nodiscard]] DevicePattern vectors() const { return columns_.pattern(); }
  [[nodiscard]] const Offset* source() const { return columns_.source.data(); }
  [[nodiscard]] DevicePattern dependencies() const { return columns_.pattern(); }
  [[nodiscard]] Elimination elimination() const {
    return {columns_.row_offsets.data(), columns_.col_indices.data(), diagonal_.data(), diagonal_only_};
  }
  [[nodiscard]] std::int64_t bytes() const { return columns_.bytes() + diagonal_.bytes(); }
  void scatter(const double* entries, double* factor, cudaStream_t stream) const {
    scatter_kernel<<<cuda::element_blocks(columns_.entries), cuda::kElementBlock, 0, stream>>>(
        columns_.entries, columns_.source.data(), entries, factor);
    cuda::check_launch("scatter_kernel");
  }

 private:
  DeviceCsr columns_;
  cuda::DeviceArray<Offset> diagonal_;
  bool diagonal_only_;
};

}  // namespace

std::unique_ptr<AtaFactorization> make_ata_ilu(SolveSchedule schedule, const DevicePattern& pattern,
                                               const Offset* diagonal, bool diagonal_only, FactorForm form,
                                               const AtaOptions& options, cudaStream_t stream) {
  if (form == FactorForm::rows) {
    return ata::make_factor(std::make_shared<const IluByRows>(pattern, diagonal, diagonal_only), schedule, options,
                            stream);
  }
  return ata::make_factor(std::make_shared<const IluByColumns>(pattern, diagonal_only, stream), schedule, options,
                          stream);
}

}  // namespace taskdag::kernels

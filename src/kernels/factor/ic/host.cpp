#include "kernels/factor/ic/host.hpp"

#include <utility>

#include "kernels/factor/ic/task.hpp"

namespace taskdag::kernels {

namespace {

struct Pattern : HostPattern {
  const Transposed* above;
  Pattern(const SplitPattern& split, const Transposed& turned) : HostPattern(split), above(&turned) {}
  [[nodiscard]] Offset above_begin(Index k) const { return above->row_offsets[at(k)]; }
  [[nodiscard]] Offset above_end(Index k) const { return above->row_offsets[at(k) + 1]; }
  [[nodiscard]] Index above_row(Offset t) const { return above->col_indices[at(t)]; }
  [[nodiscard]] Offset above_entry(Offset t) const { return above->source_entry[at(t)]; }
};

}  // namespace

HostIc0::HostIc0(SplitPattern pattern, host::ThreadPool& pool, bool diagonal_only,
                 const std::optional<engine::StaticOptions>& run)
    : pattern_(std::move(pattern)),
      above_(transpose(pattern_.upper())),
      values_(std::make_unique_for_overwrite<double[]>(at(pattern_.entries()))),
      inverse_pivots_(std::make_unique_for_overwrite<double[]>(at(pattern_.rows))),
      runner_(above_.view(), Triangle::lower, pool, run),
      diagonal_only_(diagonal_only),
      marks_(make_marks(runner_.threads(), pattern_.rows)) {}

void HostIc0::factor(const double* values, const ValueSource& source, const DiagonalShift& shift, const PivotRule& rule,
                     Findings& findings) {
  findings.reset();
  others_changed_.store(false, std::memory_order_relaxed);
  const Pattern pattern(pattern_, above_);
  const double first = pattern_.rows > 0 ? values[source.position(0, 0, 0)] : 0.0;
  const HostFactor published{values_.get(), inverse_pivots_.get(), &findings, first};
  const auto eliminate = [&](const auto& rows, Index i, const HostRow& row, HostFactor& factor) {
    if (!ic0_row(rows, i, row, factor, rule, diagonal_only_)) return;
    // A look first: threads must not fight for the line at each row.
    if (!others_changed_.load(std::memory_order_relaxed)) {
      others_changed_.store(true, std::memory_order_relaxed);
    }
  };
  eliminate_rows(runner_, pattern, published, marks_, values, source, shift, eliminate);
}

void HostIc0::scale() {
  for (Index k = 0; k < pattern_.rows; ++k) {
    const double inverse = inverse_pivots_[at(k)];
    for (Offset e = pattern_.upper_offsets[at(k)]; e < pattern_.upper_offsets[at(k) + 1]; ++e) {
      values_[at(e)] *= inverse;
    }
  }
}

std::int64_t HostIc0::bytes() const {
  return bytes_of_factor(pattern_, runner_.threads()) +
         static_cast<std::int64_t>(sizeof(Offset) * above_.row_offsets.size() +
                                   (sizeof(Index) + sizeof(Offset)) * above_.col_indices.size());
}

}  // namespace taskdag::kernels

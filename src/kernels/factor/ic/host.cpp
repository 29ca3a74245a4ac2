#include "kernels/factor/ic/host.hpp"

#include "kernels/factor/host.hpp"
#include "kernels/factor/ic/task.hpp"

namespace taskdag::kernels {

namespace {

struct Pattern {
  const CsrPattern* csr;
  const Transposed* above;
  [[nodiscard]] Offset row_begin(Index k) const { return csr->row_offsets[k]; }
  [[nodiscard]] Offset row_end(Index k) const { return csr->row_offsets[k + 1]; }
  [[nodiscard]] Offset diagonal(Index k) const { return row_begin(k); }
  [[nodiscard]] Index column(Offset e) const { return csr->col_indices[e]; }
  [[nodiscard]] Offset above_begin(Index k) const { return above->row_offsets[static_cast<std::size_t>(k)]; }
  /// The last entry of a transposed row is the diagonal itself.
  [[nodiscard]] Offset above_end(Index k) const { return above->row_offsets[static_cast<std::size_t>(k) + 1] - 1; }
  [[nodiscard]] Index above_row(Offset t) const { return above->col_indices[static_cast<std::size_t>(t)]; }
  [[nodiscard]] Offset above_entry(Offset t) const { return above->source_entry[static_cast<std::size_t>(t)]; }
};

}  // namespace

HostIc0::HostIc0(const CsrPattern& pattern, host::ThreadPool& pool, bool diagonal_only,
                 const std::optional<engine::StaticOptions>& run)
    : pattern_(pattern),
      above_(transpose(pattern)),
      values_(static_cast<std::size_t>(pattern.entries())),
      inverse_pivots_(static_cast<std::size_t>(pattern.rows)),
      runner_(above_.view(), Triangle::lower, pool, run),
      diagonal_only_(diagonal_only),
      entry_of_column_(static_cast<std::size_t>(runner_.threads()),
                       std::vector<Offset>(static_cast<std::size_t>(pattern.rows), -1)) {}

void HostIc0::factor(const double* values, const Offset* source, const DiagonalShift& shift, const PivotRule& rule,
                     Findings& findings) {
  findings.reset();
  others_changed_.store(false, std::memory_order_relaxed);
  const Pattern pattern{&pattern_, &above_};
  const double first = pattern_.rows > 0 ? values[source[0]] : 0.0;
  const HostFactor factor{values_.data(), inverse_pivots_.data(), &findings, first};
  eliminate_rows(runner_, pattern, entry_of_column_, values_.data(), values, source, shift, [&](Index i, HostRow& row) {
    if (!ic0_row(pattern, i, row, factor, rule, diagonal_only_)) return;
    // A look first: threads must not fight for the line at each row.
    if (!others_changed_.load(std::memory_order_relaxed)) {
      others_changed_.store(true, std::memory_order_relaxed);
    }
  });
}

void HostIc0::scale() {
  for (Index k = 0; k < pattern_.rows; ++k) {
    const double inverse = inverse_pivots_[static_cast<std::size_t>(k)];
    for (Offset e = pattern_.row_offsets[k] + 1; e < pattern_.row_offsets[k + 1]; ++e) {
      values_[static_cast<std::size_t>(e)] *= inverse;
    }
  }
}

}  // namespace taskdag::kernels

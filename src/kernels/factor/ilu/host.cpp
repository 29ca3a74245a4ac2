#include "kernels/factor/ilu/host.hpp"

#include <utility>

#include "kernels/factor/ilu/task.hpp"

namespace taskdag::kernels {

HostIlu0::HostIlu0(SplitPattern pattern, host::ThreadPool& pool, bool diagonal_only,
                   const std::optional<engine::StaticOptions>& run)
    : pattern_(std::move(pattern)),
      values_(std::make_unique_for_overwrite<double[]>(at(pattern_.entries()))),
      inverse_pivots_(std::make_unique_for_overwrite<double[]>(at(pattern_.rows))),
      executor_(pattern_.lower(), Triangle::lower, pool, run),
      diagonal_only_(diagonal_only),
      marks_(make_marks<ColumnMarks>(executor_.threads(), pattern_.rows)) {}

void HostIlu0::factor(const double* values, const ValueSource& source, const DiagonalShift& shift,
                      const PivotRule& rule, Findings& findings) {
  findings.reset();
  others_changed_.store(false, std::memory_order_relaxed);
  const HostPattern pattern(pattern_);
  const HostFactor published{values_.get(), inverse_pivots_.get(), &findings};
  const auto eliminate = [&](const auto& rows, Index i, const HostRow& row, HostFactor& factor) {
    if (!ilu0_row(rows, i, row, factor, rule, diagonal_only_)) return;
    // A look first: threads must not fight for the line at each row.
    if (!others_changed_.load(std::memory_order_relaxed)) {
      others_changed_.store(true, std::memory_order_relaxed);
    }
  };
  eliminate_rows(executor_, pattern, published, marks_, values, source, shift, eliminate);
}

std::int64_t HostIlu0::bytes() const { return bytes_of_factor(pattern_, marks_); }

}  // namespace taskdag::kernels

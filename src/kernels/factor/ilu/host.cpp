#include "kernels/factor/ilu/host.hpp"

#include "kernels/factor/host.hpp"
#include "kernels/factor/ilu/task.hpp"

namespace taskdag::kernels {

namespace {

struct Pattern {
  const CsrPattern* csr;
  const Offset* diagonals;
  [[nodiscard]] Offset row_begin(Index i) const { return csr->row_offsets[i]; }
  [[nodiscard]] Offset row_end(Index i) const { return csr->row_offsets[i + 1]; }
  [[nodiscard]] Offset diagonal(Index i) const { return diagonals[i]; }
  [[nodiscard]] Index column(Offset e) const { return csr->col_indices[e]; }
};

}  // namespace

HostIlu0::HostIlu0(const CsrPattern& pattern, host::ThreadPool& pool, bool diagonal_only,
                   const std::optional<engine::StaticOptions>& run)
    : pattern_(pattern),
      diagonal_(diagonal_entries(pattern)),
      values_(static_cast<std::size_t>(pattern.entries())),
      inverse_pivots_(static_cast<std::size_t>(pattern.rows)),
      runner_(pattern, Triangle::lower, pool, run),
      diagonal_only_(diagonal_only),
      entry_of_column_(static_cast<std::size_t>(runner_.threads()),
                       std::vector<Offset>(static_cast<std::size_t>(pattern.rows), -1)) {}

void HostIlu0::factor(const double* values, const Offset* source, const DiagonalShift& shift, const PivotRule& rule,
                      Findings& findings) {
  findings.reset();
  others_changed_.store(false, std::memory_order_relaxed);
  const Pattern pattern{&pattern_, diagonal_.data()};
  const HostFactor factor{values_.data(), inverse_pivots_.data(), &findings};
  eliminate_rows(runner_, pattern, entry_of_column_, values_.data(), values, source, shift, [&](Index i, HostRow& row) {
    if (!ilu0_row(pattern, i, row, factor, rule, diagonal_only_)) return;
    // A look first: threads must not fight for the line at each row.
    if (!others_changed_.load(std::memory_order_relaxed)) {
      others_changed_.store(true, std::memory_order_relaxed);
    }
  });
}

}  // namespace taskdag::kernels

#include "kernels/factor/ic/host.hpp"

#include <utility>

#include "kernels/factor/ic/task.hpp"

namespace taskdag::kernels {

namespace {

/// What is loaded and eliminated is the upper triangle, whose positions begin at 0, with the diagonal behind it; the
/// lower one is where Uᵀ goes.
struct UpperPattern {
  const Offset* lower;
  const Offset* upper;
  const Index* below;
  const Index* columns;
  Offset first_diagonal;
  explicit UpperPattern(const SplitPattern& split)
      : lower(split.lower_offsets()),
        upper(split.upper_offsets()),
        below(split.lower().col_indices),
        columns(split.upper().col_indices),
        first_diagonal(split.upper_entries()) {}
  static Offset lower_begin(Index) { return 0; }
  static Offset lower_end(Index) { return 0; }
  [[nodiscard]] Offset diagonal(Index i) const { return first_diagonal + i; }
  [[nodiscard]] Offset upper_begin(Index i) const { return upper[i]; }
  [[nodiscard]] Offset upper_end(Index i) const { return upper[i + 1]; }
  [[nodiscard]] Index column(Offset e) const { return columns[e]; }
  [[nodiscard]] Offset before(Index i) const { return upper[i] + i; }
  [[nodiscard]] Offset above_begin(Index k) const { return lower[k]; }
  [[nodiscard]] Offset above_end(Index k) const { return lower[k + 1]; }
  [[nodiscard]] Index above_row(Offset t) const { return below[t]; }
};

/// Rows in any order: where they meet is known beforehand.
struct AnyOrder : UpperPattern {
  static constexpr bool kInTurn = false;
  const Offset* mirrored_entries;
  AnyOrder(const SplitPattern& split, const Offset* known) : UpperPattern(split), mirrored_entries(known) {}
  [[nodiscard]] Offset mirrored(Offset t, Index) const { return mirrored_entries[t]; }
  static void begin(Index) {}
};

/// Rows one after the other: each meets those below it from its first entry to its last.
struct InTurn : UpperPattern {
  static constexpr bool kInTurn = true;
  Offset* next;  // by row: the entry that meets the next row
  InTurn(const SplitPattern& split, Offset* positions) : UpperPattern(split), next(positions) {}
  [[nodiscard]] Offset mirrored(Offset, Index above) const { return next[above]++; }
  void begin(Index k) const { next[k] = upper_begin(k); }
};

/// By position in the lower triangle: that of the same entry in the upper one.
void find_mirrored(const SplitPattern& split, Offset* mirrored_entries) {
  const auto positions = std::make_unique_for_overwrite<Offset[]>(at(split.rows));
  const InTurn pattern(split, positions.get());
  for (Index k = 0; k < split.rows; ++k) {
    pattern.begin(k);
    for (Offset t = pattern.above_begin(k); t < pattern.above_end(k); ++t) {
      mirrored_entries[t] = pattern.mirrored(t, pattern.above_row(t));
    }
  }
}

}  // namespace

HostIc0::HostIc0(SplitPattern pattern, host::ThreadPool& pool, bool diagonal_only,
                 const std::optional<engine::StaticOptions>& run)
    : pattern_(std::move(pattern)),
      lower_values_(std::make_unique_for_overwrite<double[]>(at(pattern_.lower_entries()))),
      values_(std::make_unique_for_overwrite<double[]>(at(pattern_.upper_entries()) + at(pattern_.rows))),
      inverse_pivots_(std::make_unique_for_overwrite<double[]>(at(pattern_.rows))),
      executor_(pattern_.lower(), Triangle::lower, pool, run),
      diagonal_only_(diagonal_only),
      marks_(make_marks<UpperMarks>(executor_.threads(), pattern_.rows)),
      mirrored_entries_(std::make_unique_for_overwrite<Offset[]>(at(mirrored_entries()))) {
  if (!executor_.serial()) find_mirrored(pattern_, mirrored_entries_.get());
}

void HostIc0::factor(const double* values, const ValueSource& source, const DiagonalShift& shift, const PivotRule& rule,
                     Findings& findings) {
  findings.reset();
  others_changed_.store(false, std::memory_order_relaxed);
  const double first = pattern_.rows > 0 ? values[source.position(0, 0, 0)] : 0.0;
  const HostFactor published{values_.get(), inverse_pivots_.get(), &findings, first};
  double* const transposed = lower_values_.get();
  const auto eliminate = [&](const auto& rows, Index i, const UpperRow& row, HostFactor& factor) {
    rows.begin(i);
    if (!ic0_row(rows, i, row, transposed, factor, rule, diagonal_only_)) return;
    // A look first: threads must not fight for the line at each row.
    if (!others_changed_.load(std::memory_order_relaxed)) {
      others_changed_.store(true, std::memory_order_relaxed);
    }
  };
  const auto run = [&](const auto& rows) {
    eliminate_rows(executor_, rows, published, marks_, values, source, shift, eliminate);
  };
  if (executor_.serial()) {
    run(InTurn(pattern_, mirrored_entries_.get()));
  } else {
    run(AnyOrder(pattern_, mirrored_entries_.get()));
  }
}

void HostIc0::scale() {
  if (executor_.serial()) return;  // each row has been, by those below it
  const Offset* const offsets = pattern_.upper_offsets();
  for (Index k = 0; k < pattern_.rows; ++k) {
    const double inverse = inverse_pivots_[at(k)];
    for (Offset e = offsets[k]; e < offsets[k + 1]; ++e) values_[at(e)] *= inverse;
  }
}

std::int64_t HostIc0::bytes() const {
  return bytes_of_factor(pattern_, marks_) + static_cast<std::int64_t>(sizeof(Offset)) * mirrored_entries();
}

}  // namespace taskdag::kernels

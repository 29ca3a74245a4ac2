/// \file
/// IC(0) on host threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backends/host/seam.hpp"
#include "backends/host/thread_pool.hpp"
#include "dag/split.hpp"
#include "kernels/factor/host.hpp"
#include "kernels/factor/host_executor.hpp"
#include "kernels/factor/pivot.hpp"
#include "kernels/factor/state.hpp"

namespace taskdag::kernels {

/// The Row of the task body: as HostRow, with the upper triangle alone.
struct UpperRow {
  double* values;
  const Offset* positions;  // by column
  Offset first;
  std::uint32_t count;
  double& operator[](Offset e) const { return values[e]; }
  [[nodiscard]] bool has(Index column) const { return static_cast<std::uint32_t>(positions[column] - first) < count; }
  [[nodiscard]] Offset find(Index column) const { return positions[column]; }
};

/// By column: the position of the entry there that was loaded last. One per thread. It says which row it is of, so no
/// mark is ever taken away.
class UpperMarks {
 public:
  explicit UpperMarks(Index rows) : positions_(at(rows), -1) {}

  struct View {
    Offset* positions;
    void set(Index, Index column, Offset e) const { positions[column] = e; }
    template <class Pattern>
    [[nodiscard]] UpperRow loaded(const Pattern& pattern, double* values, Index i) const {
      const Offset first = pattern.upper_begin(i);
      return {values, positions, first, static_cast<std::uint32_t>(pattern.upper_end(i) - first)};
    }
  };
  [[nodiscard]] View view() { return {positions_.data()}; }
  [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(sizeof(Offset) * positions_.size()); }

 private:
  std::vector<Offset> positions_;
};

/// The factor is worked on in the arrays in which the sweeps read it; rows run as the plan of the forward sweep says,
/// or as a program of the task engine (`run`).
class HostIc0 {
 public:
  /// The pattern's lower triangle is the transpose of the upper one.
  HostIc0(SplitPattern pattern, host::ThreadPool& pool, bool diagonal_only = false,
          const std::optional<engine::StaticOptions>& run = {});

  [[nodiscard]] const SplitPattern& pattern() const { return pattern_; }

  /// Whether the last attempt has changed diagonal entries alone.
  [[nodiscard]] bool only_diagonal_changed() const { return !others_changed_.load(std::memory_order_relaxed); }

  /// The plan of the factorisation and of the forward sweep, which has the same dependencies; null: there is none.
  [[nodiscard]] std::shared_ptr<const ThreadPlan> plan() const { return executor_.plan(); }

  /// The program of the task engine; null where there is none.
  [[nodiscard]] const RowProgram* program() const { return executor_.program(); }

  /// One attempt: entries start with values[source], fill with 0, diagonal entries with `shift` added.
  void factor(const double* values, const ValueSource& source, const DiagonalShift& shift, const PivotRule& rule,
              Findings& findings);
  /// Completes the unit U, once, after the last attempt.
  void scale();
  /// The unit Uᵀ; without meaning before factor().
  [[nodiscard]] const double* lower_values() const { return lower_values_.get(); }
  /// The unit U; without meaning before scale().
  [[nodiscard]] const double* upper_values() const { return values_.get(); }
  [[nodiscard]] const double* pivots() const { return values_.get() + pattern_.upper_entries(); }
  [[nodiscard]] const double* inverse_pivots() const { return inverse_pivots_.get(); }
  [[nodiscard]] std::int64_t bytes() const;

 private:
  [[nodiscard]] Offset mirrored_entries() const {
    return executor_.serial() ? pattern_.rows : pattern_.upper_entries();
  }

  SplitPattern pattern_;
  std::unique_ptr<double[]> lower_values_;  // Uᵀ
  std::unique_ptr<double[]> values_;        // D·U, then U, and the pivots
  std::unique_ptr<double[]> inverse_pivots_;
  HostExecutor executor_;
  bool diagonal_only_;
  std::atomic<bool> others_changed_{false};     // by any thread; orders nothing
  std::vector<UpperMarks> marks_;               // per thread
  std::unique_ptr<Offset[]> mirrored_entries_;  // serial: work space; else by entry of the lower triangle
};

}  // namespace taskdag::kernels

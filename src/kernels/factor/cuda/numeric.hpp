/// \file
/// Numeric ILU(0) and IC(0) on CUDA, along prepared lists, and what other ways to eliminate have in common with that.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <climits>
#include <memory>
#include <optional>

#include "backends/cuda/memory.hpp"
#include "backends/cuda/stream.hpp"
#include "base/macros.hpp"
#include "kernels/factor/cuda/lists.hpp"
#include "kernels/factor/pivot.hpp"
#include "kernels/factor/precision.hpp"
#include "taskdag/engine/static/order.hpp"

namespace taskdag::kernels {

/// What an attempt found out, written by the kernel.
struct FactorReport {
  Index first_zero = INT_MAX;
  Index last_zero = -1;
  Index first_non_finite = INT_MAX;
  Index first_not_definite = INT_MAX;
  int shifted = 0;
  int lost_products = 0;  ///< other than 0: this method has lost numbers, and another one has to be asked (Recurrence)
};

/// The values to factorise: entry e of the factor's pattern is values[source ? source[e] : e], 0 where source[e] is −1,
/// shifted on the diagonal. Device memory.
struct FactorInput {
  const double* values = nullptr;
  const Offset* source = nullptr;
  DiagonalShift shift{};

  TASKDAG_HD double value(Offset e) const {
    const Offset from = source ? source[e] : e;
    return from < 0 ? 0.0 : values[from];
  }
  /// Of a diagonal entry e, for check_pivot(): read only where the rule asks for it. Only ic does, whose first entry is
  /// the first row's diagonal.
  TASKDAG_HD DiagonalEntry diagonal(const PivotRule& rule, Offset e) const {
    if (rule.shift != ShiftType::scaled) return {};
    return {shift.applied_to(value(e)), value(0)};
  }
};

/// Where a factor goes: device memory, the report in pinned memory.
struct FactorTarget {
  double* entries;
  double* inverse_pivots;  ///< by row
  double* unit;            ///< ic: U
  FactorReport* report;
};

/// A way to eliminate that needs no lists.
class EliminationMethod {
 public:
  EliminationMethod() = default;
  virtual ~EliminationMethod() = default;

  /// One attempt. Asynchronous.
  virtual void factor(const FactorInput& input, const PivotRule& rule, const FactorTarget& target,
                      cudaStream_t stream) = 0;
  /// Device memory that it holds.
  [[nodiscard]] virtual std::int64_t bytes() const = 0;

 protected:
  EliminationMethod(const EliminationMethod&) = default;
  EliminationMethod(EliminationMethod&&) = default;
  EliminationMethod& operator=(const EliminationMethod&) = default;
  EliminationMethod& operator=(EliminationMethod&&) = default;
};

class EliminationProgram;

/// A factor and what its attempts need. Slots and counter exist twice: each attempt resets those of the next.
class Factor {
 public:
  Factor();
  /// Takes the lists, if there are any yet. Pattern: `entries` in all. run (with lists only): attempts are runs of a
  /// program of the task engine; nothing: of a kernel of their own.
  Factor(Elimination&& elimination, FactorKind kind, Offset entries, const std::optional<engine::StaticOptions>& run,
         cudaStream_t stream);
  Factor(Factor&&) noexcept;
  Factor& operator=(Factor&&) noexcept;
  ~Factor();

  /// Before attempts: where the entries go, until drop_entries(), or for good. Nothing is done where they are kept
  /// already. Asynchronous. @throws OutOfMemory
  void lend_entries(cudaStream_t stream);
  void keep_entries(cudaStream_t stream);
  /// Takes back what was lent, in the order of the stream that it was lent on.
  void drop_entries() { lent_.reset(); }
  [[nodiscard]] bool has_entries() const { return entries() != nullptr; }

  /// The lists, where there were none. Nothing changes where this fails.
  void take_lists(Elimination&& elimination, cudaStream_t stream);
  [[nodiscard]] bool listed() const { return elimination_.listed(); }

  /// One attempt along the lists. Asynchronous, but where the report of the one before has not been taken, which may
  /// still be written.
  void attempt(const FactorInput& input, const PivotRule& rule, cudaStream_t stream);

  /// Whether only diagonal entries change: no row has updates, as on grids with five or seven points.
  [[nodiscard]] bool only_diagonal_changes() const { return elimination_.widest() == RowForm::sum; }
  /// One attempt by that method. `unit`: where U of ic goes. Asynchronous as the other one.
  void attempt(const FactorInput& input, const PivotRule& rule, EliminationMethod& method, double* unit,
               cudaStream_t stream);
  /// Waits for the last attempt, not for what was submitted after it.
  [[nodiscard]] FactorReport report();

  /// ilu: L without its unit diagonal, and U. ic: D·U. Pivots not inverted, one value per entry of the pattern.
  [[nodiscard]] double* entries() const { return lent_ ? lent_->data() : entries_.data(); }
  /// The program of the engine, or null.
  [[nodiscard]] const EliminationProgram* program() const { return program_.get(); }
  /// By row. Null before the first attempt: set-ups need the memory for lists.
  [[nodiscard]] const double* inverse_pivots() const { return inverse_pivots_.data(); }
  [[nodiscard]] std::int64_t bytes() const;

 private:
  void make_slots(Index slots, cudaStream_t stream);
  void arm(cudaStream_t stream);
  void begin_report(cudaStream_t stream);

  Elimination elimination_;
  std::unique_ptr<EliminationProgram> program_;
  FactorKind kind_ = FactorKind::ilu;
  Offset entry_count_ = 0;
  cuda::DeviceArray<double> entries_;  ///< this or the next one
  std::unique_ptr<cuda::ScratchArray<double>> lent_;
  cuda::DeviceArray<double> inverse_pivots_;
  std::array<cuda::DeviceArray<double>, 2> slots_;
  cuda::DeviceArray<int> counters_;
  std::size_t current_ = 0;                 ///< of the last attempt
  bool armed_ = false;                      ///< slots and counter of the next attempt are not_yet and 0
  bool reporting_ = false;                  ///< an attempt has begun whose report has not been taken
  cuda::PinnedValue<FactorReport> report_;  ///< written by the kernel, and only where something is to be reported
  cuda::UniqueEvent finished_;
};

/// Largest Σ_j |a_ij| − |a_ii| − a_ii over the rows (what a positive definite shift starts from). Synchronises.
double diagonal_dominance(const DevicePattern& pattern, const double* values, const Offset* source,
                          cudaStream_t stream);

/// unit[e] = entries[e] · inverse_pivots[row of e]: D·U to U. Asynchronous.
void scale_to_unit(const DevicePattern& upper, const Factor& factor, double* unit, cudaStream_t stream);
/// The same where they are, of ilu for the entries right of the diagonal alone; and back, where `back`. Asynchronous.
void scale_right_of_diagonal(const DevicePattern& pattern, const Offset* diagonal, const Factor& factor, bool back,
                             double* entries, cudaStream_t stream);
/// entries[diagonal] = 1 / inverse_pivots. Asynchronous.
void put_pivots(Index rows, const Offset* diagonal, const Factor& factor, double* entries, cudaStream_t stream);

/// Entries of L̃ = E^−½ L E^−½ and Ũ = E^−½ U E^−½, E being the pivots, all above 0. Asynchronous.
void balance(const DevicePattern& pattern, const Factor& factor, double* out, cudaStream_t stream);
/// The first row whose pivot is not above 0, or −1. Synchronises `stream`.
Index find_not_positive(Index rows, const Factor& factor, cudaStream_t stream);

/// The first row with an entry that does not fit. unit: of scale_to_unit(). Synchronises `stream`.
FoundLoss find_precision_loss(const DevicePattern& pattern, const Factor& factor, const double* unit,
                              cudaStream_t stream);

/// The factor as single precision has it, in double: out[e] is L, on the diagonal the pivots, above it the unit U or,
/// where `with_pivots`, D·U. unit: of scale_to_unit(). Asynchronous.
void round_factor(const DevicePattern& pattern, const Factor& factor, const double* unit, bool with_pivots, double* out,
                  cudaStream_t stream);

}  // namespace taskdag::kernels

/// \file
/// The incomplete factorisations on CUDA: factorization.cu analyses and factorises, application.cu
/// applies, halves.cu applies halves, growth.cu says how much an application enlarges.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "csr/device_csr.hpp"
#include "kernels/factor/cuda/numeric.hpp"
#include "kernels/factor/cuda/recurrence.hpp"
#include "solver/checks.hpp"
#include "solver/choice/factor_schedule.hpp"
#include "solver/cuda/flag.hpp"
#include "solver/cuda/many.hpp"
#include "solver/cuda/product.hpp"
#include "solver/cuda/staging.hpp"
#include "solver/cuda/stream_order.hpp"
#include "solver/cuda/sweep_pair.hpp"
#include "solver/impl.hpp"

namespace taskdag::cuda {

using kernels::DeviceCsr;
using kernels::DevicePattern;

class CudaFactorization final : public Factorization::Impl {
 public:
  CudaFactorization(const Context& context, const CsrPattern& pattern, MemorySpace space, const FactorOptions& options,
                    std::span<const Index> row_order, std::span<const Index> col_order, Stream stream);
  ~CudaFactorization() override { closing_.begin(); }

  void check_space(MemorySpace) const override {}
  void refuse_capture(Stream stream, const char* what) const override;
  void set_pivoting(double shift_amount, double zero_pivot) override {
    options_.shift_amount = shift_amount;
    options_.zero_pivot = zero_pivot;
  }
  FactorStatus factor(const double* values, MemorySpace space, Stream stream) override;
  void apply(Apply part, Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx, MemorySpace space,
             Stream stream) override;
  double growth(const double* values, MemorySpace space, Stream stream) override;
  void solve_lower(const double* b, double* x, MemorySpace space, Stream stream) override;
  void solve_upper(const double* b, double* x, MemorySpace space, Stream stream) override;
  void multiply_upper(const double* x, double* y, MemorySpace space, Stream stream) override;
  void pivots(double* e, MemorySpace space, Stream stream) const override;
  void set_diagonal(const double* d, MemorySpace space, Stream stream, TransformScaling scaling) override;
  void multiply_transformed(const double* v, double* y, MemorySpace space, Stream stream) override;
  SolveOutcome outcome() override;
  SolveOutcome outcome(Stream stream) override;
  CsrMatrix copy_factor() const override;
  std::vector<EngineRun> engine_runs() const override;

 private:
  /// Sweeps over several columns, from the first application to so many on that they pay.
  struct Many {
    std::optional<ManyPair> sweeps;
    bool loaded = false;  ///< with the values of the last factor()
    /// Of single precision: what the two sweeps load, in double; of ilu the first is that of both.
    DeviceArray<double> rounded;
    DeviceArray<double> rounded_second;
    [[nodiscard]] std::int64_t bytes() const {
      return (sweeps ? sweeps->bytes() : 0) + rounded.bytes() + rounded_second.bytes();
    }
  };

  /// Of Eisenstat's trick with symmetric scaling: the sweeps are those of I + L̃ and I + Ũ.
  struct Balanced {
    SweepPair sweeps;
    std::vector<SweepPair> given_up;
    SweepProduct product;
    [[nodiscard]] std::int64_t bytes() const {
      std::int64_t bytes = sweeps.bytes() + product.bytes();
      for (const SweepPair& pair : given_up) bytes += pair.bytes();
      return bytes;
    }
  };

  /// What others have taken the place of, while graphs of captured applications may still use it. Its sweeps are loaded
  /// with all values that come.
  struct Retired {
    std::vector<SweepPair> sweeps;
    std::vector<SweepPair> transposed;
    std::vector<DeviceArray<double>> scaled;  ///< right-hand sides
    std::vector<Many> many;                   ///< of another precision
    [[nodiscard]] std::int64_t bytes() const {
      std::int64_t bytes = 0;
      for (const auto* const pairs : {&sweeps, &transposed}) {
        for (const SweepPair& pair : *pairs) bytes += pair.bytes();
      }
      for (const Many& each : many) bytes += each.bytes();
      return bytes;
    }
  };

  // Analysis.
  Index find_diagonal(cudaStream_t s) { return kernels::find_diagonal(pattern_.pattern(), diagonal_.data(), s); }
  /// Replaces the pattern by that of the fill level. The search for fill everywhere is the host's.
  void fill(cudaStream_t s);
  void fill_everywhere(cudaStream_t s);
  void analyse_ilu(cudaStream_t s);
  void analyse_ic(cudaStream_t s);
  /// The sweeps of applications. `forward`: the first one's triangle, which for ic is that of the transposed pattern.
  [[nodiscard]] SweepPair make_sweeps(const AnalysedTriangle& forward, const Offset* forward_source,
                                      cudaStream_t s) const;
  [[nodiscard]] SweepPair make_sweeps(cudaStream_t s) const;
  [[nodiscard]] const RowBlocks* blocks() const { return independent_blocks(options_); }
  /// Entry of the factor's pattern → entry of the input; null: the same.
  [[nodiscard]] const Offset* source() const { return pattern_.source.size() > 0 ? pattern_.source.data() : nullptr; }
  /// Row of the factor's columns → entry of the caller's vectors; null: the same.
  [[nodiscard]] const Index* column_order() const {
    return col_order_.size() > 0 ? col_order_.data() : row_order_.data();
  }
  /// Forgets source() where it is found again in a pass, as rows are short, and only a walk of the rows will need it:
  /// it is as large as the columns. Before sweeps are made, which take memory; restored where rows are not walked then.
  void drop_source(const AnalysedTriangle& forward, cudaStream_t s);
  void restore_source(cudaStream_t s);
  void count_bytes();
  /// Takes single precision where an automatic choice does. Before sweeps are made.
  void settle_precision(const AnalysedTriangle& forward);
  void report_precision();
  [[nodiscard]] bool single() const { return request_.precision == Precision::in_single; }
  [[nodiscard]] bool uses_recurrence() const {
    return factor_.only_diagonal_changes() && options_.factor_schedule == FactorSchedule::automatic && !products_lost_;
  }
  /// Lists are not needed at once where a recurrence may take their place.
  [[nodiscard]] kernels::MakeLists lists_first() const {
    if (schedule_of_rows(options_.factor_schedule)) return kernels::MakeLists::never;
    const bool recurrence =
        options_.factor_schedule == FactorSchedule::automatic && options_.shift != ShiftType::inblocks;
    return recurrence ? kernels::MakeLists::where_updates : kernels::MakeLists::always;
  }
  /// How the lists are made once they are needed that lists_first() has left out.
  [[nodiscard]] kernels::MakeLists lists_later() const {
    return factor_.only_diagonal_changes() ? kernels::MakeLists::known_without_updates : kernels::MakeLists::always;
  }
  /// The lists, where there are none yet. above: of ic, the transposed triangle. Synchronises.
  void make_lists(const kernels::RowLevels& levels, const DeviceCsr* above, cudaStream_t s);
  void make_lists(cudaStream_t s);
  /// While the levels are at hand: whether the next attempt will ask for them.
  [[nodiscard]] bool needs_lists(cudaStream_t s);
  /// How the factorisation's program of the task engine is run; nothing where the factorisation is no program.
  [[nodiscard]] std::optional<engine::StaticOptions> factor_run() const {
    if (options_.factor_schedule == FactorSchedule::engine) return options_.run;
    return std::nullopt;
  }

  // Factorisation.
  FactorStatus attempt_until_done(const double* values, cudaStream_t s);
  /// Whether the factor's entries may go once the sweeps have loaded them: where these can return them, and entries
  /// have not been asked for yet.
  [[nodiscard]] bool can_drop_entries(cudaStream_t s);
  /// The entries back from the sweeps, for good, where they have gone. Not while captured.
  void require_entries(cudaStream_t s);
  void restore_entries(double* entries, cudaStream_t s) const;
  /// Where attempts put entries, and in single the unit U.
  void take_room_for_entries(cudaStream_t s);
  /// One attempt, whose result the two sweeps have loaded then.
  void attempt(const kernels::FactorInput& input, const kernels::PivotRule& rule, cudaStream_t s);
  /// What attempts do without lists, where they do; else null.
  kernels::EliminationMethod* method(const kernels::PivotRule& rule, cudaStream_t s);
  void attempt_without_lists(kernels::FactorInput input, const kernels::PivotRule& rule,
                             kernels::EliminationMethod& other, cudaStream_t s);
  [[nodiscard]] bool walks() const { return recurrence_ && recurrence_->walks(); }
  /// U of the last attempt as a unit triangle, where it is needed.
  void scale_to_unit(cudaStream_t s);
  /// PETSc takes the shift's top from the whole rows of A, also for IC(0); the row sums do not depend on the ordering.
  double full_dominance(const double* values, cudaStream_t s);
  void load_sweeps(cudaStream_t s);
  void load_sweeps(const SweepPair& sweeps, cudaStream_t s) const;
  [[nodiscard]] const double* first_values() const;  ///< what the first sweep is loaded with
  /// What the second one is. In single U is a unit triangle, and the pivots scale its right-hand side.
  [[nodiscard]] const double* second_values(const SweepPair& sweeps) const {
    return sweeps.single() ? unit_.data() : factor_.entries();
  }
  /// Gives single precision up, for good, where the factor does not fit. Synchronises where it is in use.
  /// @returns whether it has
  bool keep_double_if_needed(cudaStream_t s);
  /// Makes the sweeps anew, as the request is now, and loads them.
  void replace_sweeps(cudaStream_t s);
  /// Measures what schedules that rewrite rows may lose with the values that they have loaded. Asynchronous.
  void measure_loss(cudaStream_t s);
  /// Gives those schedules up where that is too much. Synchronises where there are any.
  void keep_rows_if_needed(cudaStream_t s);
  [[nodiscard]] bool rewrites_rows() const { return sweeps_.rewrites_rows() || transposed_.rewrites_rows(); }

  // Eisenstat's trick.
  /// e: E by row, d: D in the user's numbering, both on the device.
  void take_balanced(const double* e, const double* d, cudaStream_t s);
  /// Gives schedules that rewrite rows up where they would lose too much with these entries.
  void keep_balanced_rows_if_needed(const double* entries, cudaStream_t s);

  // Application.
  /// Uᵀ and Lᵀ, made when they are first asked for, with the values of the last factor.
  [[nodiscard]] SweepPair make_transposed(cudaStream_t s) const;
  void load_transposed(const SweepPair& sweeps, cudaStream_t s) const;
  void prepare_symmetric(cudaStream_t s);
  /// scaled_, from the first call on.
  void reserve_scaled(cudaStream_t s);
  /// work(device_from, device_to, stream) for vectors in either space.
  template <class Work>
  void with_vectors(const double* from, double* to, MemorySpace space, Stream stream, const Work& work);
  void prepare(Apply part, cudaStream_t s);
  /// Whether `part` is that of the sweeps in transposed_.
  [[nodiscard]] bool runs_transposed(Apply part) const;
  /// How many of `left` columns one pass takes.
  [[nodiscard]] Index columns_together(Apply part, Index left) const;
  ManyPair& many(Apply part, cudaStream_t s);
  void load_many(Many& many, bool transposed, cudaStream_t s) const;
  void run(Apply part, const CudaColumns& columns, cudaStream_t s);
  void run(Apply part, const double* b, double* x, cudaStream_t s);

  /// Entries beside the diagonal, on each side, of rows that a lane takes one after the other.
  static constexpr Index kShortRow = 32;

  Closing closing_;
  int device_;
  int host_threads_;  ///< of symbolic phases
  FactorOptions options_;
  ScheduleRequest double_request_;  ///< the request for sweeps in double
  ScheduleRequest request_;
  std::size_t input_entries_ = 0;
  DeviceArray<Index> row_order_;  ///< empty: natural
  DeviceArray<Index> col_order_;  ///< empty: that of the rows
  DeviceCsr pattern_;             ///< of the factor: all of B (ilu), its upper triangle (ic)
  DeviceCsr full_;                ///< all of B, for ic with a positive definite shift
  DeviceArray<Offset> diagonal_;
  kernels::Factor factor_;
  bool source_dropped_ = false;   ///< drop_source()
  bool entries_dropped_ = false;  ///< the factor's entries are in the sweeps alone
  bool keeps_entries_ = false;    ///< the entries have been asked for
  DeviceArray<double> unit_;  ///< U of ic; in single of ilu, too, with anything for L, but where entries are dropped
  SweepPair sweeps_;
  bool products_lost_ = false;                             ///< a recurrence is no longer asked for
  std::optional<kernels::Recurrence> recurrence_;          ///< from the first attempt on that asks for it
  std::unique_ptr<kernels::EliminationMethod> of_papers_;  ///< where the schedule of the factorisation is theirs
  SweepPair transposed_;                                   ///< from the first transposed application of ilu on
  Retired retired_;
  DeviceArray<double> scaled_;  ///< right-hand side of the second sweep alone
  bool symmetric_ready_ = false;
  SweepProduct product_;
  Balanced balanced_;                                  ///< from the first set_diagonal() with symmetric scaling on
  TransformScaling scaling_ = TransformScaling::none;  ///< of the last set_diagonal()
  Many many_;
  Many many_transposed_;
  DeviceArray<double> loss_;        ///< where schedules rewrite rows: what they may lose
  PinnedValue<double> loss_found_;  ///< its copy
  DeviceArray<double> host_values_;
  CudaFlag flag_;
  CudaStaging staging_;
  CudaVectorPair vectors_;
  mutable StreamOrder order_;  ///< reading is a call, too
};

}  // namespace taskdag::cuda

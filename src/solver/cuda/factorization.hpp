/// \file
/// The incomplete factorisations on CUDA: factorization.cu analyses and factorises, application.cu
/// applies, halves.cu applies halves, growth.cu says how much an application enlarges.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/cuda/memory.hpp"
#include "backends/cuda/stream_order.hpp"
#include "kernels/factor/cuda/numeric.hpp"
#include "kernels/factor/cuda/recurrence.hpp"
#include "solver/checks.hpp"
#include "solver/choice/factor_schedule.hpp"
#include "solver/cuda/factor_layout.hpp"
#include "solver/cuda/flag.hpp"
#include "solver/cuda/many.hpp"
#include "solver/cuda/product.hpp"
#include "solver/cuda/retired.hpp"
#include "solver/cuda/staging.hpp"
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
  void apply(Apply operation, Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx,
             MemorySpace space, Stream stream) override;
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
  /// What is kept of the factor's entries.
  struct Entries {
    DeviceArray<double> unit;  ///< U of ic; in single of ilu, too, with anything for L, but where entries are dropped
    bool dropped = false;      ///< they are in the sweeps alone
    bool asked_for = false;    ///< so they are kept from now on
  };

  /// How attempts eliminate where they do not follow lists.
  struct WithoutLists {
    std::optional<kernels::Recurrence> recurrence;          ///< from the first attempt on that asks for it
    bool products_lost = false;                             ///< so a recurrence is no longer asked for
    std::unique_ptr<kernels::EliminationMethod> of_papers;  ///< where the schedule of the factorisation is theirs
    [[nodiscard]] bool walks() const { return recurrence && recurrence->walks(); }
    [[nodiscard]] std::int64_t bytes() const {
      return (recurrence ? recurrence->bytes() : 0) + (of_papers ? of_papers->bytes() : 0);
    }
  };

  /// What the second sweep needs where it runs without the first.
  struct SecondAlone {
    DeviceArray<double> rhs;       ///< its right-hand side, by rows; empty: not asked for yet
    bool symmetric_ready = false;  ///< the pivots of the last factor have roots, and rhs is there
  };

  /// Eisenstat's trick. With symmetric scaling it has sweeps of its own, those of I + L̃ and I + Ũ.
  struct Eisenstat {
    TransformScaling scaling = TransformScaling::none;  ///< of the last set_diagonal()
    SweepProduct product;                               ///< of the sweeps of applications
    SweepPair balanced;  ///< this and the next from the first set_diagonal() with symmetric scaling on
    SweepProduct balanced_product;
    void run(const SweepPair& sweeps, const double* v, double* y, int* non_finite, cudaStream_t s) const {
      if (scaling == TransformScaling::symmetric) {
        balanced_product.run(balanced, v, y, non_finite, s);
      } else {
        product.run(sweeps, v, y, non_finite, s);
      }
    }
    [[nodiscard]] std::int64_t bytes() const { return product.bytes() + balanced.bytes() + balanced_product.bytes(); }
  };

  /// What schedules that rewrite rows may lose with the values that they have loaded.
  class Loss {
   public:
    /// @returns where sweeps put the most that they lose
    double* begin(cudaStream_t s) {
      if (most_.size() == 0) most_ = {1, s};
      check(cudaMemsetAsync(most_.data(), 0, sizeof(double), s), "clearing a number");
      return most_.data();
    }
    void end(cudaStream_t s) { copy_to_host(found_.data(), most_.data(), 1, s); }
    /// Of the last begin() to end(), once the stream has been waited for.
    [[nodiscard]] double most() const { return *found_.data(); }

   private:
    DeviceArray<double> most_;
    PinnedValue<double> found_;
  };

  /// What calls with arrays in host memory need.
  struct HostArrays {
    DeviceArray<double> values;  ///< copy of the last factor()'s
    CudaStaging staging;
    CudaVectorPair vectors;
  };

  // Analysis.
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
  /// Forgets where entries come from where that is found again in a pass, as rows are short, and only a walk of the
  /// rows will need it. Before sweeps are made, which take memory; restored where rows are not walked then.
  void drop_source(const AnalysedTriangle& forward, cudaStream_t s);
  void count_bytes();
  /// Takes single precision where an automatic choice does. Before sweeps are made.
  void settle_precision(const AnalysedTriangle& forward);
  void report_precision();
  [[nodiscard]] bool single() const { return request_.precision == Precision::in_single; }
  [[nodiscard]] bool uses_recurrence() const {
    return factor_.only_diagonal_changes() && options_.factor_schedule == FactorSchedule::automatic &&
           !without_lists_.products_lost;
  }
  /// Lists are not needed at once where a recurrence may replace them.
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
  /// U of the last attempt as a unit triangle, where it is needed.
  void scale_to_unit(cudaStream_t s);
  /// PETSc takes the shift's top from the whole rows of A, also for IC(0); the row sums do not depend on the ordering.
  double full_dominance(const double* values, cudaStream_t s);
  void load_sweeps(cudaStream_t s);
  void load_sweeps(const SweepPair& sweeps, cudaStream_t s) const;
  [[nodiscard]] const double* first_values() const;  ///< what the first sweep is loaded with
  /// What the second one is. In single U is a unit triangle, and the pivots scale its right-hand side.
  [[nodiscard]] const double* second_values(const SweepPair& sweeps) const {
    return sweeps.single() ? entries_.unit.data() : factor_.entries();
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
  /// The right-hand side of the second sweep alone, from the first call on.
  void reserve_second_rhs(cudaStream_t s);
  /// work(device_from, device_to, stream) for vectors in either space.
  template <class Work>
  void with_vectors(const double* from, double* to, MemorySpace space, Stream stream, const Work& work);
  void prepare(Apply operation, cudaStream_t s);
  /// Whether `operation` is that of the sweeps in transposed_.
  [[nodiscard]] bool runs_transposed(Apply operation) const;
  /// How many of the `remaining` columns one pass takes.
  [[nodiscard]] Index columns_together(Apply operation, Index remaining) const;
  ManyPair& many(Apply operation, cudaStream_t s);
  void load_many(ManySweeps& many, bool transposed, cudaStream_t s) const;
  void run(Apply operation, const CudaColumns& columns, cudaStream_t s);
  void run(Apply operation, const double* b, double* x, cudaStream_t s);

  /// Entries beside the diagonal, on each side, of rows that a lane takes one after the other.
  static constexpr Index kShortRow = 32;

  Closing closing_;
  int device_;
  int host_threads_;  ///< of symbolic phases
  FactorOptions options_;
  ScheduleRequest double_request_;  ///< the request for sweeps in double
  ScheduleRequest request_;
  FactorLayout layout_;
  kernels::Factor factor_;
  Entries entries_;
  SweepPair sweeps_;
  WithoutLists without_lists_;
  SweepPair transposed_;  ///< from the first transposed application of ilu on
  Retired retired_;
  SecondAlone second_alone_;
  Eisenstat eisenstat_;
  ManySweeps many_;
  ManySweeps many_transposed_;
  Loss loss_;
  HostArrays host_;
  CudaFlag flag_;
  mutable StreamOrder order_;  ///< reading is a call, too
};

}  // namespace taskdag::cuda

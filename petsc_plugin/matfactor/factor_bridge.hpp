/// \file
/// An incomplete factorisation of a PETSc matrix.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mat/bridge.hpp"
#include "mat/rank_view.hpp"
#include "matfactor/factor_options.hpp"
#include "ordering/own_order.hpp"
#include "taskdag/factorization.hpp"

namespace taskdag::petsc {

/// What went wrong in a numeric phase, if anything, in PETSc's terms.
struct FactorFailure {
  MatFactorError error = MAT_FACTOR_NOERROR;
  PetscReal zero_pivot_value = 0.0;
  PetscInt zero_pivot_row = -1;
};

/// Whether blocks are factored as one, and whether the options' shift stands there for want of another one: then they
/// are factored without it, as PETSc's own are.
struct FormChoice {
  PointBlock point_block = PointBlock::automatic;
  bool shift_by_default = false;
};

/// Whether a numeric phase measures the growth of its factor, which costs an application. `where_needed`: not of many
/// rows where a bound that costs nothing says that it is reasonable.
enum class MeasureGrowth : bool { no, where_needed };

/// Growth above this is warned of: a preconditioned residual may be small where the residual is not. What that rests on
/// is in docs/notes/icc-shift.md.
inline constexpr double reasonable_growth = 1e7;
/// A bound by the factor's rows, of which growth is a small share, that needs no look at the growth itself.
inline constexpr double reasonable_growth_bound = 1e15;

/// After an error of analyse() or factor() there is no factor: apply() is refused, and the next analyse() or factor()
/// makes all anew. A failure of the numbers is no error in this sense.
class FactorBridge : public Bridge {
 public:
  explicit FactorBridge(MeasureGrowth measure) : measure_growth_(measure == MeasureGrowth::where_needed) {}

  /// Symbolic phase. row, col: permutations as MatGetOrdering() gives them, or null for the natural order.
  /// trace_file: where to write, when the factor goes, what programs of the engine have done; empty: nowhere.
  PetscErrorCode analyse(Mat matrix, IS row, IS col, const FactorOptions& options, const FormChoice& form,
                         const BackendSettings& settings, const std::string& trace_file);

  /// The same with one order for rows and columns, wherever it is.
  PetscErrorCode analyse(Mat matrix, const OwnOrder& order, const FactorOptions& options, const FormChoice& form,
                         const BackendSettings& settings, const std::string& trace_file);

  /// Numeric phase for a matrix with the pattern that was analysed. Options that differ from the last ones are taken.
  /// @returns PETSC_ERR_ARG_WRONGSTATE where the last analyse() failed before the pattern was read
  /// A zero pivot or a value that is not finite is an error with `error_if_failure`, else a report in `failure`.
  PetscErrorCode factor(Mat matrix, const FactorOptions& options, bool error_if_failure, FactorFailure* failure);

  /// Applies the factor to the local part of a vector, or to the columns of a dense matrix.
  /// @returns PETSC_ERR_ARG_WRONGSTATE where there is none
  PetscErrorCode apply(Apply operation, Vec b, Vec x);
  PetscErrorCode apply(Apply operation, Mat b, Mat x);

  /// The same for arrays of `rows()` elements in memory of the backend; with a factor. May throw.
  void apply_to_arrays(Apply part, const double* b, double* x, Stream stream) {
    factorization_->apply(part, b, x, on_cuda() ? MemorySpace::device : MemorySpace::host, stream);
  }
  void apply_to_columns(Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx, Stream stream) {
    factorization_->apply_many(Apply::full, count, b, ldb, x, ldx, on_cuda() ? MemorySpace::device : MemorySpace::host,
                               stream);
  }
  /// Factorization::prepare_replays(), which may change launches().
  PetscErrorCode prepare_replays(std::int64_t replays);
  /// ArrayUse::replays
  [[nodiscard]] std::int64_t replays() const;
  /// ArrayUse::launches
  [[nodiscard]] std::uint64_t launches() const { return launches_; }
  [[nodiscard]] bool has_factor() const { return factorization_.has_value(); }
  /// Of such an application.
  [[nodiscard]] PetscLogDouble flops_of_application() const { return flops(Apply::full); }
  /// Whether sweeps are programs of the task engine.
  [[nodiscard]] bool applies_by_program() const { return applies_by_program_; }

  /// Lends arrays of b and x to `work(factorization, arrays, stream)`: for halves of a factor. share: of an
  /// application's operations.
  template <class Work>
  PetscErrorCode with_factor(Vec b, Vec x, double share, const Work& work) {
    PetscFunctionBegin;
    PetscCall(require_factor());
    PetscCall(with_arrays(b, x, share * flops(Apply::full),
                          [&](const Arrays& arrays, Stream stream) { work(*factorization_, arrays, stream); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// E of a factor, by row.
  PetscErrorCode pivots(Vec e);
  /// Factorization::set_diagonal()
  PetscErrorCode set_diagonal(Vec d, TransformScaling scaling);

  /// Prints the backend, sizes, levels, memory and PETSc's shifts.
  PetscErrorCode view(const RankViewer& viewer) const;

  /// Of the last numeric phase.
  [[nodiscard]] const FactorStatus& status() const { return status_; }
  /// Factorization::growth() of the last numeric phase that succeeded; 0 where it was not measured.
  [[nodiscard]] double growth() const { return growth_; }
  /// What it is at most, where a reasonable bound stands in for it; else 0.
  [[nodiscard]] double growth_bound() const { return growth_bound_; }

  /// Without levels, in PETSc's numbers. None before analyse(), and for a matrix without rows.
  [[nodiscard]] std::optional<FactorizationInfo> info() const;

  /// For values that are out of date: apply() is refused until the next factor().
  PetscErrorCode drop_factor();

  /// Rows of the blocks of PETSc's matrix that are factored as one; 1 in the scalar form. To the library complex
  /// numbers are blocks, too: see block_size().
  [[nodiscard]] PetscInt point_block() const { return point_block_; }
  /// Blocks are factored without the shift that the options name.
  [[nodiscard]] bool shift_is_dropped() const { return point_block_ > 1 && form_.shift_by_default; }

  PetscErrorCode reset();

 private:
  PetscErrorCode take_row_order(Mat matrix, IS row);
  PetscErrorCode set_order(Mat matrix, IS order, std::vector<Index>* indices);
  PetscErrorCode analyse_ordered(Mat matrix, const FactorOptions& options, const FormChoice& form,
                                 const BackendSettings& settings);
  /// row_order_, where it is on the device alone.
  PetscErrorCode fetch_order();
  PetscErrorCode build(Mat matrix, const FactorOptions& options);
  PetscErrorCode choose_form(Mat matrix, const FactorOptions& options);
  [[nodiscard]] static std::string reason_for_numbers(const FactorOptions& options);
  [[nodiscard]] std::string reason_for_rows(const FactorOptions& options, PetscInt block) const;
  /// Of the library's point blocks; 1: none.
  [[nodiscard]] Index block_size() const { return static_cast<Index>(point_block_ * reals_per_scalar); }
  /// The options as the form in use takes them.
  [[nodiscard]] FactorOptions in_form(const FactorOptions& options) const;
  [[nodiscard]] PetscErrorCode require_factor() const;
  [[nodiscard]] PetscErrorCode check_operation(Apply operation) const;
  [[nodiscard]] bool upper_is_enough(const FactorOptions& options) const;
  [[nodiscard]] PetscLogDouble flops(Apply operation) const;
  [[nodiscard]] std::string describe_factor(const FactorizationInfo& sizes) const;
  [[nodiscard]] std::string one_block_line(const FactorizationInfo& sizes) const;
  [[nodiscard]] std::string precision_line(const FactorizationInfo& sizes) const;
  PetscErrorCode write_trace() const;

  bool analysed_ = false;  ///< orders, blocks, matrix and backend are those of the last analyse()
  FactorOptions options_;  ///< of factorization_: as given, without the blocks
  FactorStatus status_;
  bool measure_growth_;
  double growth_ = 0.0;
  double growth_bound_ = 0.0;
  std::shared_ptr<const std::vector<Index>> row_order_;  ///< null before analyse(), and while device_order_ will do
  std::shared_ptr<const DeviceOrder> device_order_;      ///< the same, where it was made on a device
  std::vector<Index> col_order_;                         ///< empty where `same_order_`
  bool same_order_ = false;                              ///< one ordering was given for both
  FormChoice form_;
  PetscInt point_block_ = 1;
  std::string scalar_reason_;  ///< why stored blocks are not factored as one; empty: they are, or there are none
  std::shared_ptr<const RowBlocks> blocks_;
  std::string trace_file_;
  /// A factor has had all the applications that FactorOptions::one_block_applications grants: later ones do without.
  bool has_left_one_block_ = false;
  std::optional<Factorization> factorization_;  ///< empty: to be made
};

}  // namespace taskdag::petsc

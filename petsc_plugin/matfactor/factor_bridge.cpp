#include "matfactor/factor_bridge.hpp"

#include <limits>
#include <optional>
#include <span>
#include <tuple>

#include "backend_choice.hpp"
#include "fresh_number.hpp"
#include "mat/indices.hpp"
#include "mat/with_pattern.hpp"
#include "matfactor/engine_runs.hpp"
#include "matfactor/sweep_view.hpp"
#include "options.hpp"
#include "ordering/attached_blocks.hpp"
#include "taskdagpetsc.h"

namespace taskdag::petsc {
namespace {

/// All that the symbolic phase depends on.
bool same(const FactorOptions& a, const FactorOptions& b) {
  const auto tied = [](const FactorOptions& o) {
    return std::tie(o.factor_schedule, o.run, o.kind, o.diagonal_only, o.shift, o.levels, o.fill, o.schedule, o.tune,
                    o.tune_file, o.precision, o.one_block_rows, o.one_block_applications);
  };
  return tied(a) == tied(b) && study_of(a) == study_of(b);
}

FactorFailure to_failure(const FactorStatus& status) {
  FactorFailure failure;
  switch (status.outcome) {
    case FactorOutcome::success:
      break;
    case FactorOutcome::zero_pivot:
      failure = {MAT_FACTOR_NUMERIC_ZEROPIVOT, static_cast<PetscReal>(status.last_pivot), status.last_row};
      break;
    case FactorOutcome::non_finite:
      failure.error = MAT_FACTOR_OTHER;
      break;
    case FactorOutcome::not_definite:
      failure = {MAT_FACTOR_NUMERIC_ZEROPIVOT, 0.0, status.first_row};
      break;
  }
  return failure;
}

/// "ILU(0)", "DILU".
std::string factor_name(const FactorOptions& options) {
  const bool lu = options.kind == FactorKind::ilu;
  if (options.diagonal_only) return lu ? "DILU" : "DIC";
  return (lu ? "ILU(" : "ICC(") + std::to_string(options.levels) + ")";
}

/// What does not fit into single precision.
std::string describe_loss(const FactorizationInfo& info) {
  return std::string("an entry is too ") + (info.precision_loss == PrecisionLoss::overflow ? "large" : "small") +
         " for single precision, in row " + std::to_string(info.precision_loss_row) + " of the factor";
}

/// The failure as an error.
PetscErrorCode raise_failure(const FactorStatus& status, const FactorOptions& options) {
  PetscCheck(status.outcome != FactorOutcome::zero_pivot, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT,
             "Zero pivot row %" PetscInt_FMT " tolerance %g; last one row %" PetscInt_FMT " value %g",
             static_cast<PetscInt>(status.first_row), options.zero_pivot, static_cast<PetscInt>(status.last_row),
             status.last_pivot);
  PetscCheck(status.outcome != FactorOutcome::not_definite, PETSC_COMM_SELF, PETSC_ERR_MAT_CH_ZRPVT,
             "The matrix is not definite: the diagonal entry of row %" PetscInt_FMT
             " is zero or has another sign than the first",
             static_cast<PetscInt>(status.first_row));
  PetscCheck(status.outcome != FactorOutcome::non_finite, PETSC_COMM_SELF, PETSC_ERR_FP,
             "The factor has a value that is not finite in row %" PetscInt_FMT,
             static_cast<PetscInt>(status.first_row));
  return PETSC_SUCCESS;
}

/// ICC of complex numbers is that of a symmetric matrix, and PETSc's own factorisations refuse the others, too.
PetscErrorCode check_symmetry(Mat matrix) {
  PetscFunctionBegin;
  PetscBool known = PETSC_FALSE;
  PetscBool hermitian = PETSC_FALSE;
  PetscBool symmetric = PETSC_FALSE;
  PetscCall(MatIsHermitianKnown(matrix, &known, &hermitian));
  const bool is_hermitian = known == PETSC_TRUE && hermitian == PETSC_TRUE;
  PetscCall(MatIsSymmetricKnown(matrix, &known, &symmetric));
  PetscCheck(!is_hermitian || (known == PETSC_TRUE && symmetric == PETSC_TRUE), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "ICC of complex numbers is for symmetric matrices, and this one is Hermitian: -pc_taskdag_type ilu");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The options are those that the factor was made with.
PetscErrorCode log_status(Mat matrix, const FactorStatus& status, const FactorOptions& options, bool error_if_failure) {
  PetscFunctionBegin;
  if (!status.ok()) {
    if (error_if_failure) PetscCall(raise_failure(status, options));
    PetscCall(PetscInfo(matrix, "Factorisation failed%s: first row %d, last row %d, value %g\n",
                        status.outcome == FactorOutcome::not_definite ? ", the diagonal is of no definite matrix" : "",
                        static_cast<int>(status.first_row), static_cast<int>(status.last_row), status.last_pivot));
  } else if (status.shifts > 0) {
    PetscCall(PetscInfo(matrix, "Diagonal shift %g%s after %d shifts\n", status.shift_amount,
                        options.shift == ShiftType::scaled ? " times the diagonal" : "", status.shifts));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode FactorBridge::set_order(Mat matrix, IS order, std::vector<Index>* indices) {
  PetscFunctionBegin;
  indices->clear();
  if (!order) PetscFunctionReturn(PETSC_SUCCESS);
  PetscBool identity = PETSC_FALSE;
  PetscCall(is_identity(order, &identity));
  if (identity) PetscFunctionReturn(PETSC_SUCCESS);
  PetscInt rows = 0;
  PetscInt block = 1;
  PetscCall(MatGetLocalSize(matrix, &rows, nullptr));
  PetscCall(stored_block_size(matrix, &block));
  PetscCall(read_row_order(order, rows, block, indices));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A long order is not copied where its index set has it as it is needed.
PetscErrorCode FactorBridge::take_row_order(Mat matrix, IS row) {
  PetscFunctionBegin;
  PetscBool identity = PETSC_TRUE;
  PetscInt rows = 0;
  PetscCall(MatGetLocalSize(matrix, &rows, nullptr));
  if (row) PetscCall(is_identity(row, &identity));
  if (!identity) PetscCall(attached_order(row, &row_order_));
  if (!identity && row_order_ && static_cast<PetscInt>(row_order_->size()) == rows) PetscFunctionReturn(PETSC_SUCCESS);
  std::vector<Index> own;
  if (!identity) PetscCall(set_order(matrix, row, &own));
  PetscCall(guarded([&] { row_order_ = std::make_shared<const std::vector<Index>>(std::move(own)); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorBridge::analyse(Mat matrix, IS row, IS col, const FactorOptions& options, const FormChoice& form,
                                     const BackendSettings& settings, const std::string& trace_file) {
  PetscFunctionBegin;
  EventScope event;
  PetscCall(event.begin(events().symbolic, reinterpret_cast<PetscObject>(matrix)));
  PetscCall(reset());
  PetscCall(guarded([&] { trace_file_ = trace_file; }));
  PetscCall(take_row_order(matrix, row));
  PetscCall(set_order(matrix, row == col ? nullptr : col, &col_order_));
  same_order_ = row == col || *row_order_ == col_order_;
  if (same_order_) col_order_.clear();
  PetscCall(attached_blocks(matrix, row, &blocks_));
  PetscCall(analyse_ordered(matrix, options, form, settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorBridge::analyse(Mat matrix, const OwnOrder& order, const FactorOptions& options,
                                     const FormChoice& form, const BackendSettings& settings,
                                     const std::string& trace_file) {
  PetscFunctionBegin;
  EventScope event;
  PetscCall(event.begin(events().symbolic, reinterpret_cast<PetscObject>(matrix)));
  PetscCall(reset());
  PetscCall(guarded([&] { trace_file_ = trace_file; }));
  row_order_ = order.host;
  device_order_ = order.device;
  col_order_.clear();
  same_order_ = true;
  PetscCall(blocks_of(order, matrix, &blocks_));
  PetscCall(analyse_ordered(matrix, options, form, settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorBridge::analyse_ordered(Mat matrix, const FactorOptions& options, const FormChoice& form,
                                             const BackendSettings& settings) {
  PetscFunctionBegin;
  PetscCall(check_pivoting(options));
  if (complex_scalars && options.kind == FactorKind::ic) PetscCall(check_symmetry(matrix));
  form_ = form;
  PetscCall(choose_form(matrix, options));
  PetscCall(prepare(matrix, upper_is_enough(options), settings, point_block_));
  analysed_ = true;
  PetscCall(build(matrix, options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorBridge::fetch_order() {
  PetscFunctionBegin;
  if (!row_order_)
    PetscCall(guarded([&] { row_order_ = std::make_shared<const std::vector<Index>>(device_order_->to_host()); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A permutation mixes the triangles, and the shift to a positive definite matrix starts from sums over whole rows.
bool FactorBridge::upper_is_enough(const FactorOptions& options) const {
  return options.kind == FactorKind::ic && !device_order_ && row_order_->empty() &&
         in_form(options).shift != ShiftType::positive_definite;
}

std::string FactorBridge::reason_for_numbers(const FactorOptions& options) {
  if (options.precision == Precision::in_single) return "single precision is for scalar rows";
  const bool chosen = options.schedule != SolveSchedule::automatic ||
                      options.factor_schedule != FactorSchedule::automatic || options.tune;
  if (chosen) return "schedules are chosen for scalar rows";
  if (options.levels > 0 && options.fill == FillScope::blocks)
    return "fill inside blocks of an ordering is of scalar rows";
  return "";
}

std::string FactorBridge::reason_for_rows(const FactorOptions& options, PetscInt block) const {
  if (options.diagonal_only) return "DILU and DIC are of scalar rows";
  if (std::string reason = reason_for_numbers(options); !reason.empty()) return reason;
  const bool has_shift = options.shift != ShiftType::none && options.shift != ShiftType::inblocks;
  if (has_shift && !form_.shift_by_default) return "blocks have no shifts but INBLOCKS";
  const std::string reason = reason_against_blocks(*row_order_, block);
  return reason.empty() ? reason_against_blocks(col_order_, block) : reason;
}

PetscErrorCode FactorBridge::choose_form(Mat matrix, const FactorOptions& options) {
  PetscFunctionBegin;
  PetscInt block = 1;
  std::string reason;
  point_block_ = 1;
  scalar_reason_.clear();
  PetscCall(wanted_block_size(matrix, form_.point_block, &block));
  if (block * reals_per_scalar <= 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(fetch_order());
  if (complex_scalars) {
    PetscCall(guarded([&] { reason = reason_for_numbers(options); }));
    PetscCheck(reason.empty(), PETSC_COMM_SELF, PETSC_ERR_SUP, "Complex numbers are factored as blocks, but %s",
               reason.c_str());
  }
  if (block <= 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(guarded([&] { reason = reason_for_rows(options, block); }));
  PetscCall(check_point_block(form_.point_block, reason));
  if (reason.empty())
    point_block_ = block;
  else
    scalar_reason_ = std::move(reason);
  PetscFunctionReturn(PETSC_SUCCESS);
}

FactorOptions FactorBridge::in_form(const FactorOptions& options) const {
  FactorOptions taken = options;
  taken.block_size = block_size();
  taken.complex_blocks = complex_scalars;
  if (point_block_ > 1 && form_.shift_by_default) taken.shift = ShiftType::none;
  return taken;
}

PetscErrorCode FactorBridge::build(Mat matrix, const FactorOptions& options) {
  PetscFunctionBegin;
  FactorOptions taken;
  PetscCall(drop_factor());
  if (rows() == 0) {
    PetscCall(guarded([&] { options_ = options; }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const bool fill_in_blocks = options.levels > 0 && options.fill == FillScope::blocks;
  PetscCheck(blocks_ || !fill_in_blocks, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "-pc_taskdag_fill blocks needs an ordering by blocks of this very pattern: "
             "-pc_taskdag_ordering " MATORDERINGTASKDAGBMC
             " (for -pc_type ilu or icc: -pc_factor_mat_ordering_type); auto takes it on GPUs only, for deep patterns");
  bool fills = false;
  PetscCall(fills_blocks_up(matrix, point_block_, &fills));
  const bool stays =
      device_order_ && block_size() == 1 && on_cuda() && backend_->context.device() == device_order_->device();
  if (!stays) PetscCall(fetch_order());
  PetscCall(with_pattern_of(matrix, [&](const CsrView& view, MemorySpace space, Stream stream) {
    taken = options;
    FactorOptions in_use = in_form(options);
    if (has_left_one_block_ && in_use.one_block_applications != 0) in_use.one_block_rows = 0;
    // With another order of the columns the blocks are not those of the factored matrix.
    const bool rows_are_the_librarys = !complex_scalars;
    if (same_order_ && !fills && rows_are_the_librarys && (options.levels == 0 || fill_in_blocks))
      in_use.blocks = blocks_;
    if (block_size() > 1) {
      const auto size = static_cast<Index>(point_block_);
      const std::vector<Index> rows = *order_of_blocks(*row_order_, size);
      const std::vector<Index> columns = *order_of_blocks(col_order_, size);
      factorization_.emplace(backend_->context, view.pattern, space, in_use, rows, same_order_ ? rows : columns,
                             stream);
      return;
    }
    if (stays) {
      in_use.device_order = device_order_;
      factorization_.emplace(backend_->context, view.pattern, space, in_use, std::span<const Index>{},
                             std::span<const Index>{}, stream);
      return;
    }
    const std::vector<Index>& col_order = same_order_ ? *row_order_ : col_order_;
    factorization_.emplace(backend_->context, view.pattern, space, in_use, *row_order_, col_order, stream);
  }));
  launches_ = fresh_number();
  options_ = std::move(taken);
  const FactorizationInfo& sizes = factorization_->info_without_levels();
  applies_by_program_ = sizes.lower_schedule == SolveSchedule::engine && sizes.upper_schedule == SolveSchedule::engine;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorBridge::prepare_replays(std::int64_t replays) {
  PetscFunctionBegin;
  Stream stream;
  bool other = false;
  if (!on_cuda()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(current_stream(&stream));
  PetscCall(guarded([&] { other = factorization_->prepare_replays(replays, stream); }));
  if (other) launches_ = fresh_number();
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::int64_t FactorBridge::replays() const {
  const FactorizationInfo& sizes = factorization_->info_without_levels();
  if (sizes.one_block_limit == 0 || sizes.lower_schedule != SolveSchedule::one_block)
    return std::numeric_limits<std::int64_t>::max();
  return sizes.one_block_limit - sizes.one_block_applied;
}

PetscErrorCode FactorBridge::factor(Mat matrix, const FactorOptions& options, bool error_if_failure,
                                    FactorFailure* failure) {
  PetscFunctionBegin;
  *failure = {};
  PetscCheck(analysed_, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "TaskDAG has no pattern to factor: the symbolic phase has failed");
  PetscCall(check_pivoting(options));
  if (rows() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (!factorization_ || !same(options, options_)) {
    PetscCall(drop_factor());
    PetscCall(choose_form(matrix, options));
    PetscCall(source_.inspect(matrix, upper_is_enough(options), point_block_));
    PetscCall(build(matrix, options));
  } else {
    PetscCall(guarded([&] { factorization_->set_pivoting(options.shift_amount, options.zero_pivot); }));
    options_.shift_amount = options.shift_amount;
    options_.zero_pivot = options.zero_pivot;
  }
  EventScope event;
  PetscCall(event.begin(events().numeric, reinterpret_cast<PetscObject>(matrix)));
  EventScope program;
  if (options_.factor_schedule == FactorSchedule::engine) {
    PetscCall(program.begin(events().program, reinterpret_cast<PetscObject>(matrix)));
  }
  growth_ = 0.0;
  growth_bound_ = 0.0;
  const PrecisionLoss loss_before = factorization_->info_without_levels().precision_loss;
  PetscErrorCode logged = PETSC_SUCCESS;
  const PetscErrorCode factored = with_matrix(matrix, [&](const CsrView& view, MemorySpace space, Stream stream) {
    status_ = factorization_->factor(view.values, space, stream);
    status_.first_row = in_scalars(status_.first_row);
    status_.last_row = in_scalars(status_.last_row);
    if (!measure_growth_ || !status_.ok()) return;
    // Of few rows a number costs little, and says more.
    constexpr PetscInt kFewRows = 10000;
    if (rows() >= kFewRows && factorization_->growth_bound() <= reasonable_growth_bound) {
      growth_bound_ = factorization_->growth_bound();
      return;
    }
    EventScope measuring;
    // The one call of PETSc in such a body: another with_matrix() would convert some matrices again. Its code goes up
    // below.
    logged = measuring.begin(events().growth, reinterpret_cast<PetscObject>(matrix));
    growth_ = factorization_->growth(view.values, space, stream);
  });
  if (static_cast<int>(factored) != 0) (void)drop_factor();  // it may hold old values and new ones
  PetscCall(factored);
  PetscCall(logged);
  // As PETSc's own incomplete factorisations count: one reciprocal per row.
  PetscCall(log_flops(on_cuda(), static_cast<PetscLogDouble>(rows()) + (growth_ > 0.0 ? flops(Apply::full) : 0.0)));
  if (factorization_->info_without_levels().precision_loss != loss_before) {
    std::string loss;
    PetscCall(guarded([&] { loss = describe_loss(factorization_->info_without_levels()); }));
    PetscCall(PetscInfo(matrix, "The factor is stored in double from now on: %s\n", loss.c_str()));
  }
  *failure = to_failure(status_);
  PetscCall(log_status(matrix, status_, options_, error_if_failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorBridge::require_factor() const {
  PetscFunctionBegin;
  PetscCheck(factorization_ || (analysed_ && rows() == 0), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "TaskDAG has no factor to apply: the last set-up has failed. Repeat it, for -pc_type ilu and icc after "
             "PCReset()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of a factor that is made.
PetscErrorCode FactorBridge::check_operation(Apply operation) const {
  PetscFunctionBegin;
  const bool half = operation == Apply::symmetric_left || operation == Apply::symmetric_right;
  PetscCheck(!half || !complex_scalars, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "a factorisation of complex numbers has no symmetric parts (-ksp_pc_side symmetric)");
  PetscCheck(!half || block_size() == 1, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "a factorisation by point blocks has no symmetric parts (-ksp_pc_side symmetric), one by rows has: "
             "-pc_taskdag_point_block off");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorBridge::apply(Apply operation, Vec b, Vec x) {
  PetscFunctionBegin;
  PetscCall(require_factor());
  PetscCall(check_operation(operation));
  PetscCall(with_arrays(b, x, flops(operation), [&](const Arrays& arrays, Stream stream) {
    factorization_->apply(operation, arrays.b, arrays.x, arrays.space, stream);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorBridge::apply(Apply operation, Mat b, Mat x) {
  PetscFunctionBegin;
  PetscCall(require_factor());
  PetscCall(with_arrays(b, x, flops(operation), [&](const Arrays& arrays, Stream stream) {
    factorization_->apply_many(operation, static_cast<Index>(arrays.columns), arrays.b, arrays.ldb, arrays.x,
                               arrays.ldx, arrays.space, stream);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorBridge::pivots(Vec e) {
  PetscFunctionBegin;
  PetscCall(require_factor());
  if (rows() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(with_result(
      e, [this](double* array, MemorySpace space, Stream stream) { factorization_->pivots(array, space, stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorBridge::set_diagonal(Vec d, TransformScaling scaling) {
  PetscFunctionBegin;
  PetscCall(require_factor());
  if (rows() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(with_array(d, [this, scaling](const double* array, MemorySpace space, Stream stream) {
    factorization_->set_diagonal(array, space, stream, scaling);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscLogDouble FactorBridge::flops(Apply operation) const {
  if (!factorization_) return 0.0;
  const auto entries = static_cast<PetscLogDouble>(info()->entries);
  const auto n = static_cast<PetscLogDouble>(rows());
  // Blocks of both triangles, and the inverse ones on the diagonal.
  if (block_size() > 1) return 2.0 * entries;
  const bool whole_cholesky =
      options_.kind == FactorKind::ic && (operation == Apply::full || operation == Apply::transposed);
  return whole_cholesky ? 4.0 * entries - 3.0 * n : 2.0 * entries - n;
}

PetscErrorCode FactorBridge::view(const RankViewer& viewer) const {
  PetscFunctionBegin;
  FactorizationInfo sizes;
  PetscCall(guarded(viewer.comm, [&] {
    if (factorization_) sizes = sizes_in_scalars(factorization_->info());  // some ranks may have no rows
  }));
  std::string title;
  std::string text;
  std::vector<RankNumber> numbers;
  bool each = false;
  PetscCall(guarded(viewer.comm, [&] { text = backend_line(); }));
  PetscCall(view_texts(viewer, text));
  if (!analysed_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(shows_each_rank(viewer, &each));
  PetscCall(guarded(viewer.comm, [&] {
    title = "factor: " + factor_name(options_) +
            (options_.levels > 0 && options_.fill == FillScope::blocks ? " with fill inside blocks" : "") + ", ";
    numbers = size_numbers(sizes);
    numbers.push_back({"MB of these for new values alone", static_cast<double>(sizes.numeric_bytes) / 1.0e6, true});
    text = each ? number_text(title, numbers) + '\n' : "";
    if (factorization_) text += describe_factor(sizes);
  }));
  PetscCall(view_numbers(viewer, title, numbers));
  PetscCall(view_texts(viewer, text));
  if (options_.precision == Precision::in_double) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(guarded(viewer.comm, [&] {
    title = "values that an application reads: ";
    numbers = {{"MB", static_cast<double>(sizes.value_bytes) / 1.0e6, true},
               {"MB in double", static_cast<double>(sizes.value_bytes_in_double) / 1.0e6, true}};
    text = factorization_ ? precision_line(sizes) : "";
    if (each) text = number_text(title, numbers) + '\n' + text;
  }));
  PetscCall(view_numbers(viewer, title, numbers));
  PetscCall(view_texts(viewer, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string FactorBridge::precision_line(const FactorizationInfo& sizes) const {
  std::string text = std::string("precision of the factor: ") + to_string(sizes.precision);
  if (sizes.precision_loss != PrecisionLoss::none) {
    text += ", since " + describe_loss(sizes);
  } else if (options_.precision == Precision::automatic) {
    text += sizes.precision == Precision::in_single ? " (auto: the factor is large and in blocks)" : " (auto)";
  }
  return text + '\n';
}

std::string FactorBridge::one_block_line(const FactorizationInfo& sizes) const {
  if (sizes.one_block_limit == 0) {
    return has_left_one_block_ ? "not by one thread block first: a factor before this one has left it\n" : "";
  }
  const std::string applied = std::to_string(sizes.one_block_applied);
  if (sizes.lower_schedule == SolveSchedule::one_block) {
    return "one thread block for the first " + std::to_string(sizes.one_block_limit) + " applications, " + applied +
           " so far: no more than " + std::to_string(options_.one_block_rows) + " rows (auto)\n";
  }
  return "in place of one thread block, after " + applied + " applications by it (auto)\n";
}

std::string FactorBridge::describe_factor(const FactorizationInfo& sizes) const {
  const std::string size = std::to_string(sizes.block_size);
  std::string text;
  if (sizes.block_size > 1) text = "point blocks of " + size + " x " + size + ", a row of blocks is a task\n";
  // By point blocks host threads have one schedule, which has no name.
  if (sizes.lower_schedule != SolveSchedule::automatic) {
    text += schedules_text(sizes, options_.schedule, study_of(options_));
  }
  if (sweeps_may_share_warps(sizes)) text += warps_text(study_of(options_));
  if (options_.one_block_applications != 0) text += one_block_line(sizes);
  if (options_.factor_schedule != FactorSchedule::automatic && options_.factor_schedule != FactorSchedule::engine) {
    text += std::string("schedule of the numeric factorisation: ") + to_string(options_.factor_schedule) + '\n';
  }
  if (sweeps_by_ata(sizes) || by_ata(options_.factor_schedule)) text += task_size_text(study_of(options_));
  if (!scalar_reason_.empty()) text += "scalar rows instead of point blocks: " + scalar_reason_ + '\n';
  if (sizes.diagonal_only && !options_.diagonal_only && options_.levels == 0) {
    text += std::string("elimination has changed the diagonal alone: this is ") +
            (options_.kind == FactorKind::ilu ? "DILU" : "DIC") + '\n';
  }
  const bool factor = options_.factor_schedule == FactorSchedule::engine;
  if (applies_by_program_ || factor) {
    text += std::string("engine: ") + (factor ? "numeric factorisation" : "") +
            (factor && applies_by_program_ ? "; " : "") + (applies_by_program_ ? "both sweeps as one program" : "") +
            ", scheduler " + engine::to_string(options_.run.scheduler) + ", dependencies " +
            engine::to_string(options_.run.dependencies) + '\n' + describe(factorization_->engine_runs());
  }
  if (sizes.given_up_loss > 0.0) {
    text += "rows are kept as they are: rewriting them would lose " + number(sizes.given_up_loss) +
            " times what rounding leaves\n";
  }
  if (status_.shifts > 0 && options_.shift != ShiftType::scaled) {
    const bool inblocks = options_.shift == ShiftType::inblocks;
    text += "shifted " + std::to_string(status_.shifts) + " times, by " +
            number(inblocks ? options_.shift_amount : status_.shift_amount) + " in the end\n";
  }
  return text;
}

std::optional<FactorizationInfo> FactorBridge::info() const {
  if (!factorization_) return std::nullopt;
  return sizes_in_scalars(factorization_->info_without_levels());
}

PetscErrorCode FactorBridge::write_trace() const {
  PetscFunctionBegin;
  if (!factorization_ || trace_file_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(guarded([&] { write_traces(factorization_->engine_runs(), backend_->context.backend(), trace_file_); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorBridge::drop_factor() {
  PetscFunctionBegin;
  status_ = {};
  growth_ = 0.0;
  growth_bound_ = 0.0;
  applies_by_program_ = false;
  if (factorization_) {
    const FactorizationInfo& sizes = factorization_->info_without_levels();
    if (sizes.one_block_limit > 0 && sizes.lower_schedule != SolveSchedule::one_block) has_left_one_block_ = true;
  }
  const PetscErrorCode written = write_trace();
  PetscCall(guarded([&] { factorization_.reset(); }));
  PetscCall(written);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorBridge::reset() {
  PetscFunctionBegin;
  analysed_ = false;
  const PetscErrorCode dropped = drop_factor();
  device_order_.reset();
  backend_.reset();
  PetscCall(source_.reset());
  PetscCall(dropped);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

#include "matfactor/factor_bridge.hpp"

#include <tuple>

#include "matfactor/engine_runs.hpp"
#include "ordering/attached_blocks.hpp"
#include "taskdagpetsc.h"

namespace taskdag::petsc {
namespace {

bool same(const FactorOptions& a, const FactorOptions& b) {
  const auto tied = [](const FactorOptions& o) {
    return std::tie(o.factor_schedule, o.run, o.kind, o.shift, o.shift_amount, o.zero_pivot, o.levels, o.fill,
                    o.schedule, o.tune, o.tune_file);
  };
  return tied(a) == tied(b);
}

FactorFailure to_failure(const FactorStatus& status) {
  FactorFailure failure;
  switch (status.outcome) {
    case FactorOutcome::success:
      break;
    case FactorOutcome::zero_pivot:
      failure = {MAT_FACTOR_NUMERIC_ZEROPIVOT, status.last_pivot, status.last_row};
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

}  // namespace

PetscErrorCode FactorBridge::set_order(IS order, std::vector<Index>* indices) {
  PetscFunctionBegin;
  indices->clear();
  if (!order) PetscFunctionReturn(PETSC_SUCCESS);
  PetscBool identity = PETSC_FALSE;
  PetscCall(ISIdentity(order, &identity));
  if (identity) PetscFunctionReturn(PETSC_SUCCESS);
  PetscInt n = 0;
  const PetscInt* array = nullptr;
  PetscCall(ISGetLocalSize(order, &n));
  PetscCall(ISGetIndices(order, &array));
  PetscCall(guarded([&] { indices->assign(array, array + n); }));
  PetscCall(ISRestoreIndices(order, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorBridge::analyse(Mat matrix, IS row, IS col, const FactorOptions& options,
                                     const BackendSettings& settings, const std::string& trace_file) {
  PetscFunctionBegin;
  EventScope event;
  PetscCall(event.begin(events().symbolic, reinterpret_cast<PetscObject>(matrix)));
  PetscCall(reset());
  PetscCall(guarded([&] { trace_file_ = trace_file; }));
  PetscCall(set_order(row, &row_order_));
  PetscCall(set_order(row == col ? nullptr : col, &col_order_));
  same_order_ = row == col || row_order_ == col_order_;
  if (same_order_) col_order_.clear();
  PetscCall(attached_blocks(matrix, row, &blocks_));
  PetscCall(prepare(matrix, upper_is_enough(options), settings));
  analysed_ = true;
  PetscCall(build(matrix, options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A permutation mixes the triangles, and the shift to a positive definite matrix starts from sums over whole rows.
bool FactorBridge::upper_is_enough(const FactorOptions& options) const {
  return options.kind == FactorKind::ic && row_order_.empty() && options.shift != ShiftType::positive_definite;
}

PetscErrorCode FactorBridge::build(Mat matrix, const FactorOptions& options) {
  PetscFunctionBegin;
  FactorOptions taken;
  PetscCall(drop_factor());
  if (rows() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  const bool fill_in_blocks = options.levels > 0 && options.fill == FillScope::blocks;
  PetscCheck(blocks_ || !fill_in_blocks, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "-pc_taskdag_fill blocks needs an ordering by blocks of this very pattern: "
             "-pc_taskdag_ordering " MATORDERINGTASKDAGBMC
             " (for -pc_type ilu or icc: -pc_factor_mat_ordering_type); auto takes it on GPUs only, for deep patterns");
  PetscCall(with_matrix(matrix, [&](const CsrView& view, MemorySpace space, Stream stream) {
    taken = options;
    FactorOptions with_blocks = options;
    // With another order of the columns the blocks are not those of the factored matrix.
    if (same_order_ && (options.levels == 0 || fill_in_blocks)) with_blocks.blocks = blocks_;
    const std::vector<Index>& col_order = same_order_ ? row_order_ : col_order_;
    factorization_.emplace(backend_->context, view.pattern, space, with_blocks, row_order_, col_order, stream);
  }));
  options_ = std::move(taken);
  const FactorizationInfo& sizes = factorization_->info();
  applies_by_program_ = sizes.lower_schedule == SolveSchedule::engine && sizes.upper_schedule == SolveSchedule::engine;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorBridge::factor(Mat matrix, const FactorOptions& options, bool error_if_failure,
                                    FactorFailure* failure) {
  PetscFunctionBegin;
  *failure = {};
  PetscCheck(analysed_, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "TaskDAG has no pattern to factor: the symbolic phase has failed");
  if (rows() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (!factorization_ || !same(options, options_)) {
    PetscCall(source_.inspect(matrix, upper_is_enough(options)));
    PetscCall(build(matrix, options));
  }
  EventScope event;
  PetscCall(event.begin(events().numeric, reinterpret_cast<PetscObject>(matrix)));
  EventScope program;
  if (options_.factor_schedule == FactorSchedule::engine) {
    PetscCall(program.begin(events().program, reinterpret_cast<PetscObject>(matrix)));
  }
  growth_ = 0.0;
  const PetscErrorCode factored = with_matrix(matrix, [&](const CsrView& view, MemorySpace space, Stream stream) {
    status_ = factorization_->factor(view.values, space, stream);
    if (measure_growth_ && status_.ok()) growth_ = factorization_->growth(view.values, space, stream);
  });
  if (static_cast<int>(factored) != 0) (void)drop_factor();  // it may hold old values and new ones
  PetscCall(factored);
  // As PETSc's own incomplete factorisations count: one reciprocal per row.
  PetscCall(log_flops(on_cuda(), static_cast<PetscLogDouble>(rows()) + (growth_ > 0.0 ? flops(Apply::full) : 0.0)));
  *failure = to_failure(status_);
  if (!status_.ok()) {
    if (error_if_failure) PetscCall(raise_failure(status_, options_));
    PetscCall(PetscInfo(matrix, "Factorisation failed%s: first row %d, last row %d, value %g\n",
                        status_.outcome == FactorOutcome::not_definite ? ", the diagonal is of no definite matrix" : "",
                        static_cast<int>(status_.first_row), static_cast<int>(status_.last_row), status_.last_pivot));
  } else if (status_.shifts > 0) {
    PetscCall(PetscInfo(matrix, "Diagonal shift %g%s after %d shifts\n", status_.shift_amount,
                        options_.shift == ShiftType::scaled ? " times the diagonal" : "", status_.shifts));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorBridge::require_factor() const {
  PetscFunctionBegin;
  PetscCheck(factorization_ || (analysed_ && rows() == 0), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "TaskDAG has no factor to apply: the last set-up has failed. Repeat it, for -pc_type ilu and icc after "
             "PCReset()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorBridge::apply(Apply part, Vec b, Vec x) {
  PetscFunctionBegin;
  PetscCall(require_factor());
  PetscCall(with_arrays(b, x, flops(part), [&](const Arrays& arrays, Stream stream) {
    factorization_->apply(part, arrays.b, arrays.x, arrays.space, stream);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorBridge::apply(Apply part, Mat b, Mat x) {
  PetscFunctionBegin;
  PetscCall(require_factor());
  PetscCall(with_arrays(b, x, flops(part), [&](const Arrays& arrays, Stream stream) {
    factorization_->apply_many(part, arrays.columns, arrays.b, arrays.ldb, arrays.x, arrays.ldx, arrays.space, stream);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscLogDouble FactorBridge::flops(Apply part) const {
  if (!factorization_) return 0.0;
  const auto entries = static_cast<PetscLogDouble>(factorization_->info().entries);
  const auto n = static_cast<PetscLogDouble>(rows());
  const bool whole_cholesky = options_.kind == FactorKind::ic && (part == Apply::full || part == Apply::transposed);
  return whole_cholesky ? 4.0 * entries - 3.0 * n : 2.0 * entries - n;
}

PetscErrorCode FactorBridge::view(PetscViewer viewer) const {
  PetscFunctionBegin;
  PetscCall(view_backend(viewer));
  if (!factorization_) PetscFunctionReturn(PETSC_SUCCESS);
  const FactorizationInfo& sizes = factorization_->info();
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "  factor: %s(%d)%s, %d rows, %d entries, %d forward and %d backward levels, %g MB\n",
      options_.kind == FactorKind::ilu ? "ILU" : "ICC", options_.levels,
      options_.levels > 0 && options_.fill == FillScope::blocks ? " with fill inside blocks" : "", sizes.rows,
      sizes.entries, sizes.lower_levels, sizes.upper_levels, static_cast<double>(sizes.bytes) / 1.0e6));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  schedules: forward %s, backward %s%s\n", to_string(sizes.lower_schedule),
                                   to_string(sizes.upper_schedule),
                                   options_.schedule == SolveSchedule::automatic ? " (auto)" : ""));
  PetscCall(view_engine(viewer));
  if (sizes.given_up_loss > 0.0) {
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  rows are kept as they are: rewriting them would lose %g times what rounding leaves\n",
        sizes.given_up_loss));
  }
  if (status_.shifts > 0 && options_.shift != ShiftType::scaled)
    PetscCall(
        PetscViewerASCIIPrintf(viewer, "  shifted %d times, by %g in the end\n", status_.shifts,
                               options_.shift == ShiftType::inblocks ? options_.shift_amount : status_.shift_amount));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorBridge::view_engine(PetscViewer viewer) const {
  PetscFunctionBegin;
  const bool sweeps = applies_by_program_;
  const bool factor = options_.factor_schedule == FactorSchedule::engine;
  if (!sweeps && !factor) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "  engine: %s%s%s, scheduler %s, dependencies %s\n", factor ? "numeric factorisation" : "",
      factor && sweeps ? "; " : "", sweeps ? "both sweeps as one program" : "",
      engine::to_string(options_.run.scheduler), engine::to_string(options_.run.dependencies)));
  std::vector<std::string> lines;
  PetscCall(guarded([&] { lines = describe(factorization_->engine_runs()); }));
  for (const std::string& line : lines) PetscCall(PetscViewerASCIIPrintf(viewer, "    %s\n", line.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
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
  applies_by_program_ = false;
  const PetscErrorCode written = write_trace();
  PetscCall(guarded([&] { factorization_.reset(); }));
  PetscCall(written);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorBridge::reset() {
  PetscFunctionBegin;
  analysed_ = false;
  PetscCall(drop_factor());
  backend_.reset();
  PetscCall(source_.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

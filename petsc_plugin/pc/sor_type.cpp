#include "pc/sor_type.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "fresh_number.hpp"
#include "mat/bridge.hpp"
#include "mat/columns.hpp"
#include "mat/indices.hpp"
#include "mat/off_diagonal.hpp"
#include "matfactor/engine_runs.hpp"
#include "matfactor/factor_options.hpp"
#include "matfactor/sweep_view.hpp"
#include "options.hpp"
#include "ordering/attached_blocks.hpp"
#include "ordering/orderings.hpp"
#include "pc/types.hpp"
#include "taskdag/sor.hpp"

namespace taskdag::petsc {
namespace {

/// A sweep under PCSOR's name.
struct Sweep {
  MatSORType type;
  const char* name;
};
constexpr std::array<Sweep, 6> sweeps = {{{SOR_SYMMETRIC_SWEEP, "symmetric"},
                                          {SOR_BACKWARD_SWEEP, "backward"},
                                          {SOR_FORWARD_SWEEP, "forward"},
                                          {SOR_LOCAL_SYMMETRIC_SWEEP, "local_symmetric"},
                                          {SOR_LOCAL_BACKWARD_SWEEP, "local_backward"},
                                          {SOR_LOCAL_FORWARD_SWEEP, "local_forward"}}};

const Sweep& find_sweep(MatSORType type) {
  for (const Sweep& sweep : sweeps) {
    if (sweep.type == type) return sweep;
  }
  return sweeps[3];
}

bool is_local(MatSORType type) { return (type & SOR_LOCAL_SYMMETRIC_SWEEP) != 0; }

class SorPreconditioner final : public Preconditioner, private Bridge {
 public:
  explicit SorPreconditioner(const Settings& settings) : settings_(settings) {}

  PetscErrorCode attach(Mat whole) override {
    PetscFunctionBegin;
    PetscCall(whole_.share(whole));
    PetscCall(couplings_.attach(whole));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode analyse(Mat matrix, bool error_if_failure) override;
  PetscErrorCode update(Mat matrix, bool error_if_failure) override;
  [[nodiscard]] std::optional<MatFactorError> failure() const override { return error_; }
  PetscErrorCode apply(Apply part, Vec b, Vec x) override;
  PetscErrorCode apply(Apply part, Mat b, Mat x) override;
  PetscErrorCode prepare_for_arrays(std::int64_t /*replays*/, ArrayUse* use) override {
    PetscFunctionBegin;
    // Iterations from a vector need what other ranks have.
    const bool on_own_rows = !couplings_.has_ranks() || (is_local(own().sweep) && own().iterations == 1);
    if (!sor_ || !on_own_rows) PetscFunctionReturn(PETSC_SUCCESS);
    *use = {.backend = &*backend_,
            .may_be_captured = !applies_by_program_,
            .flops = flops(own().iterations * own().local_iterations, SorStart::zero),
            .launches = launches_};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void apply_to_arrays(const double* b, double* x, Stream stream) override {
    sor_->iterate(to_sweep(own().sweep), static_cast<int>(own().iterations * own().local_iterations), SorStart::zero, b,
                  x, on_cuda() ? MemorySpace::device : MemorySpace::host, stream);
  }
  bool take_lost_application() override { return Bridge::take_lost_application(); }
  PetscErrorCode iterate(Vec b, Vec x, PetscInt iterations, bool from_zero) override;
  [[nodiscard]] bool has_own_halves() const override {
    return point_block_ * reals_per_scalar == 1 && to_sweep(own().sweep) == SorSweep::symmetric &&
           own().iterations == 1 && own().local_iterations == 1;
  }
  PetscErrorCode half(Half part, Vec b, Vec x) override;
  PetscErrorCode pivots(Vec e) override;
  PetscErrorCode set_diagonal(Vec d, TransformScaling scaling) override;
  [[nodiscard]] bool scales_by_diagonal() const override { return true; }
  PetscErrorCode view(const RankViewer& viewer) const override;
  PetscErrorCode reset() override;

 private:
  [[nodiscard]] const SorSettings& own() const { return settings_.sor; }
  PetscErrorCode order(Mat matrix);
  PetscErrorCode choose_form(Mat matrix, const std::vector<Index>& order);
  PetscErrorCode make(Mat matrix, const std::vector<Index>& order);
  PetscErrorCode load(Mat matrix, bool error_if_failure);
  PetscErrorCode check_ranks(MPI_Comm comm) const;
  PetscErrorCode local(Vec b, Vec x, PetscInt iterations, SorStart start);
  [[nodiscard]] PetscLogDouble flops(PetscInt iterations, SorStart start) const;
  PetscErrorCode write_trace() const;

  const Settings& settings_;
  OffDiagonal couplings_;
  Held<Mat> whole_;
  Held<IS> row_;  ///< the ordering; null: natural
  std::string ordering_;
  PetscInt point_block_ = 1;  ///< rows of the blocks that are taken as one
  std::string rows_reason_;   ///< why those of the matrix are not
  std::string trace_file_;
  std::optional<Sor> sor_;
  MatFactorError error_ = MAT_FACTOR_NOERROR;
};

PetscErrorCode SorPreconditioner::order(Mat matrix) {
  PetscFunctionBegin;
  const std::string& wanted = settings_.factor.ordering;
  // Another order of the rows is another preconditioner: automatic is the matrix' own, as PETSc's.
  PetscCall(guarded([&] { ordering_ = wanted == ordering_auto ? MATORDERINGNATURAL : wanted; }));
  if (ordering_ == MATORDERINGNATURAL) PetscFunctionReturn(PETSC_SUCCESS);
  EventScope event;
  PetscCall(event.begin(events().ordering, reinterpret_cast<PetscObject>(matrix)));
  IS col = nullptr;
  PetscBool equal = PETSC_FALSE;
  PetscCall(make_ordering(matrix, ordering_, settings_.factor.block_size, settings_.backend, row_.out(), &col));
  const PetscErrorCode compared = ISEqual(row_, col, &equal);
  PetscCall(ISDestroy(&col));
  PetscCall(compared);
  PetscCheck(equal == PETSC_TRUE, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "SOR needs one order for rows and columns: the ordering %s has two", ordering_.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorPreconditioner::analyse(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  EventScope event;
  PetscCall(event.begin(events().symbolic, reinterpret_cast<PetscObject>(matrix)));
  PetscCall(reset());
  PetscCall(order(matrix));
  std::vector<Index> order;
  PetscCall(read_index_set(row_, &order));
  PetscCall(choose_form(matrix, order));
  PetscCall(prepare(matrix, false, settings_.backend, point_block_));
  if (rows() > 0) PetscCall(make(matrix, order));
  PetscCall(load(matrix, error_if_failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorPreconditioner::choose_form(Mat matrix, const std::vector<Index>& order) {
  PetscFunctionBegin;
  const PointBlock choice = settings_.factor.point_block;
  PetscInt block = 1;
  std::string reason;
  point_block_ = 1;
  rows_reason_.clear();
  PetscCall(wanted_block_size(matrix, choice, &block));
  if (block <= 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(guarded([&] {
    reason = settings_.eisenstat ? "Eisenstat's trick is for scalar rows" : reason_against_blocks(order, block);
  }));
  PetscCall(check_point_block(choice, reason));
  if (reason.empty())
    point_block_ = block;
  else
    rows_reason_ = std::move(reason);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorPreconditioner::make(Mat matrix, const std::vector<Index>& order) {
  PetscFunctionBegin;
  std::shared_ptr<const RowBlocks> blocks;
  bool fills = false;
  PetscCall(fills_blocks_up(matrix, point_block_, &fills));
  if (!fills && !complex_scalars) PetscCall(attached_blocks(matrix, row_, &blocks));
  PetscCall(guarded([&] { trace_file_ = settings_.sweeps.trace_file; }));
  PetscCall(with_pattern_of(matrix, [&](const CsrView& view, MemorySpace space, Stream stream) {
    const SweepSettings& wanted = settings_.sweeps;
    const auto block = static_cast<Index>(point_block_);
    const Index size = block * reals_per_scalar;
    SorOptions options{.omega = own().omega,
                       .shift = own().shift,
                       .schedule = wanted.schedule,
                       .run = wanted.run,
                       .tune = wanted.tune,
                       .tune_file = wanted.tune_file,
                       .blocks = blocks,
                       .block_size = size};
    set_study(options, wanted.study);
    const std::vector<Index> in_use = size > 1 ? *order_of_blocks(order, block) : order;
    sor_.emplace(backend_->context, view.pattern, space, options, in_use, stream);
    launches_ = fresh_number();
  }));
  applies_by_program_ = sor_->info().lower_schedule == SolveSchedule::engine;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorPreconditioner::update(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  PetscCall(load(matrix, error_if_failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorPreconditioner::load(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  error_ = MAT_FACTOR_NOERROR;
  if (rows() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  EventScope event;
  PetscCall(event.begin(events().numeric, reinterpret_cast<PetscObject>(matrix)));
  FactorStatus status;
  PetscCall(with_matrix(matrix, [&](const CsrView& view, MemorySpace space, Stream stream) {
    status = sor_->update_values(view.values, space, stream);
    status.first_row = in_scalars(status.first_row);
  }));
  PetscCall(log_flops(on_cuda(), static_cast<PetscLogDouble>(rows())));
  if (status.ok()) PetscFunctionReturn(PETSC_SUCCESS);
  const bool zero = status.outcome == FactorOutcome::zero_pivot;
  const bool entry = point_block_ == 1;
  const char* const what = entry ? "entry" : "block";
  const char* const fault =
      zero ? (entry ? "zero" : "singular") : (entry ? "not finite" : "not finite, or its inverse");
  PetscCheck(!error_if_failure, PETSC_COMM_SELF, zero ? PETSC_ERR_MAT_LU_ZRPVT : PETSC_ERR_FP,
             "SOR cannot divide by the diagonal %s of row %d, it is %s", what, static_cast<int>(status.first_row),
             fault);
  error_ = zero ? MAT_FACTOR_NUMERIC_ZEROPIVOT : MAT_FACTOR_OTHER;
  PetscCall(PetscInfo(matrix, "The diagonal %s of row %d is %s\n", what, static_cast<int>(status.first_row), fault));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorPreconditioner::check_ranks(MPI_Comm comm) const {
  PetscFunctionBegin;
  PetscCheck(!couplings_.has_ranks() || is_local(own().sweep), comm, PETSC_ERR_SUP,
             "SOR across ranks is not supported, as in PETSc: use -pc_taskdag_sor_local_%s",
             to_string(to_sweep(own().sweep)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorPreconditioner::local(Vec b, Vec x, PetscInt iterations, SorStart start) {
  PetscFunctionBegin;
  PetscCheck(iterations <= std::numeric_limits<int>::max(), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "so many SOR iterations are not possible: %" PetscInt_FMT, iterations);
  const auto work = [&](const Arrays& arrays, Stream stream) {
    sor_->iterate(to_sweep(own().sweep), static_cast<int>(iterations), start, arrays.b, arrays.x, arrays.space, stream);
  };
  PetscCall(with_arrays(b, x, flops(iterations, start), work,
                        start == SorStart::given ? ResultUse::updated : ResultUse::written));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorPreconditioner::iterate(Vec b, Vec x, PetscInt iterations, bool from_zero) {
  PetscFunctionBegin;
  PetscCall(check_ranks(PetscObjectComm(reinterpret_cast<PetscObject>(b))));
  PetscInt passes = 0;
  PetscCall(count_sor_sweeps(own(), iterations, PETSC_COMM_SELF, &passes));
  const PetscInt lits = own().local_iterations;
  const PetscInt its = iterations * own().iterations;
  if (!couplings_.has_ranks()) {
    PetscCall(local(b, x, passes, from_zero ? SorStart::zero : SorStart::given));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt k = 0; k < its; ++k) {
    Vec rest = nullptr;
    if (k == 0 && from_zero) {
      PetscCall(local(b, x, lits, SorStart::zero));
    } else {
      PetscCall(couplings_.residual(b, x, &rest));
      PetscCall(local(rest, x, lits, SorStart::given));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorPreconditioner::apply(Apply part, Vec b, Vec x) {
  PetscFunctionBegin;
  PetscCall(check_transposed_sor(part, own().sweep, whole_));
  PetscCall(iterate(b, x, 1, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorPreconditioner::apply(Apply part, Mat b, Mat x) {
  PetscFunctionBegin;
  PetscCall(check_transposed_sor(part, own().sweep, whole_));
  PetscCall(by_columns(b, x, [this](Vec from, Vec to) { return iterate(from, to, 1, true); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorPreconditioner::half(Half part, Vec b, Vec x) {
  PetscFunctionBegin;
  if (rows() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  const auto flops =
      (part == Half::transformed ? 2.0 : 1.0) * static_cast<PetscLogDouble>(sizes_in_scalars(sor_->info()).entries);
  PetscCall(with_arrays(b, x, flops, [&](const Arrays& arrays, Stream stream) {
    apply_half(*sor_, part, arrays.b, arrays.x, arrays.space, stream);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorPreconditioner::pivots(Vec e) {
  PetscFunctionBegin;
  if (rows() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
      with_result(e, [this](double* array, MemorySpace space, Stream stream) { sor_->pivots(array, space, stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorPreconditioner::set_diagonal(Vec d, TransformScaling scaling) {
  PetscFunctionBegin;
  PetscCheck(scaling == TransformScaling::none, PETSC_COMM_SELF, PETSC_ERR_PLIB, "SOR has no symmetric scaling");
  if (rows() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(with_array(
      d, [this](const double* array, MemorySpace space, Stream stream) { sor_->set_diagonal(array, space, stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscLogDouble SorPreconditioner::flops(PetscInt iterations, SorStart start) const {
  if (!sor_) return 0.0;
  // A sweep alone takes the whole matrix; from zero, and one after the other, half of it.
  const auto whole = 2.0 * static_cast<PetscLogDouble>(sizes_in_scalars(sor_->info()).entries);
  const auto its = static_cast<PetscLogDouble>(iterations);
  const double first = start == SorStart::zero ? 0.5 * whole : 0.0;
  const auto n = static_cast<PetscLogDouble>(rows());
  if (to_sweep(own().sweep) == SorSweep::symmetric) {
    return its * (whole + 6.0 * n) + (start == SorStart::zero ? 0.0 : 0.5 * whole);
  }
  return its * (whole + n) - first;
}

PetscErrorCode SorPreconditioner::view(const RankViewer& viewer) const {
  PetscFunctionBegin;
  const std::string title = "sizes: ";
  const SorInfo none;
  const SorInfo sizes = sor_ ? sizes_in_scalars(sor_->info()) : none;
  std::string text;
  std::vector<RankNumber> numbers;
  bool each = false;
  PetscCall(share_error(viewer.comm, describe_blocks(row_, &text)));
  PetscCall(guarded(viewer.comm, [&] {
    if (!text.empty()) text = ": " + text;
    text = "matrix ordering: " + (ordering_.empty() ? std::string(MATORDERINGNATURAL) : ordering_) + text + '\n' +
           backend_line();
  }));
  PetscCall(view_texts(viewer, text));
  PetscCall(view_sor(viewer.viewer, own()));
  if (!backend_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(shows_each_rank(viewer, &each));
  PetscCall(guarded(viewer.comm, [&] {
    numbers = size_numbers(sizes);
    text = each ? number_text(title, numbers) + '\n' : "";
    if (sizes.block_size > 1) {
      const std::string size = std::to_string(sizes.block_size);
      text += "by point blocks of " + size + " x " + size + '\n';
    }
    if (!rows_reason_.empty()) text += "scalar rows instead of point blocks: " + rows_reason_ + '\n';
    if (sor_) text += schedules_text(sizes, settings_.sweeps.schedule, settings_.sweeps.study);
    if (sweeps_may_share_warps(sizes)) text += warps_text(settings_.sweeps.study);
    if (sweeps_by_ata(sizes)) text += task_size_text(settings_.sweeps.study);
    if (applies_by_program_) {
      text += std::string("engine: sweeps as a program, scheduler ") +
              engine::to_string(settings_.sweeps.run.scheduler) + ", dependencies " +
              engine::to_string(settings_.sweeps.run.dependencies) + '\n' + describe(sor_->engine_runs());
    }
  }));
  PetscCall(view_numbers(viewer, title, numbers));
  PetscCall(view_texts(viewer, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorPreconditioner::reset() {
  PetscFunctionBegin;
  const PetscErrorCode written = write_trace();
  PetscCall(guarded([&] { sor_.reset(); }));
  applies_by_program_ = false;
  error_ = MAT_FACTOR_NOERROR;
  backend_.reset();
  PetscCall(source_.reset());
  PetscCall(couplings_.forget());
  PetscCall(row_.reset());
  PetscCall(written);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorPreconditioner::write_trace() const {
  PetscFunctionBegin;
  if (!sor_ || trace_file_.empty() || !applies_by_program_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(guarded([&] { write_traces(sor_->engine_runs(), backend_->context.backend(), trace_file_); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

SorSweep to_sweep(MatSORType type) {
  const bool forward = (type & (SOR_FORWARD_SWEEP | SOR_LOCAL_FORWARD_SWEEP)) != 0;
  const bool backward = (type & (SOR_BACKWARD_SWEEP | SOR_LOCAL_BACKWARD_SWEEP)) != 0;
  if (forward && backward) return SorSweep::symmetric;
  return forward ? SorSweep::forward : SorSweep::backward;
}

PetscErrorCode view_sor(PetscViewer viewer, const SorSettings& settings) {
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  SOR: %s, iterations = %" PetscInt_FMT ", local iterations = %" PetscInt_FMT
                                   ", omega = %g, diagonal shift = %g\n",
                                   find_sweep(settings.sweep).name, settings.iterations, settings.local_iterations,
                                   settings.omega, settings.shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode count_sor_sweeps(const SorSettings& settings, PetscInt iterations, MPI_Comm comm, PetscInt* count) {
  PetscFunctionBegin;
  const double product = static_cast<double>(iterations) * static_cast<double>(settings.iterations) *
                         static_cast<double>(settings.local_iterations);
  PetscCheck(product <= std::numeric_limits<int>::max(), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "so many SOR iterations are not possible: %g", product);
  *count = static_cast<PetscInt>(product);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_transposed_sor(Apply part, MatSORType sweep, Mat whole) {
  PetscFunctionBegin;
  if (part == Apply::full) PetscFunctionReturn(PETSC_SUCCESS);
  PetscBool known = PETSC_FALSE;
  PetscBool symmetric = PETSC_FALSE;
  PetscCall(MatIsSymmetricKnown(whole, &known, &symmetric));
  PetscCheck(known && symmetric && to_sweep(sweep) == SorSweep::symmetric,
             PetscObjectComm(reinterpret_cast<PetscObject>(whole)), PETSC_ERR_SUP,
             "SOR is applied transposed only where the matrix is known to be symmetric (MatSetOption()) and the sweep "
             "is symmetric");
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::unique_ptr<Preconditioner> make_sor(const Settings& settings) {
  return std::make_unique<SorPreconditioner>(settings);
}

PetscErrorCode check_sor(const Settings& settings) {
  PetscFunctionBegin;
  PetscCall(check_trace(settings.sweeps, false));
  PetscCheck(!settings.eisenstat || settings.eisenstat_scaling == TransformScaling::none, PETSC_COMM_SELF,
             PETSC_ERR_ARG_INCOMP,
             "-pc_taskdag_eisenstat_scaling symmetric is for the types dilu, dic, ilu and icc, not for sor");
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool sor_iterates(const Settings& /*settings*/) { return true; }

}  // namespace taskdag::petsc

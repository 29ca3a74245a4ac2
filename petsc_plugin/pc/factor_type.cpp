#include "pc/factor_type.hpp"

#include <array>
#include <tuple>

#include "boundary.hpp"
#include "events.hpp"
#include "matfactor/factor_bridge.hpp"
#include "matfactor/factor_options.hpp"
#include "options.hpp"
#include "ordering/attached_blocks.hpp"
#include "ordering/choice.hpp"
#include "ordering/orderings.hpp"
#include "pc/types.hpp"

namespace taskdag::petsc {
namespace {

class FactorPreconditioner final : public Preconditioner {
 public:
  FactorPreconditioner(FactorKind kind, bool diagonal_only, const Settings& settings)
      : kind_(kind), diagonal_only_(diagonal_only), settings_(settings) {}

  PetscErrorCode analyse(Mat matrix, bool error_if_failure) override;
  PetscErrorCode update(Mat matrix, bool error_if_failure) override;
  [[nodiscard]] std::optional<MatFactorError> failure() const override { return failure_.error; }
  PetscErrorCode apply(Apply part, Vec b, Vec x) override { return factor_.apply(part, b, x); }
  PetscErrorCode apply(Apply part, Mat b, Mat x) override { return factor_.apply(part, b, x); }
  bool take_lost_application() override { return factor_.take_lost_application(); }
  PetscErrorCode prepare_for_arrays(std::int64_t replays, ArrayUse* use) override {
    PetscFunctionBegin;
    if (!factor_.has_factor()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(factor_.prepare_replays(replays));
    *use = {.backend = &*factor_.backend(),
            .may_be_captured = !factor_.applies_by_program(),
            .flops = factor_.flops_of_application(),
            .has_parts = true,
            .replays = factor_.replays(),
            .launches = factor_.launches()};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void apply_to_arrays(const double* b, double* x, Stream stream) override {
    factor_.apply_to_arrays(Apply::full, b, x, stream);
  }
  void apply_to_columns(Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx,
                        Stream stream) override {
    factor_.apply_to_columns(count, b, ldb, x, ldx, stream);
  }
  void apply_part_to_arrays(Apply part, const double* b, double* x, Stream stream) override {
    factor_.apply_to_arrays(part, b, x, stream);
  }
  [[nodiscard]] bool has_own_halves() const override;
  PetscErrorCode half(Half part, Vec b, Vec x) override {
    return factor_.with_factor(b, x, part == Half::transformed ? 1.0 : 0.5,
                               [part](Factorization& factor, const Arrays& arrays, Stream stream) {
                                 apply_half(factor, part, arrays.b, arrays.x, arrays.space, stream);
                               });
  }
  PetscErrorCode pivots(Vec e) override { return factor_.pivots(e); }
  PetscErrorCode set_diagonal(Vec d, TransformScaling scaling) override { return factor_.set_diagonal(d, scaling); }
  PetscErrorCode view(const RankViewer& viewer) const override;
  PetscErrorCode reset() override;

 private:
  PetscErrorCode check_shifts() const;
  PetscErrorCode order(Mat matrix);
  PetscErrorCode drop_order();
  PetscErrorCode run(Mat matrix, const FactorOptions& wanted, bool error_if_failure);
  PetscErrorCode report_growth(Mat matrix);
  PetscErrorCode view_shift(PetscViewer viewer) const;
  PetscErrorCode view_outcome(const RankViewer& viewer) const;
  [[nodiscard]] FactorOptions options() const;
  [[nodiscard]] bool starts_with_one_block() const;
  [[nodiscard]] const FactorSettings& own() const { return settings_.factor; }

  FactorKind kind_;
  bool diagonal_only_;  ///< DILU, DIC
  const Settings& settings_;
  FactorBridge factor_{MeasureGrowth::where_needed};
  FactorFailure failure_;
  OwnOrder own_order_;  ///< the ordering, held for -pc_factor_reuse_ordering, where it is one of ours
  Held<IS> row_;        ///< … and another
  Held<IS> col_;
  OrderingChoice ordering_;  ///< the ordering in use, and why, where it was chosen automatically
  bool warned_ = false;      ///< of growth
};

PetscErrorCode FactorPreconditioner::check_shifts() const {
  PetscFunctionBegin;
  const bool contradiction = kind_ == FactorKind::ic && own().shift && own().icc_shift == IccShift::scaled;
  PetscCheck(!contradiction, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "-pc_taskdag_icc_shift scaled and the shift type %s (-pc_factor_shift_type) exclude each other",
             MatFactorShiftTypes[*own().shift]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Fill may be much work for one thread of the host. Eisenstat's trick needs halves, which one block does not have.
bool FactorPreconditioner::starts_with_one_block() const {
  return settings_.sweeps.one_block_rows == one_block_decided && own().ordering == ordering_auto && own().levels == 0 &&
         !settings_.eisenstat;
}

FactorOptions FactorPreconditioner::options() const {
  FactorOptions options = options_of_factor(own(), kind_, diagonal_only_, settings_.sweeps);
  if (starts_with_one_block()) {
    options.one_block_rows = few_rows;
    options.one_block_applications = applications_that_pay;
  }
  return options;
}

PetscErrorCode FactorPreconditioner::order(Mat matrix) {
  PetscFunctionBegin;
  if (own().reuse_ordering && ordering_.name == MATORDERINGNATURAL) PetscFunctionReturn(PETSC_SUCCESS);
  if ((row_ || own_order_.rows >= 0) && own().reuse_ordering) {
    PetscInt ordered = own_order_.rows;
    PetscInt rows = 0;
    if (row_) PetscCall(ISGetLocalSize(row_, &ordered));
    PetscCall(MatGetLocalSize(matrix, &rows, nullptr));
    if (ordered == rows) PetscFunctionReturn(PETSC_SUCCESS);
  }
  EventScope event;
  PetscCall(event.begin(events().ordering, reinterpret_cast<PetscObject>(matrix)));
  PetscCall(drop_order());
  const bool in_blocks = own().fill == FillScope::blocks;
  if (own().ordering == ordering_auto)
    PetscCall(choose_ordering(matrix,
                              {.fill_levels = in_blocks ? 0 : own().levels,
                               .small = in_blocks ? 0 : settings_.sweeps.chosen_one_block_rows(),
                               .blocks = in_blocks || own().precision != Precision::in_double},
                              settings_.backend, &ordering_));
  else
    PetscCall(guarded([&] { ordering_ = {own().ordering, ""}; }));
  // Null stands for the natural order: PETSc would fill index sets.
  if (ordering_.name == MATORDERINGNATURAL) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(make_own_order(matrix, ordering_.name, own().block_size, settings_.backend, &own_order_));
  if (own_order_.rows >= 0) PetscFunctionReturn(PETSC_SUCCESS);
  // Both or none: a row's alone would be taken for an ordering that can be reused.
  IS row = nullptr;
  IS col = nullptr;
  PetscCall(make_ordering(matrix, ordering_.name, own().block_size, settings_.backend, &row, &col));
  row_.swap(row);
  col_.swap(col);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorPreconditioner::drop_order() {
  PetscFunctionBegin;
  PetscCall(guarded([&] { own_order_ = {}; }));
  PetscCall(row_.reset());
  PetscCall(col_.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorPreconditioner::analyse(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  PetscCall(check_shifts());
  PetscCheck(!diagonal_only_ || own().levels == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "-pc_taskdag_type %s has no levels of fill, and -pc_factor_levels is %" PetscInt_FMT,
             find_type(settings_.type)->name, own().levels);
  FactorOptions wanted;
  PetscCall(guarded([&] { wanted = options(); }));
  PetscCall(order(matrix));
  const FormChoice form{own().point_block, kind_ == FactorKind::ic && !own().shift && !own().icc_shift};
  const std::string& trace_file = settings_.sweeps.trace_file;
  if (own_order_.rows >= 0)
    PetscCall(factor_.analyse(matrix, own_order_, wanted, form, settings_.backend, trace_file));
  else
    PetscCall(factor_.analyse(matrix, row_, col_, wanted, form, settings_.backend, trace_file));
  PetscCall(run(matrix, wanted, error_if_failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorPreconditioner::run(Mat matrix, const FactorOptions& wanted, bool error_if_failure) {
  PetscFunctionBegin;
  PetscCall(factor_.factor(matrix, wanted, error_if_failure, &failure_));
  PetscCall(report_growth(matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorPreconditioner::report_growth(Mat matrix) {
  PetscFunctionBegin;
  const double growth = factor_.growth();
  const double bound = factor_.growth_bound();
  if (growth > 0.0) PetscCall(PetscInfo(matrix, "Growth of the factor, scaled to a unit diagonal: %g\n", growth));
  if (bound > 0.0) PetscCall(PetscInfo(matrix, "Growth of the factor, by its rows: at most %g\n", bound));
  if (growth <= reasonable_growth || warned_) PetscFunctionReturn(PETSC_SUCCESS);
  warned_ = true;
  PetscCall(PetscFPrintf(
      PETSC_COMM_SELF, PETSC_STDERR,
      "TaskDAG: warning: the %s factor is unstable, an application can enlarge a vector %g times. Another ordering, "
      "a shift (-pc_factor_shift_type) or another preconditioner may help\n",
      find_type(settings_.type)->title, growth));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorPreconditioner::update(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  FactorOptions wanted;
  PetscCall(guarded([&] { wanted = options(); }));
  PetscCall(run(matrix, wanted, error_if_failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool FactorPreconditioner::has_own_halves() const {
  const std::optional<FactorizationInfo> info = factor_.info();
  return own().levels == 0 && (!info || info->diagonal_only);
}

// What each rank factors by blocks has no shift by default; their sizes are in the view of the factor.
PetscErrorCode FactorPreconditioner::view_shift(PetscViewer viewer) const {
  PetscFunctionBegin;
  if (factor_.shift_is_dropped())
    PetscCall(PetscViewerASCIIPrintf(viewer, "  shift: none, as blocks are factored\n"));
  else
    PetscCall(petsc::view_shift(viewer, own(), kind_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Ranks have factors of their own: the largest numbers are shown.
PetscErrorCode FactorPreconditioner::view_outcome(const RankViewer& viewer) const {
  PetscFunctionBegin;
  const FactorStatus& status = factor_.status();
  std::array<double, 4> mine = {status.shift_amount, 1.0 + status.shifts, factor_.growth(), factor_.growth_bound()};
  std::array<double, 4> most = {};
  PetscCallMPI(
      MPI_Allreduce(mine.data(), most.data(), static_cast<int>(most.size()), MPI_DOUBLE, MPI_MAX, viewer.comm));
  if (!factor_.backend()) PetscFunctionReturn(PETSC_SUCCESS);
  if (takes_scaled_shift(own(), kind_) && !factor_.shift_is_dropped() && most[0] > 0.0)
    PetscCall(view_scaled_shift(viewer.viewer, most[0], static_cast<int>(most[1])));
  if (most[2] > 0.0)
    PetscCall(
        PetscViewerASCIIPrintf(viewer.viewer, "  growth of the factor, scaled to a unit diagonal: %g\n", most[2]));
  if (most[3] > 0.0)
    PetscCall(PetscViewerASCIIPrintf(viewer.viewer, "  growth of the factor, by its rows: at most %g\n", most[3]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorPreconditioner::view(const RankViewer& viewer) const {
  PetscFunctionBegin;
  std::string text;
  PetscCall(share_error(viewer.comm, describe_blocks(row_, &text)));
  PetscCall(guarded(viewer.comm, [&] {
    if (own_order_.rows >= 0) text = own_order_.text;
    if (!text.empty()) text = ": " + text;
    text = "matrix ordering: " + (ordering_.name.empty() ? own().ordering : ordering_.name) + text;
    if (!ordering_.reason.empty()) text += " (" + ordering_.reason + ")";
    if (own().reuse_ordering) text += ", reused";
  }));
  PetscCall(view_texts(viewer, text));
  PetscCall(view_shift(viewer.viewer));
  PetscCall(factor_.view(viewer));
  PetscCall(view_outcome(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorPreconditioner::reset() {
  PetscFunctionBegin;
  const PetscErrorCode ended = factor_.reset();
  PetscCall(drop_order());
  ordering_ = {};
  failure_ = {};
  PetscCall(ended);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

std::unique_ptr<Preconditioner> make_ilu(const Settings& settings) {
  return std::make_unique<FactorPreconditioner>(FactorKind::ilu, false, settings);
}

std::unique_ptr<Preconditioner> make_icc(const Settings& settings) {
  return std::make_unique<FactorPreconditioner>(FactorKind::ic, false, settings);
}

std::unique_ptr<Preconditioner> make_dilu(const Settings& settings) {
  return std::make_unique<FactorPreconditioner>(FactorKind::ilu, true, settings);
}

std::unique_ptr<Preconditioner> make_dic(const Settings& settings) {
  return std::make_unique<FactorPreconditioner>(FactorKind::ic, true, settings);
}

FactorOptions options_of_factor(const FactorSettings& factor, FactorKind kind, bool diagonal_only,
                                const SweepSettings& sweeps) {
  FactorOptions options = factor_options(kind, shift_type_of(factor, kind), factor.shift_amount, factor.zero_pivot,
                                         factor.levels, factor.fill, factor.precision, sweeps);
  if (takes_scaled_shift(factor, kind)) options.shift = ShiftType::scaled;
  options.diagonal_only = diagonal_only;
  return options;
}

bool takes_scaled_shift(const FactorSettings& settings, FactorKind kind) {
  return kind == FactorKind::ic && !settings.shift &&
         settings.icc_shift.value_or(default_icc_shift) == IccShift::scaled;
}

PetscErrorCode view_shift(PetscViewer viewer, const FactorSettings& settings, FactorKind kind) {
  PetscFunctionBegin;
  if (takes_scaled_shift(settings, kind))
    PetscCall(PetscViewerASCIIPrintf(viewer, "  shift: scaled, relative to the diagonal\n"));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  shift: %s, amount %g; tolerance for zero pivot %g\n",
                                     MatFactorShiftTypes[shift_type_of(settings, kind)], settings.shift_amount,
                                     settings.zero_pivot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view_scaled_shift(PetscViewer viewer, double amount, int attempts) {
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  shifted by %g times the diagonal, attempts: %d\n", amount, attempts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode refuse_other_options(OptionItems items) {
  PetscFunctionBegin;
  constexpr std::array names = {"-pc_factor_drop_tolerance", "-pc_factor_in_place",
                                "-pc_factor_nonzeros_along_diagonal", "-pc_factor_diagonal_fill",
                                "-pc_factor_column_pivot"};
  for (const char* name : names) {
    std::array<char, 32> text{};
    PetscBool given = PETSC_FALSE;
    PetscBool off = PETSC_FALSE;
    PetscCall(PetscOptionsGetString(items->options, items->prefix, name, text.data(), text.size(), &given));
    for (const char* word : {"false", "no", "off", "0"}) {
      PetscBool same = PETSC_FALSE;
      PetscCall(PetscStrcasecmp(text.data(), word, &same));
      if (same) off = PETSC_TRUE;
    }
    PetscCheck(!given || off, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "-pc_type taskdag does not have %s; PETSc's own -pc_type ilu may", name);
  }
  PetscBool pivots = PETSC_TRUE;
  PetscCall(PetscOptionsGetBool(items->options, items->prefix, "-pc_factor_pivot_in_blocks", &pivots, nullptr));
  PetscCheck(
      pivots, PETSC_COMM_SELF, PETSC_ERR_SUP,
      "-pc_type taskdag exchanges rows inside point blocks always: there is no -pc_factor_pivot_in_blocks false");
  for (const char* name : {"-pc_factor_fill", "-pc_factor_reuse_fill"}) {
    PetscBool given = PETSC_FALSE;
    PetscCall(PetscOptionsHasName(items->options, items->prefix, name, &given));
    if (given) PetscCall(PetscInfo(nullptr, "%s changes nothing: TaskDAG counts entries, it does not guess\n", name));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_factor(const Settings& settings) {
  PetscFunctionBegin;
  PetscCall(check_trace(settings.sweeps, false));
  PetscCheck(!settings.eisenstat || settings.factor.precision == Precision::in_double, PETSC_COMM_SELF,
             PETSC_ERR_ARG_INCOMP,
             "-pc_taskdag_eisenstat needs the halves of a factor as they are: -pc_taskdag_precision double, not %s",
             to_string(settings.factor.precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool same_factor_pattern(const Settings& a, const Settings& b) {
  const auto shift = [](const Settings& s) {
    // A shift that is chosen and one by default are not the same for blocks.
    return std::tuple(shift_type_of(s), takes_scaled_shift(s.factor, kind_of(s)),
                      s.factor.shift.has_value() || s.factor.icc_shift.has_value());
  };
  // The rest counts as it stands, but for what needs no new pattern.
  FactorSettings rest = b.factor;
  rest.shift = a.factor.shift;
  rest.icc_shift = a.factor.icc_shift;
  rest.shift_amount = a.factor.shift_amount;
  rest.zero_pivot = a.factor.zero_pivot;
  rest.reuse_ordering = a.factor.reuse_ordering;
  // auto may have become either factorisation.
  const bool either = a.type == PC_TASKDAG_AUTO || b.type == PC_TASKDAG_AUTO;
  const bool alike = !either || (a.factor.shift == b.factor.shift && a.factor.icc_shift == b.factor.icc_shift);
  return alike && shift(a) == shift(b) && rest == a.factor;
}

bool same_factor(const Settings& a, const Settings& b) {
  return same_factor_pattern(a, b) && a.factor.shift_amount == b.factor.shift_amount &&
         a.factor.zero_pivot == b.factor.zero_pivot;
}

}  // namespace taskdag::petsc

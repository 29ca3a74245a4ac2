#include "pc/jacobi_type.hpp"

#include <array>
#include <cmath>
#include <tuple>

#include "mat/outside_rows.hpp"
#include "matfactor/engine_runs.hpp"
#include "option_checks.hpp"
#include "pc/jacobi_sweeps.hpp"
#include "pc/types.hpp"
#include "taskdag/jacobi.hpp"

namespace taskdag::petsc {
namespace {

// In the order of the enumerations; behind the diagonals block Jacobi, which is a preconditioner of its own.
constexpr std::array<const char*, 5> type_names = {"diagonal", "rowmax", "rowsum", "rowl1", "block"};
constexpr std::size_t block_place = type_names.size() - 1;

std::size_t place_of_type(const Settings& settings) {
  return settings.block_jacobi.used ? block_place : static_cast<std::size_t>(settings.jacobi.diagonal);
}

constexpr std::array<const char*, 9> form_names = {"auto",        "kernels",    "turning", "stages-phases", "stages",
                                                   "checkpoints", "autonomous", "tiles",   "resident"};

constexpr std::array<const char*, 2> weight_names = {"constant", "chebyshev"};

struct JacobiRows {
  OptionRow sweeps{"-pc_taskdag_jacobi_sweeps", std::to_string(JacobiOptions{}.sweeps), "1 or more",
                   "Jacobi sweeps per application"};
  OptionRow damping{"-pc_taskdag_jacobi_damping", number(JacobiOptions{}.damping), "finite, not 0",
                    "Factor on each Jacobi correction"};
  OptionRow weights{"-pc_taskdag_jacobi_weights", to_string(JacobiOptions{}.weights), join(weight_names),
                    "Weights of several sweeps: all the same, or those of a Chebyshev polynomial, for smoothing; its "
                    "damping is the inverse of the largest eigenvalue, 1 with rowl1"};
  OptionRow type{"-pc_taskdag_jacobi_type", type_names[static_cast<std::size_t>(JacobiOptions{}.diagonal)],
                 join(type_names),
                 "What Jacobi divides by: the diagonal, a row's largest absolute value, its sum, the diagonal and the "
                 "absolute values beside it, or dense diagonal blocks"};
  OptionRow l1_scale{"-pc_taskdag_jacobi_rowl1_scale", number(JacobiOptions{}.l1_scale), "0 to 1",
                     "With rowl1: factor on the absolute values beside the diagonal"};
  OptionRow absolute{"-pc_taskdag_jacobi_abs", to_text(JacobiOptions{}.absolute), "true, false",
                     "Divide by absolute values"};
  OptionRow form{"-pc_taskdag_jacobi_form", to_string(JacobiOptions{}.form), join(form_names),
                 "How several sweeps are run, with the same result; the four between turning and tiles are by tasks"};
  OptionRow part_entries{"-pc_taskdag_jacobi_part_entries", std::to_string(JacobiOptions{}.part_entries), "1 or more",
                         "Entries of the matrix for a task"};
  OptionRow long_row{"-pc_taskdag_jacobi_long_row", std::to_string(JacobiOptions{}.long_row), "0 or more",
                     "Rows with more entries are shared out to several tasks; 0: none is"};
};

class JacobiPreconditioner final : public JacobiSweeps<Jacobi> {
 public:
  explicit JacobiPreconditioner(const Settings& settings) : JacobiSweeps(settings) {}

  PetscErrorCode analyse(Mat matrix, bool error_if_failure) override;
  PetscErrorCode update(Mat matrix, bool error_if_failure) override;
  PetscErrorCode view(const RankViewer& viewer) const override;
  PetscErrorCode reset() override;

 private:
  PetscErrorCode report_zeros(Mat matrix) const;
  [[nodiscard]] PetscLogDouble flops() const override;
  [[nodiscard]] PetscLogDouble flops_of_sweep() const override;

  PetscErrorCode measure(std::vector<double>* outside) const;
  PetscErrorCode write_trace() const;

  std::string trace_file_;
};

PetscErrorCode JacobiPreconditioner::analyse(Mat matrix, bool) {
  PetscFunctionBegin;
  EventScope event;
  PetscCall(event.begin(events().symbolic, reinterpret_cast<PetscObject>(matrix)));
  PetscCall(reset());
  PetscCall(prepare(matrix, false, settings_.backend));
  std::vector<double> outside;
  PetscCall(measure(&outside));
  if (rows() > 0) {
    MatInfo sizes;
    PetscCall(MatGetInfo(matrix, MAT_LOCAL, &sizes));
    entries_ = static_cast<Offset>(sizes.nz_used);
    PetscCall(guarded([&] { trace_file_ = settings_.sweeps.trace_file; }));
    PetscCall(with_matrix(matrix, [&](const CsrView& view, MemorySpace space, Stream stream) {
      JacobiOptions options = settings_.jacobi;
      options.run = settings_.sweeps.run;
      options.outside = std::move(outside);
      jacobi_.emplace(backend_->context, view, space, options, stream);
    }));
    applies_by_program_ = settings_.jacobi.sweeps > 1 && is_program(jacobi_->form());
    PetscCall(report_zeros(matrix));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What the rank's rows hold beside `matrix`, as far as it counts: PETSc's PCJACOBI looks at whole rows.
PetscErrorCode JacobiPreconditioner::measure(std::vector<double>* outside) const {
  PetscFunctionBegin;
  RowMeasure wanted = RowMeasure::absolute_sum;
  switch (settings_.jacobi.diagonal) {
    case JacobiDiagonal::diagonal:
      PetscFunctionReturn(PETSC_SUCCESS);
    case JacobiDiagonal::row_max:
      wanted = RowMeasure::largest;
      break;
    case JacobiDiagonal::row_sum:
      wanted = RowMeasure::sum;
      break;
    case JacobiDiagonal::row_l1:
      break;
  }
  PetscCall(measure_outside(whole_, wanted, outside));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JacobiPreconditioner::update(Mat matrix, bool) {
  PetscFunctionBegin;
  std::vector<double> outside;
  PetscCall(measure(&outside));
  if (rows() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  EventScope event;
  PetscCall(event.begin(events().numeric, reinterpret_cast<PetscObject>(matrix)));
  PetscCall(with_matrix(matrix, [&](const CsrView& view, MemorySpace space, Stream stream) {
    jacobi_->set_outside(std::move(outside));
    jacobi_->update_values(view, space, stream);
  }));
  PetscCall(report_zeros(matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JacobiPreconditioner::report_zeros(Mat matrix) const {
  PetscFunctionBegin;
  if (jacobi_->zero_diagonals() > 0)
    PetscCall(PetscInfo(matrix, "Zero detected in %d diagonal entries, using 1 there\n",
                        static_cast<int>(jacobi_->zero_diagonals())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A product and an update.
PetscLogDouble JacobiPreconditioner::flops_of_sweep() const {
  return 2.0 * static_cast<PetscLogDouble>(entries_) + 3.0 * static_cast<PetscLogDouble>(rows());
}

PetscLogDouble JacobiPreconditioner::flops() const {
  // The first sweep starts from zero and needs no product.
  return static_cast<PetscLogDouble>(rows()) +
         static_cast<PetscLogDouble>(settings_.jacobi.sweeps - 1) * flops_of_sweep();
}

PetscErrorCode JacobiPreconditioner::view(const RankViewer& viewer) const {
  PetscFunctionBegin;
  const std::string title = "sizes: ";
  std::string text;
  std::vector<RankNumber> numbers;
  bool each = false;
  PetscCall(view_sweeps(viewer, "Jacobi"));
  if (!backend_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(shows_each_rank(viewer, &each));
  PetscCall(guarded([&] {
    numbers = {{"rows", static_cast<double>(rows()), true},
               {"zero diagonals replaced by 1", jacobi_ ? static_cast<double>(jacobi_->zero_diagonals()) : 0.0, true},
               {"MB", jacobi_ ? static_cast<double>(jacobi_->bytes()) / 1.0e6 : 0.0, true}};
    text = each ? number_text(title, numbers) + '\n' : "";
    if (jacobi_ && settings_.jacobi.sweeps > 1) text += std::string("form: ") + to_string(jacobi_->form()) + '\n';
    if (applies_by_program_) {
      text += std::string("engine: the sweeps as one program, scheduler ") +
              engine::to_string(settings_.sweeps.run.scheduler) + '\n' + describe(jacobi_->engine_runs());
    }
  }));
  PetscCall(view_numbers(viewer, title, numbers));
  PetscCall(view_texts(viewer, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JacobiPreconditioner::reset() {
  PetscFunctionBegin;
  const PetscErrorCode written = write_trace();
  applies_by_program_ = false;
  PetscCall(reset_sweeps());
  PetscCall(written);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JacobiPreconditioner::write_trace() const {
  PetscFunctionBegin;
  if (!jacobi_ || trace_file_.empty() || !applies_by_program_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(guarded([&] { write_traces(jacobi_->engine_runs(), backend_->context.backend(), trace_file_); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

std::unique_ptr<Preconditioner> make_jacobi(const Settings& settings) {
  if (settings.block_jacobi.used) return make_block_jacobi(settings);
  return std::make_unique<JacobiPreconditioner>(settings);
}

std::vector<OptionRow> jacobi_rows() {
  const JacobiRows rows;
  return {rows.sweeps,   rows.damping, rows.weights,      rows.type,    rows.l1_scale,
          rows.absolute, rows.form,    rows.part_entries, rows.long_row};
}

PetscErrorCode read_jacobi(OptionItems PetscOptionsObject, Settings* settings) {
  PetscFunctionBegin;
  JacobiOptions& jacobi = settings->jacobi;
  std::optional<JacobiRows> rows;
  PetscCall(guarded([&] { rows.emplace(); }));
  PetscInt sweeps = jacobi.sweeps;
  PetscCall(read_int(PetscOptionsObject, rows->sweeps, 1, &sweeps));
  jacobi.sweeps = static_cast<int>(sweeps);

  const OptionRow& damping = rows->damping;
  PetscCall(check_real(PetscOptionsObject, damping));
  PetscCall(PetscOptionsReal(damping.name, damping.help.c_str(), nullptr, jacobi.damping, &jacobi.damping, nullptr));
  PetscCheck(std::isfinite(jacobi.damping) && jacobi.damping != 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s must be %s, not %g", damping.name, damping.range.c_str(), jacobi.damping);

  auto weights = static_cast<PetscInt>(jacobi.weights);
  PetscCall(read_list(PetscOptionsObject, rows->weights, weight_names, &weights));
  jacobi.weights = static_cast<JacobiWeights>(weights);
  auto type = static_cast<PetscInt>(place_of_type(*settings));
  PetscCall(read_list(PetscOptionsObject, rows->type, type_names, &type));
  settings->block_jacobi.used = type == static_cast<PetscInt>(block_place);
  if (!settings->block_jacobi.used) jacobi.diagonal = static_cast<JacobiDiagonal>(type);
  const OptionRow& l1_scale = rows->l1_scale;
  PetscCall(check_real(PetscOptionsObject, l1_scale));
  PetscCall(
      PetscOptionsReal(l1_scale.name, l1_scale.help.c_str(), nullptr, jacobi.l1_scale, &jacobi.l1_scale, nullptr));
  PetscCheck(jacobi.l1_scale >= 0.0 && jacobi.l1_scale <= 1.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s must be %s, not %g", l1_scale.name, l1_scale.range.c_str(), jacobi.l1_scale);
  PetscCall(read_bool(PetscOptionsObject, rows->absolute, &jacobi.absolute));
  auto form = static_cast<PetscInt>(jacobi.form);
  PetscCall(read_list(PetscOptionsObject, rows->form, form_names, &form));
  jacobi.form = static_cast<JacobiForm>(form);
  PetscInt part_entries = jacobi.part_entries;
  PetscCall(read_int(PetscOptionsObject, rows->part_entries, 1, &part_entries));
  jacobi.part_entries = static_cast<Index>(part_entries);
  PetscInt long_row = jacobi.long_row;
  PetscCall(read_int(PetscOptionsObject, rows->long_row, 0, &long_row));
  jacobi.long_row = static_cast<Index>(long_row);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_jacobi(const Settings& settings) {
  PetscFunctionBegin;
  if (settings.type == PC_TASKDAG_JACOBI || settings.type == PC_TASKDAG_AUTO)
    PetscCall(guarded([&] { require_valid(settings.jacobi); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool jacobi_iterates(const Settings& settings) {
  return settings.jacobi.sweeps > 1 && settings.jacobi.weights == JacobiWeights::chebyshev;
}

const char* jacobi_type_name(const Settings& settings) { return type_names.at(place_of_type(settings)); }

bool same_jacobi(const Settings& a, const Settings& b) {
  const auto tied = [](const JacobiOptions& o) {
    return std::tie(o.sweeps, o.damping, o.weights, o.diagonal, o.l1_scale, o.absolute, o.form, o.part_entries,
                    o.long_row);
  };
  return tied(a.jacobi) == tied(b.jacobi);
}

}  // namespace taskdag::petsc

#include "pc/jacobi_type.hpp"

#include <string>
#include <utility>
#include <vector>

#include "fresh_number.hpp"
#include "mat/outside_rows.hpp"
#include "matfactor/engine_runs.hpp"
#include "options.hpp"
#include "pc/block_jacobi_type.hpp"
#include "pc/complex_jacobi_type.hpp"
#include "pc/jacobi_sweeps.hpp"
#include "pc/types.hpp"
#include "taskdag/jacobi.hpp"

namespace taskdag::petsc {
namespace {

class JacobiPreconditioner final : public JacobiSweeps<Jacobi> {
 public:
  explicit JacobiPreconditioner(const Settings& settings) : JacobiSweeps(settings) {}

  PetscErrorCode analyse(Mat matrix, bool error_if_failure) override;
  PetscErrorCode update(Mat matrix, bool error_if_failure) override;
  PetscErrorCode view(const RankViewer& viewer) const override;
  PetscErrorCode reset() override;

 private:
  PetscErrorCode report_zeros(Mat matrix) const;
  [[nodiscard]] const double* diagonal() const override { return jacobi_->diagonal(); }
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
      launches_ = fresh_number();
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
  PetscCall(guarded(viewer.comm, [&] {
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
  if (complex_scalars) return make_complex_jacobi(settings);
  return std::make_unique<JacobiPreconditioner>(settings);
}

PetscErrorCode check_jacobi_sweeps(const Settings& settings) {
  PetscFunctionBegin;
  PetscCall(guarded([&] { require_valid(settings.jacobi); }));
  PetscCall(check_block_jacobi(settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_jacobi(const Settings& settings) {
  PetscFunctionBegin;
  PetscCall(check_trace(settings.sweeps, is_program(settings.jacobi.form)));
  PetscCall(check_jacobi_sweeps(settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool jacobi_iterates(const Settings& settings) {
  return settings.jacobi.sweeps > 1 && settings.jacobi.weights == JacobiWeights::chebyshev;
}

}  // namespace taskdag::petsc

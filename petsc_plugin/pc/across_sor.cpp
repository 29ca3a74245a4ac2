// SOR and SSOR of the whole matrix on several ranks.
#include "boundary.hpp"
#include "pc/across.hpp"
#include "pc/sor_type.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

/// SOR of all rows: also what PETSc calls local, which on one rank is the same.
class SorAcross final : public AcrossRanks {
 public:
  explicit SorAcross(const Settings& settings) : AcrossRanks(settings) {}

  PetscErrorCode analyse(Mat matrix, bool error_if_failure) override;
  PetscErrorCode update(Mat matrix, bool error_if_failure) override;
  PetscErrorCode apply(Apply part, Vec b, Vec x) override;
  using AcrossRanks::apply;
  PetscErrorCode iterate(Vec b, Vec x, PetscInt iterations, bool from_zero) override;
  PetscErrorCode view(const RankViewer& viewer) const override;
  PetscErrorCode reset() override;

 private:
  [[nodiscard]] const SorSettings& own() const { return settings_.sor; }
  [[nodiscard]] const RankRows& pattern() const override { return sor_->pattern(); }
  PetscErrorCode load_sweeps() override;
  PetscErrorCode run(PetscInt iterations, bool from_zero);
  PetscErrorCode pass(Triangle direction, PassStart start, bool tells_last);

  std::optional<RankSor> sor_;
  std::vector<double> right_;  ///< b in the order of places
};

PetscErrorCode SorAcross::analyse(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  PetscCall(reset());
  PetscCall(take_pattern(matrix, GhostRows::none));
  PetscCall(guarded(whole_.comm(), [&] {
    sor_.emplace(backend_->context, part_->take_rows(), own().omega, own().shift);
    right_.resize(static_cast<std::size_t>(part_->rows()));
  }));
  // Other passes need elements of both triangles at once, which sweeps through the ranks' memory do not exchange.
  const bool as_factor =
      to_sweep(own().sweep) == SorSweep::symmetric && own().iterations == 1 && own().local_iterations == 1;
  PetscCheck(
      as_factor || settings_.backend.wanted != Backend::cuda, PETSC_COMM_SELF, PETSC_ERR_SUP,
      "-pc_taskdag_across on works on the GPU for one symmetric sweep of SOR: -pc_taskdag_backend cannot be cuda");
  if (as_factor) PetscCall(make_sweeps());
  PetscCall(update(matrix, error_if_failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorAcross::update(Mat /*matrix*/, bool error_if_failure) {
  PetscFunctionBegin;
  EventScope event;
  PetscCall(event.begin(events().numeric, reinterpret_cast<PetscObject>(whole_.get())));
  error_ = MAT_FACTOR_NOERROR;
  loaded_ = false;
  PetscCall(take_values());
  const FactorStatus status = sor_->load(part_->values());
  if (status.ok()) PetscFunctionReturn(PETSC_SUCCESS);
  const bool zero = status.outcome == FactorOutcome::zero_pivot;
  const PetscInt row = part_->global(status.first_row);
  PetscCheck(!error_if_failure, PETSC_COMM_SELF, zero ? PETSC_ERR_MAT_LU_ZRPVT : PETSC_ERR_FP,
             "SOR cannot divide by the diagonal entry of row %" PetscInt_FMT ", it is %s", row,
             zero ? "zero" : "not finite");
  error_ = zero ? MAT_FACTOR_NUMERIC_ZEROPIVOT : MAT_FACTOR_OTHER;
  PetscCall(PetscInfo(whole_.get(), "The diagonal entry of row %" PetscInt_FMT " is %s\n", row,
                      zero ? "zero" : "not finite"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorAcross::pass(Triangle direction, PassStart start, bool tells_last) {
  PetscFunctionBegin;
  double* const x = work_.data();
  PetscCall(part_->sweep(direction, part_->elements(), x, ghosts_of(x), tells_last, [&](Index first, Index last) {
    sor_->pass(direction, start, first, last, right_.data(), x);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorAcross::run(PetscInt iterations, bool from_zero) {
  PetscFunctionBegin;
  const SorSweep sweep = to_sweep(own().sweep);
  PassStart start = from_zero ? PassStart::zero : PassStart::given;
  // Nothing is worked on: ghosts come up to date.
  if (!from_zero)
    PetscCall(part_->sweep(Triangle::lower, part_->elements(), work_.data(), ghosts_of(work_.data()), true,
                           [](Index, Index) {}));
  for (PetscInt k = 0; k < iterations; ++k) {
    const bool more = k + 1 < iterations;
    if (sweep == SorSweep::symmetric) {
      PetscCall(pass(Triangle::lower, start, false));
      PetscCall(pass(Triangle::upper, PassStart::reversed, false));
      start = PassStart::reversed;
    } else {
      PetscCall(pass(sweep == SorSweep::forward ? Triangle::lower : Triangle::upper, start, more));
      start = PassStart::given;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorAcross::iterate(Vec b, Vec x, PetscInt iterations, bool from_zero) {
  PetscFunctionBegin;
  PetscCheck(sor_, PetscObjectComm(reinterpret_cast<PetscObject>(b)), PETSC_ERR_ARG_WRONGSTATE,
             "TaskDAG has no SOR to apply: the last set-up has failed");
  PetscInt passes = 0;
  PetscCall(count_sor_sweeps(own(), iterations, PetscObjectComm(reinterpret_cast<PetscObject>(b)), &passes));
  const auto flops = 2.0 * static_cast<PetscLogDouble>(sor_->pattern().own_entries()) * static_cast<double>(passes);
  PetscCall(with_host_arrays(b, x, flops, [&](const double* from, double* to) -> PetscErrorCode {
    PetscFunctionBegin;
    part_->sort(from, right_.data());
    if (!from_zero) part_->sort(to, work_.data());
    PetscCall(run(passes, from_zero));
    part_->sort_back(work_.data(), to);
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorAcross::load_sweeps() {
  PetscFunctionBegin;
  Stream stream;
  std::vector<double> values;
  PetscCall(current_stream(&stream));
  PetscCall(guarded(whole_.comm(), [&] {
    values.resize(static_cast<std::size_t>(pattern().own_entries()));
    sor_->inverse_diagonals(work_.data());
  }));
  PetscCall(part_->sweep(Triangle::lower, part_->elements(), work_.data(), ghosts_of(work_.data()), true,
                         [](Index, Index) {}));
  sor_->symmetric_factor(work_.data(), values.data());
  PetscCall(guarded(whole_.comm(), [&] { sweeps_->load(values.data(), MemorySpace::host, stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorAcross::apply(Apply part, Vec b, Vec x) {
  PetscFunctionBegin;
  bool by_sweeps = false;
  PetscCall(check_transposed_sor(part, own().sweep, whole_));
  if (sor_) PetscCall(choose_sweeps(b, x, &by_sweeps));
  if (by_sweeps)
    PetscCall(apply_by_sweeps(b, x));
  else
    PetscCall(iterate(b, x, 1, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorAcross::view(const RankViewer& viewer) const {
  PetscFunctionBegin;
  PetscCall(view_part(viewer, static_cast<std::size_t>(sor_ ? sor_->pattern().own_entries() : 0)));
  PetscCall(view_sweeps(viewer.viewer, "applied"));
  PetscCall(view_sor(viewer.viewer, own()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SorAcross::reset() {
  PetscFunctionBegin;
  sor_.reset();
  right_.clear();
  PetscCall(forget());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

std::unique_ptr<Preconditioner> make_sor_across(const Settings& settings) {
  return std::make_unique<SorAcross>(settings);
}

}  // namespace taskdag::petsc

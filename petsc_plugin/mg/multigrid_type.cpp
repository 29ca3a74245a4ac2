// The type mg: PETSc's multigrid preconditioner, set up by PETSc, with a cycle of ours.
#include <utility>

#include "mat/columns.hpp"
#include "mat/held.hpp"
#include "mg/mg_types.hpp"
#include "options.hpp"
#include "pc/in_loop.hpp"
#include "pc/inner_mg.hpp"
#include "pc/types.hpp"

namespace taskdag::petsc {
namespace {

/// An application of a PC that is not to set it up again: whether PETSc keeps what has been set up is asked of the PC
/// outside alone.
template <class Application>
PetscErrorCode without_set_up(PC pc, const Application& application) {
  PetscFunctionBegin;
  const PetscBool before = std::exchange(pc->reusepreconditioner, PETSC_TRUE);
  const PetscErrorCode applied = application();
  pc->reusepreconditioner = before;
  PetscCall(applied);
  PetscFunctionReturn(PETSC_SUCCESS);
}

class MultigridPreconditioner final : public Preconditioner {
 public:
  explicit MultigridPreconditioner(const Settings& settings) : settings_(settings) {}

  PetscErrorCode belong_to(PC pc) override;
  PetscErrorCode analyse(Mat /*matrix*/, bool /*error_if_failure*/) override { return set_up(); }
  PetscErrorCode update(Mat /*matrix*/, bool /*error_if_failure*/) override { return set_up(); }
  [[nodiscard]] std::optional<MatFactorError> failure() const override { return failure_; }
  PetscErrorCode apply(Apply part, Vec b, Vec x) override;
  PetscErrorCode apply(Apply part, Mat b, Mat x) override;
  bool take_lost_application() override;
  PetscErrorCode prepare_for_arrays(std::int64_t replays, ArrayUse* use) override;
  void apply_to_arrays(const double* b, double* x, Stream stream) override { own_->apply_to_arrays(b, x, stream); }
  [[nodiscard]] LinearMap* map_over_ranks() override { return own_ ? own_->map_over_ranks() : nullptr; }
  PetscErrorCode view(const RankViewer& viewer) const override;
  PetscErrorCode reset() override;

 private:
  PetscErrorCode set_up();

  const Settings& settings_;
  Held<PC> inner_;
  OwnApplication* own_ = nullptr;  ///< of inner_; since prepare_for_arrays()
  MatFactorError failure_ = MAT_FACTOR_NOERROR;
};

PetscErrorCode MultigridPreconditioner::belong_to(PC pc) {
  PetscFunctionBegin;
  PC inner = nullptr;
  PetscCall(prepare_inner_mg(pc, &inner));
  PetscCall(inner_.share(inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc knows by itself what of its hierarchy stays.
PetscErrorCode MultigridPreconditioner::set_up() {
  PetscFunctionBegin;
  PCFailedReason failed = PC_NOERROR;
  PetscCall(PCSetFailedReason(inner_, PC_NOERROR));  // that of what was set up before
  const PetscErrorCode ready = set_up_with_cycle(inner_, settings_.backend);
  // PETSc has noted the state of the matrix before, and would take a repetition for done.
  if (static_cast<int>(ready) != 0) forget_setup(inner_);
  PetscCall(ready);
  PetscCall(PCGetFailedReason(inner_, &failed));
  // Reasons of PCs go on where those of factors end.
  failure_ = static_cast<MatFactorError>(failed < 0 ? PC_SUBPC_ERROR : failed);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MultigridPreconditioner::apply(Apply part, Vec b, Vec x) {
  PetscFunctionBegin;
  const auto applied = part == Apply::transposed ? PCApplyTranspose : PCApply;
  PetscCall(without_set_up(inner_, [&] { return applied(inner_, b, x); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MultigridPreconditioner::apply(Apply part, Mat b, Mat x) {
  PetscFunctionBegin;
  PetscCall(without_set_up(inner_, [&] {
    if (part == Apply::full) return PCMatApply(inner_, b, x);
    return by_columns(b, x, [&](Vec from, Vec to) { return PCApplyTranspose(inner_, from, to); });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool MultigridPreconditioner::take_lost_application() {
  return std::exchange(inner_.get()->failedreason, PC_NOERROR) != PC_NOERROR;
}

PetscErrorCode MultigridPreconditioner::prepare_for_arrays(std::int64_t /*replays*/, ArrayUse* use) {
  PetscFunctionBegin;
  PetscCall(own_application_of(inner_, &own_));
  if (own_) PetscCall(own_->prepare_for_arrays(inner_, use));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MultigridPreconditioner::view(const RankViewer& viewer) const {
  PetscFunctionBegin;
  if (!inner_) {
    PetscCall(PetscViewerASCIIPrintf(viewer.viewer, "  multigrid: not set up\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscViewerASCIIPushTab(viewer.viewer));
  PetscCall(PCView(inner_, viewer.viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer.viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What PETSc has set up stays with the PC inside.
PetscErrorCode MultigridPreconditioner::reset() {
  PetscFunctionBegin;
  own_ = nullptr;
  failure_ = MAT_FACTOR_NOERROR;
  if (inner_) PetscCall(drop_cycle(inner_));
  PetscCall(inner_.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

std::unique_ptr<Preconditioner> make_mg(const Settings& settings) {
  return std::make_unique<MultigridPreconditioner>(settings);
}

PetscErrorCode check_mg(const Settings& settings) {
  PetscFunctionBegin;
  PetscCall(check_trace(settings.sweeps, false));
  PetscCheck(!settings.eisenstat, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "-pc_taskdag_eisenstat needs halves of the matrix, and -pc_taskdag_type mg has none");
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

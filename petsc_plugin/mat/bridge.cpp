#include "mat/bridge.hpp"

namespace taskdag::petsc {

PetscErrorCode Bridge::prepare(Mat matrix, bool upper_is_enough, const EngineSettings& settings) {
  PetscFunctionBegin;
  PetscCall(source_.inspect(matrix, upper_is_enough));
  const DataPlace place{source_.rows(), source_.on_device()};
  PetscCall(choose_engine(settings, place, &engine_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Bridge::view_engine(PetscViewer viewer) const {
  PetscFunctionBegin;
  if (!engine_) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  backend: not chosen yet\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::string device;
  PetscCall(guarded([&] { device = engine_->context.device_name(); }));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  backend: %s (%s), %s\n", to_string(engine_->context.backend()),
                                   engine_->reason.c_str(), device.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

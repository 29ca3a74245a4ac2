#include "mat/bridge.hpp"

namespace taskdag::petsc {

PetscErrorCode Bridge::prepare(Mat matrix, bool upper_is_enough, const BackendSettings& settings) {
  PetscFunctionBegin;
  PetscCall(source_.inspect(matrix, upper_is_enough));
  const DataPlace place{source_.rows(), source_.on_device()};
  PetscCall(choose_backend(settings, place, &backend_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Bridge::view_backend(PetscViewer viewer) const {
  PetscFunctionBegin;
  if (!backend_) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  backend: not chosen yet\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::string device;
  PetscCall(guarded([&] { device = backend_->context.device_name(); }));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  backend: %s (%s), %s\n", to_string(backend_->context.backend()),
                                   backend_->reason.c_str(), device.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

#include "mat/bridge.hpp"

namespace taskdag::petsc {

PetscErrorCode Bridge::prepare(Mat matrix, bool upper_is_enough, const BackendSettings& settings, PetscInt block_size) {
  PetscFunctionBegin;
  PetscCall(source_.inspect(matrix, upper_is_enough, block_size));
  const MatrixSummary summary{source_.rows(), source_.on_device()};
  PetscCall(choose_backend(settings, summary, &backend_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string Bridge::backend_line() const {
  if (!backend_) return "backend: not chosen yet\n";
  return std::string("backend: ") + to_string(backend_->context.backend()) + " (" + backend_->reason + "), " +
         backend_->context.device_name() + (on_cuda() ? ", device " + std::to_string(backend_->context.device()) : "") +
         '\n';
}

}  // namespace taskdag::petsc

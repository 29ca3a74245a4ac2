#include "mat/bridge.hpp"

#include <array>
#include <cstdio>

#include "taskdag/calibration.hpp"

namespace taskdag::petsc {
namespace {

std::string rates_line(const Calibration& found) {
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "rates: launch %.3g, hop %.3g, step %.3g, byte %.3g", found.rates.launch,
                found.rates.hop, found.rates.step, found.rates.byte);
  return std::string(text.data()) + " (" + found.source + ")\n";
}

}  // namespace

PetscErrorCode Bridge::prepare(Mat matrix, bool upper_is_enough, const BackendSettings& settings, PetscInt block_size) {
  PetscFunctionBegin;
  PetscCall(source_.inspect(matrix, upper_is_enough, block_size));
  const MatrixSummary summary{source_.rows(), source_.on_device()};
  PetscCall(choose_backend(settings, summary, &backend_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string Bridge::backend_line() const {
  if (!backend_) return "backend: not chosen yet\n";
  const Context& context = backend_->context;
  const std::string text =
      std::string("backend: ") + to_string(context.backend()) + " (" + backend_->reason + "), " + context.device_name();
  if (!on_cuda()) return text + '\n';
  return text + ", device " + std::to_string(context.device()) + '\n' + rates_line(calibration(context));
}

}  // namespace taskdag::petsc

#include "taskdag/calibration.hpp"

#include "context/device.hpp"

namespace taskdag {
namespace {
constexpr const char* kNoDevice = "host threads";
}  // namespace

Calibration calibration(const Context& context) {
  return context.backend() == Backend::host ? Calibration{{}, kNoDevice} : cuda::calibration(context.device());
}

Calibration calibrate(const Context& context, bool again) {
  return context.backend() == Backend::host ? Calibration{{}, kNoDevice} : cuda::calibrate(context.device(), again);
}

}  // namespace taskdag

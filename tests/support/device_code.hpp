/// \file
/// What the library's device code cannot do in this build: forms that need it are refused in words there.
#pragma once

#include <initializer_list>
#include <vector>

#include "taskdag/engine/report.hpp"

namespace taskdag::test {

/// Whether it was linked, which the device controller and the loops of graphs need; PTX alone is not.
#if defined(TASKDAG_TESTS_WITHOUT_DEVICE_LINK)
inline constexpr bool kDeviceLink = false;
#else
inline constexpr bool kDeviceLink = true;
#endif

/// Whether it is for GPUs before compute capability 9.0 alone, whatever the GPU.
#if defined(TASKDAG_TESTS_OF_OLDER_CODE)
inline constexpr bool kOlderCode = true;
#else
inline constexpr bool kOlderCode = false;
#endif

/// Those of the schedulers that this build has.
inline std::vector<engine::Scheduler> built(std::initializer_list<engine::Scheduler> schedulers) {
  std::vector<engine::Scheduler> result(schedulers);
  if (!kDeviceLink) std::erase(result, engine::Scheduler::device_controller);
  return result;
}

}  // namespace taskdag::test

/// \file
/// CUDA return codes to exceptions, for the engine's templates.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "taskdag/engine/platform.hpp"
#include "taskdag/error.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // it is reported here: a later look at a launch must not find it again
  const std::string message = std::string(what) + ": " + cudaGetErrorString(error);
  if (error == cudaErrorMemoryAllocation) throw OutOfMemory(message);
  throw DeviceError(message);
}

}  // namespace detail

TASKDAG_ENGINE_END

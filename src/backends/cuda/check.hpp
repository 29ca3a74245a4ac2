/// \file
/// CUDA return codes to exceptions.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace taskdag::cuda {

/// Throws OutOfMemory for cudaErrorMemoryAllocation, DeviceError for every other failure; `what` names the action.
void check(cudaError_t error, const char* what);

/// The same after a kernel launch (cudaGetLastError).
void check_launch(const char* kernel);

/// Throws OutOfMemory saying how many bytes of which memory were refused.
[[noreturn]] void throw_out_of_memory(const char* memory, std::size_t bytes);

}  // namespace taskdag::cuda

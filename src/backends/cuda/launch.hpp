/// \file
/// Launches of kernels that ask for more than blocks and threads.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/cuda/check.hpp"

namespace taskdag::cuda {

/// Whether a launch can start before the one before it on its stream ends: device and code are of 9.0 or newer.
/// @throws DeviceError
bool launches_overlap();

/// A launch on one-dimensional blocks. Stays where it was made: the runtime is given addresses of its parts.
class Launch {
 public:
  Launch(std::int64_t blocks, int threads, std::size_t shared_bytes, cudaStream_t stream);
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  /// Blocks start in clusters of so many.
  Launch& clusters_of(int blocks);
  /// All blocks run at the same time, or the launch is refused.
  Launch& cooperative();
  /// It may start before the launch before it on the stream ends (programmatic dependent launch) if `allowed`, and
  /// where launches_overlap(): elsewhere its kernel's wait_for_last_launch() (overlap.cuh) does not wait. The one place
  /// that asks for it (tests/generations.py).
  Launch& overlapping(bool allowed);

  [[nodiscard]] const cudaLaunchConfig_t& config() const { return config_; }
  /// Asynchronous. @returns what the runtime says
  template <class... Parameters, class... Arguments>
  cudaError_t attempt(void (*kernel)(Parameters...), const Arguments&... arguments) const {
    return cudaLaunchKernelEx(&config_, kernel, arguments...);
  }
  /// Asynchronous. what: for the message of an error. @throws DeviceError
  template <class... Parameters, class... Arguments>
  void run(const char* what, void (*kernel)(Parameters...), const Arguments&... arguments) const {
    check(attempt(kernel, arguments...), what);
  }

 private:
  cudaLaunchAttributeValue& add(cudaLaunchAttributeID id);

  cudaLaunchConfig_t config_{};
  std::array<cudaLaunchAttribute, 3> attributes_{};
};

}  // namespace taskdag::cuda

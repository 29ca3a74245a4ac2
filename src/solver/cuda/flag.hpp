/// \file
/// The "something was not finite" flag of a solver on the device.
#pragma once

#include "backends/cuda/memory.hpp"
#include "taskdag/status.hpp"

namespace taskdag {

class CudaFlag {
 public:
  explicit CudaFlag(cudaStream_t stream) : flag_(1, stream) { clear(stream); }
  [[nodiscard]] int* data() const { return flag_.data(); }
  /// Reads and clears. Synchronises `stream`.
  SolveOutcome take(cudaStream_t stream) {
    const int raised = cuda::fetch(flag_.data(), stream);
    if (raised) clear(stream);
    return raised ? SolveOutcome::non_finite : SolveOutcome::success;
  }

 private:
  void clear(cudaStream_t stream) {
    cuda::check(cudaMemsetAsync(flag_.data(), 0, sizeof(int), stream), "clearing a flag");
  }
  cuda::DeviceArray<int> flag_;
};

}  // namespace taskdag

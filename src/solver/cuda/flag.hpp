/// \file
/// The "something was not finite" flag of a solver on the device.
#pragma once

#include <optional>

#include "backends/cuda/memory.hpp"
#include "backends/cuda/stream.hpp"
#include "taskdag/status.hpp"

namespace taskdag {

class CudaFlag {
 public:
  explicit CudaFlag(cudaStream_t stream) : flag_(1, stream) { clear(stream); }
  [[nodiscard]] int* data() const { return flag_.data(); }
  /// Reads and clears. Synchronises `stream`.
  SolveOutcome take(cudaStream_t stream) {
    const int raised = cuda::fetch(flag_.data(), stream);
    if (raised) {
      clear(stream);
      cuda::synchronize(stream);  // the next to raise it may be on another stream
    }
    return raised ? SolveOutcome::non_finite : SolveOutcome::success;
  }
  /// The same after all work on the device: the streams with the work may be gone.
  SolveOutcome take() {
    const cuda::RelaxedCapture relaxed;
    cuda::check(cudaDeviceSynchronize(), "waiting for the device");
    if (!own_) own_.emplace();
    return take(own_->get());
  }

 private:
  void clear(cudaStream_t stream) {
    cuda::check(cudaMemsetAsync(flag_.data(), 0, sizeof(int), stream), "clearing a flag");
  }
  cuda::DeviceArray<int> flag_;
  std::optional<cuda::UniqueStream> own_;
};

}  // namespace taskdag

#include "backends/cuda/check.hpp"
#include "backends/cuda/cooperative.hpp"

namespace taskdag::cuda {

bool does_not_fit(cudaError_t error) {
  if (error != cudaErrorCooperativeLaunchTooLarge && error != cudaErrorInvalidClusterSize) return false;
  static_cast<void>(cudaGetLastError());  // no other check is to find it
  return true;
}

void launch_cooperative(const void* kernel, unsigned most, unsigned threads, void** arguments, std::size_t shared_bytes,
                        cudaStream_t stream, const char* what) {
  for (unsigned blocks = most;; blocks = (blocks + 1) / 2) {
    const cudaError_t error =
        cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(threads), arguments, shared_bytes, stream);
    if (blocks == 1 || !does_not_fit(error)) return check(error, what);
  }
}

}  // namespace taskdag::cuda

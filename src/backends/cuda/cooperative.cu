#include "backends/cuda/check.hpp"
#include "backends/cuda/cooperative.hpp"

namespace taskdag::cuda {

void launch_cooperative(const void* kernel, unsigned most, unsigned threads, void** arguments, std::size_t shared_bytes,
                        cudaStream_t stream, const char* what) {
  for (unsigned blocks = most;; blocks = (blocks + 1) / 2) {
    const cudaError_t error =
        cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(threads), arguments, shared_bytes, stream);
    if (error != cudaErrorCooperativeLaunchTooLarge || blocks == 1) return check(error, what);
    static_cast<void>(cudaGetLastError());  // nobody else's
  }
}

}  // namespace taskdag::cuda

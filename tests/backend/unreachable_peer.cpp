// Stands in for cudaIpcOpenMemHandle(), which the linker leads here (CMakeLists.txt): as between GPUs without a path.
#include "unreachable_peer.hpp"

#include <cuda_runtime_api.h>

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
extern "C" cudaError_t __real_cudaIpcOpenMemHandle(void** base, cudaIpcMemHandle_t handle, unsigned flags);
extern "C" cudaError_t __wrap_cudaIpcOpenMemHandle(void** base, cudaIpcMemHandle_t handle, unsigned flags);
extern "C" cudaError_t __wrap_cudaIpcOpenMemHandle(void** base, cudaIpcMemHandle_t handle, unsigned flags) {
  if (taskdag::test::peer_is_unreachable()) return cudaErrorPeerAccessUnsupported;
  return __real_cudaIpcOpenMemHandle(base, handle, flags);
}
// NOLINTEND(bugprone-reserved-identifier)

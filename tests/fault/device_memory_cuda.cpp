#include "backends/cuda/check.hpp"
#include "fault/device_memory.hpp"

namespace taskdag::test {

std::int64_t free_device_bytes(Backend backend) {
  if (backend != Backend::cuda) return 0;
  std::size_t free = 0;
  std::size_t total = 0;
  cuda::check(cudaMemGetInfo(&free, &total), "asking for free memory");
  return static_cast<std::int64_t>(free);
}

}  // namespace taskdag::test

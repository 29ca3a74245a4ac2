/// \file
/// A build without CUDA has no device memory.
#include "kernels/papers/own_memory.hpp"

namespace taskdag::kernels {

const cuda::MemoryFunctions* own_memory() { return nullptr; }

}  // namespace taskdag::kernels

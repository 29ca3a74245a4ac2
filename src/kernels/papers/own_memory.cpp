/// \file
/// The functions of backends/cuda/memory.hpp, as a table.
#include "kernels/papers/own_memory.hpp"

#include "backends/cuda/memory.hpp"
#include "backends/cuda/memory_functions.hpp"

namespace taskdag::kernels {

const cuda::MemoryFunctions* own_memory() {
  static constexpr cuda::MemoryFunctions functions{.allocate_device = cuda::allocate_device,
                                                   .free_device = cuda::free_device,
                                                   .free_device_synchronous = cuda::free_device_synchronous,
                                                   .current_device = cuda::current_device,
                                                   .allocate_pinned = cuda::allocate_pinned,
                                                   .free_pinned = cuda::free_pinned,
                                                   .take_pinned_piece = cuda::take_pinned_piece,
                                                   .return_pinned_piece = cuda::return_pinned_piece};
  return &functions;
}

}  // namespace taskdag::kernels

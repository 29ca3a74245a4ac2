/// \file
/// The functions of memory.hpp behind which the state of the process stands, for a second library that has its own copy
/// of this layer.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace taskdag::cuda {

struct MemoryFunctions {
  void* (*allocate_device)(std::size_t bytes, cudaStream_t stream);
  void (*free_device)(void* pointer, cudaStream_t stream) noexcept;
  void (*free_device_synchronous)(void* pointer, int device) noexcept;
  int (*current_device)();
  void* (*allocate_pinned)(std::size_t bytes);
  void (*free_pinned)(void* pointer) noexcept;
  void* (*take_pinned_piece)();
  void (*return_pinned_piece)(void* piece) noexcept;
};

}  // namespace taskdag::cuda

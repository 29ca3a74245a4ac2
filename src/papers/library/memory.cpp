// Device memory in libtaskdag_papers, instead of backends/cuda/memory.cu: what the process has taken is counted once,
// and an array may go from one library to the other.
#include "papers/library/memory.hpp"

#include "backends/cuda/memory.hpp"
#include "backends/cuda/memory_functions.hpp"

namespace taskdag::cuda {
namespace {

const MemoryFunctions* of_product = nullptr;

}  // namespace

void use_memory(const MemoryFunctions* functions) { of_product = functions; }

void* allocate_device(std::size_t bytes, cudaStream_t stream) { return of_product->allocate_device(bytes, stream); }
void free_device(void* pointer, cudaStream_t stream) noexcept { of_product->free_device(pointer, stream); }
void free_device_synchronous(void* pointer, int device) noexcept {
  of_product->free_device_synchronous(pointer, device);
}
int current_device() { return of_product->current_device(); }
void* allocate_pinned(std::size_t bytes) { return of_product->allocate_pinned(bytes); }
void free_pinned(void* pointer) noexcept { of_product->free_pinned(pointer); }
void* take_pinned_piece() { return of_product->take_pinned_piece(); }
void return_pinned_piece(void* piece) noexcept { of_product->return_pinned_piece(piece); }

}  // namespace taskdag::cuda

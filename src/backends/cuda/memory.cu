#include <array>
#include <mutex>

#include "backends/cuda/device.hpp"
#include "backends/cuda/memory.hpp"

namespace taskdag::cuda {
namespace {

// Freed memory up to this size stays in the pool for the next set-up; the rest goes back to the device, where the
// application needs it.
constexpr std::uint64_t kPoolKeeps = std::uint64_t{512} << 20;
constexpr int kMaxDevices = 64;

/// The library's pool on the current device, null where the device cannot have one. Made once per device and never
/// destroyed: it must outlive every object of an application that tears down in any order.
cudaMemPool_t pool_of_current_device() {
  static std::array<cudaMemPool_t, kMaxDevices> pools{};
  static std::array<bool, kMaxDevices> looked{};
  static std::mutex mutex;
  int device = 0;
  check(cudaGetDevice(&device), "asking for the current device");
  if (device >= kMaxDevices) return nullptr;
  const auto slot = static_cast<std::size_t>(device);
  const std::lock_guard lock(mutex);
  if (!looked[slot]) {
    looked[slot] = true;
    int supported = 0;
    check(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device), "asking for memory pools");
    if (supported) {
      cudaMemPoolProps properties{};
      properties.allocType = cudaMemAllocationTypePinned;
      properties.location.type = cudaMemLocationTypeDevice;
      properties.location.id = device;
      check(cudaMemPoolCreate(&pools[slot], &properties), "creating a memory pool");
      std::uint64_t keep = kPoolKeeps;
      check(cudaMemPoolSetAttribute(pools[slot], cudaMemPoolAttrReleaseThreshold, &keep), "setting up a memory pool");
    }
  }
  return pools[slot];
}

}  // namespace

void* allocate_device(std::size_t bytes, cudaStream_t stream) {
  void* pointer = nullptr;
  cudaMemPool_t pool = pool_of_current_device();
  const cudaError_t error = pool ? cudaMallocFromPoolAsync(&pointer, bytes, pool, stream) : cudaMalloc(&pointer, bytes);
  if (error == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    throw_out_of_memory("device memory", bytes);
  }
  check(error, "allocating device memory");
  return pointer;
}

void free_device(void* pointer, cudaStream_t stream) noexcept {
  if (!pointer) return;
  if (cudaFreeAsync(pointer, stream) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    static_cast<void>(cudaFree(pointer));  // not from a pool
  }
}

void free_device_synchronous(void* pointer) noexcept {
  if (!pointer) return;
  static_cast<void>(cudaDeviceSynchronize());
  static_cast<void>(cudaFree(pointer));
}

void* allocate_pinned(std::size_t bytes) {
  void* pointer = nullptr;
  const cudaError_t error = cudaMallocHost(&pointer, bytes);
  if (error == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    throw_out_of_memory("pinned host memory", bytes);
  }
  check(error, "allocating pinned host memory");
  return pointer;
}

void free_pinned(void* pointer) noexcept {
  if (pointer) static_cast<void>(cudaFreeHost(pointer));
}

}  // namespace taskdag::cuda

#include <array>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "backends/cuda/device.hpp"
#include "backends/cuda/memory.hpp"
#include "backends/cuda/pool_use.hpp"
#include "backends/cuda/stream.hpp"

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
  const int device = current_device();
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

/// The device whose arrays the calling thread may free without waiting; −1: none.
int& quiet_device() {
  thread_local int device = -1;
  return device;
}

/// Makes `device` current without throwing. @returns the one before, −1 where nothing is to be restored
int enter_device(int device) noexcept {
  int before = -1;
  if (cudaGetDevice(&before) != cudaSuccess || before == device) return -1;
  return cudaSetDevice(device) == cudaSuccess ? before : -1;
}

void leave_device(int before) noexcept {
  if (before >= 0) static_cast<void>(cudaSetDevice(before));
}

/// Of the pool, for work that is captured: taken on a stream of its own, since memory that a captured stream takes is
/// the graph's and there only while it runs.
cudaError_t allocate_outside_of_capture(void** pointer, std::size_t bytes, cudaMemPool_t pool) {
  const RelaxedCapture relaxed;
  if (!pool) return cudaMalloc(pointer, bytes);
  const UniqueStream side;
  const cudaError_t error = cudaMallocFromPoolAsync(pointer, bytes, pool, side.get());
  return error == cudaSuccess ? cudaStreamSynchronize(side.get()) : error;
}

/// Small pieces of page-locked memory: taking some from the system takes longer than a small set-up does otherwise, and
/// giving it back waits for the device. Made once and never given back, as the pool is.
class PinnedPieces {
 public:
  void* take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) add_slab();
    void* const piece = free_.back();
    free_.pop_back();
    return piece;
  }
  void give_back(void* piece) noexcept {
    const std::lock_guard lock(mutex_);
    free_.push_back(piece);  // there is room for all pieces
  }

 private:
  static constexpr std::size_t kPiecesTogether = 64;
  static constexpr std::size_t kSlab = kPiecesTogether * kPinnedPiece;

  /// A page that is locked where it stands: the first page-locked memory of the system's own takes five times as long.
  static void* take_slab() {
    int same_pointer = 0;
    check(cudaDeviceGetAttribute(&same_pointer, cudaDevAttrCanUseHostPointerForRegisteredMem, current_device()),
          "asking how the device reads host memory");
    void* const page = same_pointer != 0 ? std::aligned_alloc(kSlab, kSlab) : nullptr;
    if (page != nullptr) {
      if (cudaHostRegister(page, kSlab, cudaHostRegisterPortable) == cudaSuccess) return page;
      static_cast<void>(cudaGetLastError());
      std::free(page);
    }
    return allocate_pinned(kSlab);
  }

  void add_slab() {
    free_.reserve(pieces_ + kPiecesTogether);
    char* const slab = static_cast<char*>(take_slab());
    pieces_ += kPiecesTogether;
    for (std::size_t k = 0; k < kPiecesTogether; ++k) free_.push_back(slab + k * kPinnedPiece);
  }

  std::mutex mutex_;
  std::size_t pieces_ = 0;
  std::vector<void*> free_;
};

PinnedPieces& pinned_pieces() {
  static PinnedPieces& pieces = *new PinnedPieces;  // outlives all owners, whenever they go
  return pieces;
}

}  // namespace

int current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "asking for the current device");
  return device;
}

Closing::~Closing() {
  if (!begun_) return;
  quiet_device() = quiet_before_;
  leave_device(previous_);
}

void Closing::begin() noexcept {
  begun_ = true;
  previous_ = enter_device(device_);
  quiet_before_ = quiet_device();
  const RelaxedCapture relaxed;
  if (cudaDeviceSynchronize() == cudaSuccess) {
    quiet_device() = device_;
  } else {
    static_cast<void>(cudaGetLastError());
  }
}

void* allocate_device(std::size_t bytes, cudaStream_t stream) {
  void* pointer = nullptr;
  cudaMemPool_t pool = pool_of_current_device();
  const cudaError_t error = is_capturing(stream) ? allocate_outside_of_capture(&pointer, bytes, pool)
                            : pool               ? cudaMallocFromPoolAsync(&pointer, bytes, pool, stream)
                                                 : cudaMalloc(&pointer, bytes);
  if (error == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    throw_out_of_memory("device memory", bytes);
  }
  check(error, "allocating device memory");
  return pointer;
}

std::uint64_t most_device_bytes() {
  cudaMemPool_t pool = pool_of_current_device();
  if (!pool) return 0;
  check(cudaDeviceSynchronize(), "waiting for the device");
  std::uint64_t most = 0;
  check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most), "asking a memory pool");
  std::uint64_t anew = 0;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &anew), "asking a memory pool");
  return most;
}

void free_device(void* pointer, cudaStream_t stream) noexcept {
  if (!pointer) return;
  if (cudaFreeAsync(pointer, stream) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    static_cast<void>(cudaFree(pointer));  // not from a pool
  }
}

void free_device_synchronous(void* pointer, int device) noexcept {
  if (!pointer) return;
  const int before = enter_device(device);
  const RelaxedCapture relaxed;
  if (quiet_device() != device && cudaDeviceSynchronize() != cudaSuccess) {
    static_cast<void>(cudaGetLastError());  // somebody may still read it: it stays
  } else if (cudaFree(pointer) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
  }
  leave_device(before);
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

void* take_pinned_piece() { return pinned_pieces().take(); }

void return_pinned_piece(void* piece) noexcept {
  if (piece) pinned_pieces().give_back(piece);
}

}  // namespace taskdag::cuda

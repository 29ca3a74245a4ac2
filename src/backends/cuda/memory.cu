#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/cuda/device.hpp"
#include "backends/cuda/memory.hpp"
#include "backends/cuda/pool_use.hpp"
#include "backends/cuda/stream.hpp"

namespace taskdag::cuda {
namespace {

// Freed memory up to this size stays in the pool for good; the rest goes back to the device, where the application and
// other processes need it: 8 ranks that share a device keep 512 MiB together.
constexpr std::uint64_t kPoolKeeps = std::uint64_t{64} << 20;
// And so much while something is set up.
constexpr std::uint64_t kSetUpKeeps = UINT64_MAX;

/// What the library has taken on a device. Made once per device and never destroyed: it must outlive every object of an
/// application that tears down in any order.
///
/// The first array that a process takes of any pool makes the driver wait 9 to 14 ms (H100, driver 580), as long as a
/// hundred small arrays take by cudaMalloc() and back; later ones of the pool take a tenth of those. So the pool is
/// opened when as many arrays were asked for as a factorisation of many rows needs: a small set-up, and Jacobi's, do
/// without.
class DeviceMemory {
 public:
  /// Whether the next array, of `bytes`, is to be of the pool. @returns it, or null: of cudaMalloc()
  cudaMemPool_t pool_for(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (!opened_) asked_for_ += bytes < kLargeArray ? 1 : kLargeCounts;
    if (!opened_ && asked_for_ > kArraysBeforePool) open();
    return pool_;
  }
  void note(void* pointer, std::size_t bytes, bool of_pool) {
    const std::lock_guard lock(mutex_);
    taken_.emplace(pointer, Taken{bytes, of_pool});
    in_use_ += bytes;
    most_ = std::max(most_, in_use_);
  }
  /// @returns whether the array was of the pool
  bool forget(void* pointer) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = taken_.find(pointer);
    if (found == taken_.end()) return false;
    const Taken taken = found->second;
    in_use_ -= taken.bytes;
    taken_.erase(found);
    return taken.of_pool;
  }
  /// The most bytes that were in use at once since the last call.
  std::uint64_t take_most() {
    const std::lock_guard lock(mutex_);
    return std::exchange(most_, in_use_);
  }
  DeviceBytes bytes() {
    const std::lock_guard lock(mutex_);
    return {static_cast<std::int64_t>(in_use_), static_cast<std::int64_t>(most_)};
  }
  /// Null where it is not opened.
  cudaMemPool_t pool() {
    const std::lock_guard lock(mutex_);
    return pool_;
  }
  void begin_set_up() noexcept {
    const std::lock_guard lock(mutex_);
    if (set_ups_++ == 0) keep(kSetUpKeeps);
  }
  void end_set_up() noexcept {
    const std::lock_guard lock(mutex_);
    if (--set_ups_ > 0 || !keep(kPoolKeeps)) return;
    if (cudaMemPoolTrimTo(pool_, kPoolKeeps) != cudaSuccess) static_cast<void>(cudaGetLastError());
  }

 private:
  struct Taken {
    std::size_t bytes;
    bool of_pool;
  };
  static constexpr std::size_t kLargeArray = std::size_t{1} << 20;
  static constexpr int kArraysBeforePool = 512;
  static constexpr int kLargeCounts = 64;  ///< one takes ten times as long by cudaMalloc(), and many follow

  void open() {
    opened_ = true;
    const int device = current_device();
    int supported = 0;
    check(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device), "asking for memory pools");
    if (!supported) return;
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    check(cudaMemPoolCreate(&pool_, &properties), "creating a memory pool");
    keep(set_ups_ > 0 ? kSetUpKeeps : kPoolKeeps);
  }
  /// @returns whether the pool now keeps so much
  bool keep(std::uint64_t bytes) noexcept {
    if (pool_ == nullptr) return false;
    if (cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &bytes) == cudaSuccess) return true;
    static_cast<void>(cudaGetLastError());  // only time is lost
    return false;
  }

  std::mutex mutex_;
  int asked_for_ = 0;
  bool opened_ = false;
  int set_ups_ = 0;               ///< PoolKeeps at work
  cudaMemPool_t pool_ = nullptr;  ///< null: not opened, or the device cannot have one
  std::unordered_map<void*, Taken> taken_;
  std::uint64_t in_use_ = 0;
  std::uint64_t most_ = 0;
};

DeviceMemory& memory_of(int device) {
  static std::mutex mutex;
  static auto& all = *new std::map<int, DeviceMemory>;
  const std::lock_guard lock(mutex);
  return all[device];
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
  const UniqueStream side;
  const cudaError_t error = cudaMallocFromPoolAsync(pointer, bytes, pool, side.get());
  return error == cudaSuccess ? cudaStreamSynchronize(side.get()) : error;
}

cudaError_t allocate(void** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  if (pool && is_capturing(stream)) return allocate_outside_of_capture(pointer, bytes, pool);
  if (pool) return cudaMallocFromPoolAsync(pointer, bytes, pool, stream);
  const RelaxedCapture relaxed;
  return cudaMalloc(pointer, bytes);
}

/// Waits for all work on the device. Memory of a pool can be given back so, too.
void free_now(void* pointer) noexcept {
  const RelaxedCapture relaxed;
  if (cudaFree(pointer) != cudaSuccess) static_cast<void>(cudaGetLastError());
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
  DeviceMemory& memory = memory_of(current_device());
  cudaMemPool_t pool = memory.pool_for(bytes);
  const cudaError_t error = allocate(&pointer, bytes, pool, stream);
  if (error == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    throw_out_of_memory("device memory", bytes);
  }
  check(error, "allocating device memory");
  try {
    memory.note(pointer, bytes, pool != nullptr);
  } catch (...) {
    free_now(pointer);
    throw;
  }
  return pointer;
}

std::uint64_t most_device_bytes() { return memory_of(current_device()).take_most(); }

DeviceBytes device_bytes() { return memory_of(current_device()).bytes(); }

std::int64_t reserved_device_bytes() {
  cudaMemPool_t pool = memory_of(current_device()).pool();
  if (pool == nullptr) return 0;
  check(cudaDeviceSynchronize(), "waiting for the device");
  std::uint64_t reserved = 0;
  check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved), "asking a memory pool");
  return static_cast<std::int64_t>(reserved);
}

PoolKeeps::PoolKeeps() : device_(current_device()) { memory_of(device_).begin_set_up(); }

PoolKeeps::~PoolKeeps() {
  const RelaxedCapture relaxed;
  memory_of(device_).end_set_up();
}

void free_device(void* pointer, cudaStream_t stream) noexcept {
  if (!pointer) return;
  int device = -1;
  static_cast<void>(cudaGetDevice(&device));
  if (!memory_of(device).forget(pointer)) return free_now(pointer);
  if (cudaFreeAsync(pointer, stream) != cudaSuccess) static_cast<void>(cudaGetLastError());
}

void free_device_synchronous(void* pointer, int device) noexcept {
  if (!pointer) return;
  const int before = enter_device(device);
  const RelaxedCapture relaxed;
  static_cast<void>(memory_of(device).forget(pointer));
  if (quiet_device() != device && cudaDeviceSynchronize() != cudaSuccess) {
    static_cast<void>(cudaGetLastError());  // a kernel may still read it: it stays
  } else {
    free_now(pointer);
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

#include <chrono>
#include <cuda/atomic>
#include <thread>

#include "backends/cuda/check.hpp"
#include "backends/cuda/device.hpp"
#include "backends/cuda/stream.hpp"
#include "fault/kernels.hpp"

namespace taskdag::test {
namespace {

__global__ void trap_kernel() { asm volatile("trap;"); }

/// In host memory that the device sees.
struct Signals {
  int started;
  int ended;
  int release;
};

__device__ std::uint64_t nanoseconds() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void hog_kernel(Signals* signals, std::uint64_t most_ns) {
  using Signal = ::cuda::atomic_ref<int, ::cuda::thread_scope_system>;
  const std::uint64_t begin = nanoseconds();
  if (threadIdx.x == 0) Signal(signals->started).fetch_add(1);
  while (Signal(signals->release).load(::cuda::memory_order_relaxed) == 0) {
    if (nanoseconds() - begin > most_ns) break;
    __nanosleep(1000);
  }
  __syncthreads();
  if (threadIdx.x == 0) Signal(signals->ended).fetch_add(1);
}

}  // namespace

void launch_trap(cudaStream_t stream) { trap_kernel<<<1, 1, 0, stream>>>(); }

struct Hog::Resources {
  cuda::UniqueStream stream;
  Signals* host = nullptr;
  Signals* device = nullptr;
};

Hog::Hog() : resources_(std::make_unique<Resources>()) {
  Resources& r = *resources_;
  void* memory = nullptr;
  cuda::check(cudaHostAlloc(&memory, sizeof(Signals), cudaHostAllocMapped), "taking mapped memory");
  r.host = static_cast<Signals*>(memory);
  *r.host = {};
  void* seen = nullptr;
  cuda::check(cudaHostGetDevicePointer(&seen, memory, 0), "asking for the device's address");
  r.device = static_cast<Signals*>(seen);
  const cuda::DeviceLimits& limits = cuda::device_limits();
  // Blocks as large as they can be: what is left is room for a block of any size.
  const int threads = limits.threads_per_multiprocessor % 1024 == 0 ? 1024 : 512;
  const int blocks = (limits.multiprocessors - 1) * (limits.threads_per_multiprocessor / threads);
  if (blocks == 0) return;
  hog_kernel<<<blocks, threads, 0, r.stream.get()>>>(r.device, static_cast<std::uint64_t>(kSeconds * 1e9));
  cuda::check_launch("hog_kernel");
  const auto begin = std::chrono::steady_clock::now();
  while (*static_cast<volatile int*>(&r.host->started) < blocks) {
    if (std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(500)) break;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

bool Hog::release() {
  Resources& r = *resources_;
  const bool runs = *static_cast<volatile int*>(&r.host->ended) == 0;
  *static_cast<volatile int*>(&r.host->release) = 1;
  cuda::check(cudaStreamSynchronize(r.stream.get()), "waiting for the hog");
  return runs;
}

Hog::~Hog() {
  *static_cast<volatile int*>(&resources_->host->release) = 1;
  static_cast<void>(cudaStreamSynchronize(resources_->stream.get()));
  static_cast<void>(cudaFreeHost(resources_->host));
}

}  // namespace taskdag::test

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/seam.cuh"
#include "hop.hpp"
#include "timing.hpp"

namespace taskdag::benchmark {
namespace {

constexpr Index kHops = 4096;
// A block takes more than half of a multiprocessor's shared memory, so that the two blocks are on two of them.
constexpr int kSharedBytes = 160 * 1024;

__global__ void clear(cuda::Slots slots) {
  const auto i = static_cast<Index>(cuda::element());
  if (i < kHops) slots.slot[i] = not_yet();
}

__global__ void ping_pong(cuda::Slots slots) {
  for (auto i = static_cast<Index>(blockIdx.x); i < kHops; i += 2) {
    slots.publish(i, i == 0 ? 0.0 : slots.wait(i - 1) + 1.0);
  }
}

}  // namespace

double measure_hop() {
  const cuda::DeviceArray<double> memory(kHops, nullptr);
  const cuda::Slots slots{memory.data()};
  int device = 0;
  int most = 0;
  cuda::check(cudaGetDevice(&device), "current device");
  cuda::check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "shared memory");
  const int bytes = most < kSharedBytes ? most : kSharedBytes;
  cuda::check(cudaFuncSetAttribute(ping_pong, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "shared memory");
  const Timing time = time_on_device(
      {},
      [&] {
        ping_pong<<<2, 1, static_cast<std::size_t>(bytes)>>>(slots);
        cuda::check_launch("ping_pong");
      },
      [&] {
        clear<<<cuda::element_blocks(kHops), cuda::kElementBlock>>>(slots);
        cuda::check_launch("clear");
      });
  return time.median / kHops;
}

}  // namespace taskdag::benchmark

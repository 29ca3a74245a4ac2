#include <algorithm>
#include <chrono>
#include <cstddef>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "backends/cuda/launch_graph.hpp"
#include "backends/cuda/measure_times.hpp"
#include "backends/cuda/memory.hpp"
#include "backends/cuda/seam.cuh"
#include "backends/cuda/stream.hpp"
#include "taskdag/error.hpp"

namespace taskdag::cuda {
namespace {

constexpr int kLaunches = 512;
constexpr Index kHops = 8192;
constexpr int kSteps = 16384;

__global__ void do_nothing(int /*number*/) {}

__global__ void empty_slots(Slots slots) {
  const auto i = static_cast<Index>(element());
  if (i < kHops) slots.slot[i] = not_yet();
}

/// Blocks of a thread each hand a number around. One that has waited for a tenth of a second or so, because not all
/// blocks run, says so and ends, and so do those that wait for it.
__global__ void hand_around(Slots slots, int* lost) {
  constexpr int kMostLooks = 1 << 18;
  for (auto i = static_cast<Index>(blockIdx.x); i < kHops; i += static_cast<Index>(gridDim.x)) {
    double value = i > 0 ? slots.peek(i - 1) : 0.0;
    for (int looks = 0; !is_ready(value); ++looks) {
      if (looks == kMostLooks) {
        *lost = 1;
        return;
      }
      value = slots.peek(i - 1);
    }
    slots.publish(i, value + 1.0);
  }
}

/// One warp. Each lane's step takes what its neighbour has left in shared memory by the step before.
__global__ void go_steps(double* result) {
  __shared__ volatile double values[2][kWarpSize];
  const int lane = static_cast<int>(threadIdx.x);
  const int neighbour = (lane + 1) % kWarpSize;
  double value = lane;
  for (int step = 0; step < kSteps; ++step) {
    values[step % 2][lane] = value;
    __syncwarp();
    value = 1.0 + 0.5 * values[step % 2][neighbour];
  }
  result[lane] = value;
}

/// Until the clocks are those of a device at work.
template <class Work>
void warm_up(const Work& work, cudaStream_t stream) {
  constexpr std::chrono::milliseconds kWhile{100};
  const auto end = std::chrono::steady_clock::now() + kWhile;
  while (std::chrono::steady_clock::now() < end) {
    work();
    synchronize(stream);
  }
}

/// Copies what no cache holds, and warms the device up by that.
double time_of_megabyte(cudaStream_t stream) {
  constexpr double kCaches = 6.0;
  constexpr double kShareOfFree = 0.25;
  constexpr double kLeast = 1e6;
  const double bytes =
      std::max(kLeast, std::min(kCaches * device_limits().cache_bytes, kShareOfFree * free_memory_of_device(-1)));
  const auto size = static_cast<std::size_t>(bytes);
  const ScratchArray<char> from(size, stream);
  const ScratchArray<char> to(size, stream);
  check(cudaMemsetAsync(from.data(), 0, size, stream), "clearing memory");
  const auto copy = [&] { copy_on_device(to.data(), from.data(), size, stream); };
  warm_up(copy, stream);
  constexpr double kMegabyte = 1e6;
  return time_of(copy, stream) / (2.0 * bytes / kMegabyte);
}

double time_of_step(cudaStream_t stream) {
  const ScratchArray<double> result(kWarpSize, stream);
  const auto steps = [&] {
    go_steps<<<1, kWarpSize, 0, stream>>>(result.data());
    check_launch("go_steps");
  };
  return time_of(steps, stream) / kSteps;
}

/// Each block has a multiprocessor of its own, since it takes all shared memory that a block can have.
double time_of_hop(cudaStream_t stream) {
  const ScratchArray<double> memory(kHops, stream);
  const ScratchArray<int> lost(1, stream);
  const Slots slots{memory.data()};
  check(cudaMemsetAsync(lost.data(), 0, sizeof(int), stream), "clearing a flag");
  check(cudaFuncSetAttribute(hand_around, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             device_limits().shared_bytes_per_block),
        "asking for shared memory");
  const auto hops = [&] {
    empty_slots<<<element_blocks(kHops), kElementBlock, 0, stream>>>(slots);
    check_launch("empty_slots");
    hand_around<<<device_limits().multiprocessors, 1, most_shared_bytes(), stream>>>(slots, lost.data());
    check_launch("hand_around");
  };
  const double microseconds = time_of(hops, stream);
  if (fetch(lost.data(), stream) != 0)
    throw DeviceError("the device cannot be calibrated: other work keeps blocks of one launch from running together");
  return microseconds / kHops;
}

double time_of_launch(cudaStream_t stream) {
  const auto launches = [](cudaStream_t captured) {
    for (int k = 0; k < kLaunches; ++k) {
      do_nothing<<<1, 1, 0, captured>>>(k);
      check_launch("do_nothing");
    }
  };
  const LaunchGraph<int> graph(launches, [](int number) { return number; });
  return time_of([&] { graph.launch(stream); }, stream) / kLaunches;
}

}  // namespace

rates::DeviceTimes measure_times() {
  const UniqueStream stream;
  rates::DeviceTimes times;
  times.megabyte = time_of_megabyte(stream.get());
  times.step = time_of_step(stream.get());
  times.hop = time_of_hop(stream.get());
  times.launch = time_of_launch(stream.get());
  return times;
}

}  // namespace taskdag::cuda

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "backends/cuda/device.hpp"
#include "backends/cuda/stream.hpp"
#include "papers/helal/coarse_kernel.cuh"
#include "papers/helal/granularity.hpp"

namespace taskdag::kernels {
namespace {

struct NoWork {
  template <bool Tracked>
  __device__ void run(Index, int) const {}
};

double measure_launch(RunMode mode, cudaStream_t stream) {
  constexpr Index kTasks = 256;
  CoarseDag chain;
  std::vector<Index> order;
  std::vector<RowTask> task;
  std::vector<Index> first{0};
  for (Index t = 0; t < kTasks; ++t) {
    order.push_back(t);
    task.push_back({t, 1, 0});
    first.push_back(t + 1);
    chain.tracked.push_back(0);
    if (t > 0) chain.predecessors.push_back(t - 1);
    chain.predecessor_offsets.push_back(static_cast<std::int64_t>(chain.predecessors.size()));
  }
  chain.first = first;
  const DeviceTasks tasks(chain, {cuda::upload(order, stream), cuda::upload(task, stream), cuda::upload(first, stream)},
                          stream);
  const auto launcher = make_launcher(mode, kernels_of(NoWork{}), chain, tasks);
  return cuda::time_of([&] { launcher->run(stream); }, stream) / kTasks;
}

}  // namespace

Index smallest_granularity(const void* kernel, double rows_per_warp) {
  int blocks = 0;
  cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kCoarseBlock, 0),
              "asking for the occupancy of a kernel");
  const double warps = static_cast<double>(cuda::device_limits().multiprocessors) * blocks * kCoarseWarps;
  return std::max(1, static_cast<Index>(warps * rows_per_warp));
}

double launch_microseconds(RunMode mode, cudaStream_t stream) {
  static std::mutex mutex;
  static std::map<std::pair<int, RunMode>, double> known;
  const std::lock_guard lock(mutex);
  const std::pair key(cuda::device_limits().device, mode);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(key, measure_launch(mode, stream)).first->second;
}

}  // namespace taskdag::kernels

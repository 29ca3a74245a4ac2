#include <algorithm>
#include <array>
#include <utility>

#include "backends/cuda/cooperative.hpp"
#include "backends/cuda/device.hpp"
#include "papers/helal/launcher.hpp"
#include "papers/helal/launches.hpp"

namespace taskdag::kernels {
namespace {

/// One cooperative kernel: no more blocks than are resident together, and no more than the widest task can use.
class BarrierLauncher final : public CoarseLauncher {
 public:
  BarrierLauncher(const KernelSet& kernels, const DeviceTasks& tasks)
      : kernels_(kernels), first_(tasks.rows.first.data()), tasks_(static_cast<Index>(tasks.range.size())) {
    int resident = 0;
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernels_.barrier, kCoarseBlock, 0),
                "asking for the occupancy of a kernel");
    const auto most = static_cast<unsigned>(resident * cuda::device_limits().multiprocessors);
    blocks_ = std::min(most, row_task_blocks(tasks.widest));
  }
  void run(cudaStream_t stream) override {
    std::array<void*, 3> arguments{kernels_.body.data(), &first_, &tasks_};
    cuda::launch_cooperative(kernels_.barrier, blocks_, kCoarseBlock, arguments.data(), 0, stream,
                             "launching a kernel with barriers");
  }

 private:
  KernelSet kernels_;
  const Index* first_;
  Index tasks_;
  unsigned blocks_ = 0;
};

class NothingToRun final : public CoarseLauncher {
 public:
  void run(cudaStream_t) override {}
};

}  // namespace

DeviceTasks::DeviceTasks(const CoarseDag& coarse, SetOrder row_tasks, cudaStream_t stream)
    : rows(std::move(row_tasks)), range(coarse.tracked.size()) {
  const bool any_tracked = std::any_of(coarse.tracked.begin(), coarse.tracked.end(), [](char t) { return t; });
  if (any_tracked) ticket = {coarse.tracked.size(), stream};
  const std::vector<Index> first = cuda::fetch_array(rows.first.data(), rows.first.size(), stream);
  for (std::size_t t = 0; t < range.size(); ++t) {
    range[t] = {first[t], first[t + 1] - first[t], any_tracked ? ticket.data() + t : nullptr};
    widest = std::max(widest, range[t].count);
  }
}

std::unique_ptr<CoarseLauncher> make_launcher(RunMode mode, const KernelSet& kernels, const CoarseDag& coarse,
                                              const DeviceTasks& tasks) {
  if (coarse.tasks() == 0) return std::make_unique<NothingToRun>();
  switch (mode) {
    case RunMode::graph:
      return make_graph_launcher(Launches(kernels, coarse, tasks), coarse);
    case RunMode::streams:
      return make_stream_launcher(Launches(kernels, coarse, tasks), coarse);
    case RunMode::barrier:
      break;
  }
  return std::make_unique<BarrierLauncher>(kernels, tasks);
}

void run_unmanaged(const KernelSet& kernels, const DeviceTasks& tasks, cudaStream_t stream) {
  const auto row_tasks = static_cast<Index>(tasks.rows.task.size());
  if (row_tasks == 0) return;
  std::vector<std::byte> body = kernels.body;
  CoarseRange range{0, row_tasks, nullptr};
  std::array<void*, 2> arguments{body.data(), &range};
  cuda::check(cudaLaunchKernel(kernels.untracked, {row_task_blocks(row_tasks), 1, 1}, {kCoarseBlock, 1, 1},
                               arguments.data(), 0, stream),
              "launching without dependencies");
}

}  // namespace taskdag::kernels

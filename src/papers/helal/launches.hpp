/// \file
/// The kernel and the launch parameters of each adaptive task, and the launchers that are made from them.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "papers/helal/launcher.hpp"

namespace taskdag::kernels {

/// Blocks for that many row tasks.
inline unsigned row_task_blocks(Index row_tasks) { return static_cast<unsigned>((row_tasks - 1) / kCoarseWarps + 1); }

/// Owns what the launches refer to; moving it moves that along, so pointers are taken anew each time.
class Launches {
 public:
  Launches(const KernelSet& kernels, const CoarseDag& coarse, const DeviceTasks& tasks)
      : kernels_(kernels), tracked_(coarse.tracked), range_(tasks.range) {}

  [[nodiscard]] Index size() const { return static_cast<Index>(range_.size()); }
  [[nodiscard]] const void* kernel(Index t) const {
    return tracked_[static_cast<std::size_t>(t)] ? kernels_.tracked : kernels_.untracked;
  }
  [[nodiscard]] dim3 blocks(Index t) const {
    return {row_task_blocks(range_[static_cast<std::size_t>(t)].count), 1, 1};
  }
  /// Valid as long as this object stays where it is.
  [[nodiscard]] std::array<void*, 2> parameters(Index t) {
    return {kernels_.body.data(), &range_[static_cast<std::size_t>(t)]};
  }

  void launch(Index t, cudaStream_t stream) {
    auto arguments = parameters(t);
    cuda::check(cudaLaunchKernel(kernel(t), blocks(t), {kCoarseBlock, 1, 1}, arguments.data(), 0, stream),
                "launching an adaptive task");
  }

 private:
  KernelSet kernels_;
  std::vector<char> tracked_;
  std::vector<CoarseRange> range_;
};

std::unique_ptr<CoarseLauncher> make_graph_launcher(Launches launches, const CoarseDag& coarse);
std::unique_ptr<CoarseLauncher> make_stream_launcher(Launches launches, const CoarseDag& coarse);

}  // namespace taskdag::kernels

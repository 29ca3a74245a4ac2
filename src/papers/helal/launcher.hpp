/// \file
/// Runs the adaptive tasks of a coarse DAG on CUDA: one kernel a task, ordered by a CUDA graph or by streams and
/// events, or all tasks in one kernel with grid-wide barriers. What a row does is the body's (coarse_kernel.cuh).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "backends/cuda/memory.hpp"
#include "papers/helal/aggregation.hpp"

namespace taskdag::kernels {

/// Threads of a block of all these kernels; a warp runs one row task.
inline constexpr int kCoarseBlock = 128;
inline constexpr int kCoarseWarps = kCoarseBlock / 32;

/// Row tasks [first, first + count) of one kernel. ticket: hands out its blocks' numbers; 0 before each run.
struct CoarseRange {
  Index first;
  Index count;
  int* ticket;
};

/// The kernels of a body, and the body itself as its bytes. Made by kernels_of() in coarse_kernel.cuh.
struct KernelSet {
  const void* tracked = nullptr;    ///< waits for operands
  const void* untracked = nullptr;  ///< takes them as they are
  const void* barrier = nullptr;    ///< all tasks, a barrier after each
  std::vector<std::byte> body;
};

/// Device memory of the tasks.
struct DeviceTasks {
  /// Synchronises `stream`.
  DeviceTasks(const CoarseDag& coarse, SetOrder row_tasks, cudaStream_t stream);
  SetOrder rows;
  cuda::DeviceArray<int> ticket;   ///< by adaptive task; empty if none is tracked
  std::vector<CoarseRange> range;  ///< by adaptive task, host memory
  Index widest = 0;                ///< most row tasks of an adaptive task
  [[nodiscard]] std::int64_t bytes() const {
    return rows.order.bytes() + rows.task.bytes() + rows.first.bytes() + ticket.bytes();
  }
};

/// Runs all tasks of a DAG.
class CoarseLauncher {
 public:
  CoarseLauncher() = default;
  virtual ~CoarseLauncher() = default;
  CoarseLauncher(const CoarseLauncher&) = delete;
  CoarseLauncher& operator=(const CoarseLauncher&) = delete;
  /// Asynchronous. @pre all tickets are 0
  virtual void run(cudaStream_t stream) = 0;
};

enum class RunMode {
  graph,    ///< kernel nodes with edges
  streams,  ///< launches in the caller's stream and up to three others
  barrier,  ///< one cooperative kernel; the DAG must have no tracked task
};

/// The pointers in kernels.body and those of `tasks` must stay valid as long as the launcher is used.
std::unique_ptr<CoarseLauncher> make_launcher(RunMode mode, const KernelSet& kernels, const CoarseDag& coarse,
                                              const DeviceTasks& tasks);

/// All row tasks in one launch of the untracked kernel. Asynchronous.
void run_unmanaged(const KernelSet& kernels, const DeviceTasks& tasks, cudaStream_t stream);

}  // namespace taskdag::kernels

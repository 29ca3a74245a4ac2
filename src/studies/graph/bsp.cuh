/// \file
/// Bulk synchronous iterations on CUDA: a frontier in, a frontier out, until it is empty. Either the host launches each
/// iteration for as many items as the frontier has and waits for its end, or a CUDA graph repeats it.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/cuda/memory.hpp"
#include "backends/cuda/stream.hpp"
#include "studies/graph/algorithm.hpp"
#include "studies/graph/tally_memory.hpp"
#include "taskdag/engine/cuda/graph.cuh"
#include "taskdag/error.hpp"

namespace taskdag::graph {

inline constexpr int kBspBlock = 256;

/// In device memory. Iteration i reads frontier[i % 2] of count[i % 3] items and writes the other one.
///
/// | what      | written by                                      | read by                         |
/// |-----------|-------------------------------------------------|---------------------------------|
/// | count     | any thread: room in the new frontier (atomic)   | threads of the next iteration   |
/// | done      | each block as it ends (atomic)                  | the last block                  |
/// | iteration | the last block                                  | threads of the next iteration   |
struct BspState {
  Index count[3];
  int iteration;
  unsigned done;
};

/// What ends an iteration.
struct BspEnd {
  BspState* state = nullptr;
  Index* view = nullptr;  ///< pinned: the new count, for the host; null in a graph
  cudaGraphConditionalHandle go_on{};
};

/// Room for `items` items of the calling lane in the new frontier: where the first goes. Lanes that ask at the same
/// time share an atomic operation.
__device__ inline Index take_room(BspState& state, int iteration, int items) {
  const unsigned mask = __activemask();
  const int lane = static_cast<int>(threadIdx.x % 32U);
  const unsigned single = __ballot_sync(mask, items == 1);
  Index* const count = &state.count[(iteration + 1) % 3];
  if (items != 1) return atomicAdd(count, items);
  const int leader = __ffs(static_cast<int>(single)) - 1;
  Index first = 0;
  if (lane == leader) first = atomicAdd(count, __popc(single));
  first = __shfl_sync(single, first, leader);
  return first + __popc(single & ((1U << lane) - 1U));
}

/// By all threads of all blocks, at the end of the iteration's last kernel.
__device__ inline void bsp_finish(const BspEnd& end, int iteration) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  BspState& state = *end.state;
  if (atomicAdd(&state.done, 1U) != gridDim.x - 1U) return;
  __threadfence();
  const Index next = atomicAdd(&state.count[(iteration + 1) % 3], 0);
  state.count[(iteration + 2) % 3] = 0;
  state.iteration = iteration + 1;
  state.done = 0;
  if (end.view != nullptr) {
    *end.view = next;
  } else {
    cudaGraphSetConditional(end.go_on, next > 0 ? 1U : 0U);
  }
}

/// Adds a thread's number to `total`, a word in shared memory that was zero before; by all threads of a block.
__device__ inline void bsp_add(unsigned& total, unsigned amount) {
  amount = __reduce_add_sync(0xFFFFFFFFU, amount);
  if (threadIdx.x % 32U == 0 && amount != 0) atomicAdd(&total, amount);
}

/// Adds the numbers of all threads of a block to the tally; `total` as in bsp_add().
__device__ inline void bsp_tally(const TallyRef& tally, unsigned& total, unsigned amount) {
  bsp_add(total, amount);
  __syncthreads();
  if (threadIdx.x == 0) tally.add(total);
}

/// What a kernel with blocks of kBspBlock threads costs. One launch an iteration.
inline engine::KernelInfo bsp_kernel(const void* kernel, const char* name) {
  cudaFuncAttributes attributes{};
  cuda::check(cudaFuncGetAttributes(&attributes, kernel), "looking up a kernel");
  engine::KernelInfo info;
  info.name = name;
  info.registers = attributes.numRegs;
  info.local_bytes = static_cast<int>(attributes.localSizeBytes);
  info.shared_bytes = static_cast<int>(attributes.sharedSizeBytes);
  info.threads = kBspBlock;
  cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&info.blocks_per_sm, kernel, kBspBlock, 0),
              "looking up how many blocks fit");
  return info;
}

/// Repeats an iteration until it leaves an empty frontier.
///
/// launch(stream, end, items) starts the kernels of one iteration; items: of its frontier, or −1 where that is not
/// known.
class BspLoop {
 public:
  using Launch = std::function<void(cudaStream_t, const BspEnd&, Index)>;

  BspLoop(Kind kind, Launch launch) : kind_(kind), launch_(std::move(launch)), state_(1, nullptr), view_(1) {
    if (kind == Kind::bsp_graph) build();
  }
  BspLoop(const BspLoop&) = delete;
  BspLoop& operator=(const BspLoop&) = delete;
  ~BspLoop() {
    if (instance_) static_cast<void>(cudaGraphExecDestroy(instance_));
    if (graph_) static_cast<void>(cudaGraphDestroy(graph_));
  }

  /// Kernels of an iteration, for the report.
  void name_kernels(std::vector<engine::KernelInfo> kernels) { kernels_ = std::move(kernels); }

  /// `items`: of the first frontier. `tally` is cleared and `ref` made of it, which the launches hand to their kernels.
  Run run(Index items, TallyMemory& tally, TallyRef& ref, std::uint32_t bin_ns) {
    ref = tally.clear(bin_ns);
    Run run;
    repeat(items, run);
    tally.read(run, bin_ns);
    run.report.kernels = kernels_;
    for (engine::KernelInfo& kernel : run.report.kernels) kernel.launches = run.iterations;
    return run;
  }

 private:
  /// Sets seconds and iterations.
  void repeat(Index items, Run& run) {
    BspState state{};
    state.count[0] = items;
    cuda::copy_to_device(state_.data(), &state, 1, stream_.get());
    cuda::synchronize(stream_.get());
    const auto start = std::chrono::steady_clock::now();
    if (instance_ != nullptr) {
      cuda::check(cudaGraphLaunch(instance_, stream_.get()), "launching a graph");
      cuda::synchronize(stream_.get());
    } else {
      const int ahead = kind_ == Kind::bsp_ahead ? kAhead : 1;
      while (items > 0) {
        for (int k = 0; k < ahead; ++k) {  // after the last one, iterations find an empty frontier
          launch_(stream_.get(), BspEnd{state_.data(), view_.data(), {}}, k == 0 ? items : -1);
        }
        cuda::synchronize(stream_.get());
        items = *static_cast<volatile Index*>(view_.data());
      }
    }
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    run.iterations = static_cast<std::uint64_t>(cuda::fetch(state_.data(), stream_.get()).iteration);
  }

  void build() {
    cuda::check(cudaGraphCreate(&graph_, 0), "creating a graph");
    cudaGraphConditionalHandle handle{};
    cuda::check(cudaGraphConditionalHandleCreate(&handle, graph_, 1, cudaGraphCondAssignDefault),
                "a graph's condition");
    cudaGraph_t body = engine::detail::add_loop(graph_, nullptr, handle);
    cuda::check(
        cudaStreamBeginCaptureToGraph(stream_.get(), body, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal),
        "recording a graph");
    launch_(stream_.get(), BspEnd{state_.data(), nullptr, handle}, -1);
    cuda::check(cudaStreamEndCapture(stream_.get(), &body), "recording a graph");
    cuda::check(cudaGraphInstantiate(&instance_, graph_, 0), "instantiating a graph");
  }

  static constexpr int kAhead = 16;

  Kind kind_;
  Launch launch_;
  cuda::UniqueStream stream_;
  cuda::DeviceArray<BspState> state_;
  cuda::PinnedArray<Index> view_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t instance_ = nullptr;
  std::vector<engine::KernelInfo> kernels_;
};

inline constexpr int kBspMostBlocks = 8 * 132;  ///< what an H200 runs at once; more work is looped over

/// Calls launch(std::integral_constant<int, lanes>) for 4, 8, 16 or 32 lanes.
template <class Launch>
void bsp_with_lanes(int lanes, const Launch& launch) {
  if (lanes == 4) launch(std::integral_constant<int, 4>());
  if (lanes == 8) launch(std::integral_constant<int, 8>());
  if (lanes == 16) launch(std::integral_constant<int, 16>());
  if (lanes == 32) launch(std::integral_constant<int, 32>());
}

/// Lanes for a row: as many as the average row keeps busy.
inline int bsp_lanes(const CsrPattern& graph) {
  const Offset average = graph.rows == 0 ? 0 : graph.entries() / graph.rows;
  int lanes = 4;
  while (lanes < 32 && 2 * lanes <= average) lanes *= 2;
  return lanes;
}

/// Blocks for `items` times `lanes` threads, at most as many as `most`.
inline unsigned bsp_blocks(std::int64_t items, int lanes, std::int64_t most) {
  const std::int64_t blocks = (items * lanes + kBspBlock - 1) / kBspBlock;
  return static_cast<unsigned>(blocks < 1 ? 1 : (blocks > most ? most : blocks));
}

}  // namespace taskdag::graph

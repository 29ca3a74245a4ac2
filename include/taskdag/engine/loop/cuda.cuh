/// \file
/// Stages of a loop on a GPU: a launch each, on a stream or captured from it, or all of them in one kernel of one
/// thread block or a cluster of blocks.
///
/// The order of additions is the same in all of these. A *tile* is what 256 threads do of a stage: where it has several
/// tasks for each of them, all tiles go through the tasks side by side, so that what neighbouring tasks read is in the
/// cache together. A thread adds up its tasks of the tile, a warp its threads by a tree, the tile its warps in their
/// order, and 256 threads the tiles: thread t those with numbers t, t + 256, …, then they do as the threads of a tile.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "taskdag/engine/cuda/check.cuh"
#include "taskdag/engine/cuda/graph.cuh"
#include "taskdag/engine/cuda/owners.cuh"
#include "taskdag/engine/loop/ranks.hpp"
#include "taskdag/engine/loop/stage.hpp"
#include "taskdag/engine/loop/trace.cuh"

TASKDAG_ENGINE_BEGIN

/// What stages need beside their own data, in device memory.
struct LoopScratch {
  static constexpr std::uint32_t most_arrivals = 64;  ///< that a stage with slices counts; others count in one

  double* tiles = nullptr;            ///< sums of tiles: of a stage its tiles · sums, in all its slices
  std::uint32_t* arrivals = nullptr;  ///< blocks that have ended their tiles; 0 between stages
  RankLinks* links = nullptr;         ///< of the ranks over which sums are added up; null: there is one
};

/// How the tasks of a stage are shared out.
struct LoopShape {
  static constexpr int threads = most_threads_of_task;
  static constexpr int warps = threads / 32;
  static constexpr std::uint32_t most_tiles = 1056;
  /// That do what comes before the tasks: few enough for any device to have them all at work at once, since tasks of
  /// other ranks wait for that, and tasks of this one may be at work and wait for the others.
  static constexpr std::uint32_t most_tiles_before = 128;
#if defined(__OPTIMIZE__)
  static constexpr int blocks_of_a_multiprocessor = 2048 / threads;
#else
  /// Code for a debugger calls functions instead of having them inside. These take registers as they like, and do not
  /// link to a kernel that must do with few.
  static constexpr int blocks_of_a_multiprocessor = 1;
#endif

  std::uint32_t tasks;
  std::uint32_t tiles;
  std::uint32_t passes;  ///< tasks that a worker has in a tile
  int size;              ///< threads that share a task: 1, 2, 4, … 32; of a stage that is a launch, … 256
  std::uint32_t begin;   ///< where the first pass is, and how far it is to the next one
  std::uint32_t step;

  TASKDAG_TASK static LoopShape of(std::uint32_t tasks, int size) {
    const auto at_a_time = static_cast<std::uint32_t>(threads / size);
    const std::uint32_t times = (tasks + at_a_time - 1U) / at_a_time;
    const std::uint32_t passes = times == 0 ? 1U : (times + most_tiles - 1U) / most_tiles;
    const std::uint32_t tiles = times == 0 ? 1U : (times + passes - 1U) / passes;
    return {tasks, tiles, passes, size, 0U, tiles * at_a_time};
  }
  /// The last pass first.
  [[nodiscard]] LoopShape backwards() const {
    LoopShape back = *this;
    back.begin = (passes - 1U) * step;
    back.step = 0U - step;
    return back;
  }
};

namespace detail {

/// The sum of the parts of all warps that share a task, in their order, for its first thread. All threads of a block
/// take part.
__device__ inline double add_up_warps(double part, int size, int thread) {
  __shared__ double parts[LoopShape::warps];
  const int warp = thread / 32;
  if (thread % 32 == 0) parts[warp] = part;
  __syncthreads();
  if ((thread & (size - 1)) == 0) {
    for (int k = 1; k < size / 32; ++k) part += parts[warp + k];
  }
  __syncthreads();
  return part;
}
/// What one thread does of a task.
template <bool has_parts, class Worker>
__device__ inline void run_task(const Worker& worker, const LoopShape& shape, std::uint32_t task, int thread,
                                double* sum) {
  if constexpr (has_parts) {
    // All lanes of a warp take part in the shuffles, also those whose task does not exist.
    const int rank = thread & (shape.size - 1);
    double part = task < shape.tasks ? worker.part(task, rank, shape.size) : 0.0;
    for (int offset = (shape.size < 32 ? shape.size : 32) / 2; offset > 0; offset /= 2)
      part += __shfl_xor_sync(0xFFFFFFFFU, part, offset);
    if (shape.size > 32) part = add_up_warps(part, shape.size, thread);
    if (rank == 0 && task < shape.tasks) worker.execute(task, part, sum);
  } else {
    if (task < shape.tasks) worker.execute(task, sum);
  }
}
/// The tasks of a tile, by pass(task).
template <class Pass>
__device__ inline void run_passes(const LoopShape& shape, std::uint32_t tile, int thread, const Pass& pass) {
  const auto at_a_time = static_cast<std::uint32_t>(LoopShape::threads / shape.size);
  std::uint32_t task = shape.begin + tile * at_a_time + static_cast<std::uint32_t>(thread / shape.size);
  for (std::uint32_t p = 0; p < shape.passes; ++p, task += shape.step) pass(task);
}
/// What one thread does of a group of tasks. Of the threads that share it, each executes another one of the tasks.
template <class Worker>
__device__ inline void run_group(const Worker& worker, const LoopShape& shape, std::uint32_t group,
                                 std::uint32_t tasks_of_group, int thread, double* sum) {
  const int rank = thread & (shape.size - 1);
  const TaskGroup tasks{group * tasks_of_group, tasks_of_group};
  GroupParts part;
  if (group < shape.tasks) part = worker.part(tasks, rank, shape.size);
  for (int offset = shape.size / 2; offset > 0; offset /= 2) {
    for (double& one : part.of) one += __shfl_xor_sync(0xFFFFFFFFU, one, offset);
  }
  if (group >= shape.tasks) return;
#pragma unroll  // an array of registers has no element by a number that is not known
  for (int k = 0; k < TaskGroup::most; ++k) {
    if (rank == (k & (shape.size - 1)) && static_cast<std::uint32_t>(k) < tasks.count)
      worker.execute(tasks.first + static_cast<std::uint32_t>(k), part.of[k], sum);
  }
}
/// A stage whose tasks are done in groups; its shape is that of the groups.
template <class S>
struct GroupedStage : S {
  std::uint32_t tasks_of_group;
};
template <class S>
inline constexpr bool is_grouped = requires(const S& stage) {
  stage.tasks_of_group;
};

template <class S>
__device__ inline void run_tile(const S& stage, const LoopShape& shape, std::uint32_t tile, int thread, double* sum) {
  const auto& worker = worker_of(stage);
  run_passes(shape, tile, thread, [&](std::uint32_t task) {
    if constexpr (is_grouped<S>)
      run_group(worker, shape, task, stage.tasks_of_group, thread, sum);
    else
      run_task<stage_has_parts<S>>(worker, shape, task, thread, sum);
  });
}
/// The same of slices `first` and following, as many as are not idle by the bits of `at_work`: their tasks with one row
/// come one after the other, and find in the caches what they read in common.
template <std::uint32_t together, int width, class S>
__device__ inline void run_tile_of_slices(const S& stage, std::uint32_t first, std::uint32_t at_work,
                                          const LoopShape& shape, int thread, double (&sum)[together][width]) {
  using Slice = StageSlice<S>;
  run_passes(shape, blockIdx.x, thread, [&](std::uint32_t task) {
#pragma unroll 1  // eight copies of a row's sum are code to be loaded
    for (std::uint32_t k = 0; k < together; ++k) {
      if ((at_work >> k & 1U) == 0U) continue;
      const Slice slice{stage, first + k};
      run_task<stage_has_parts<Slice>>(worker_of(slice), shape, task, thread, sum[k]);
    }
  });
}

/// How the sums of a warp are added up. At first each lane has all of them, of its tasks. As long as there is an even
/// number, one half of the lanes goes on with one half of the sums and gives the others away, which is as many
/// shuffles less; then all lanes add up what they have. Each sum is that of the same tree of lanes.
template <int width>
struct WarpSums {
  static constexpr int halvings = [] {
    int count = 0;
    for (int left = width; left % 2 == 0 && count < 5; left /= 2) ++count;
    return count;
  }();
  static constexpr int of_lane = width >> halvings;   ///< consecutive sums, which a lane has in the end
  static constexpr unsigned lanes = 32U >> halvings;  ///< that have the same

  /// The first one that this lane has.
  __device__ static int first(unsigned lane) {
    int first = 0;
    int half = width / 2;
    unsigned bit = 16U;
    for (int k = 0; k < halvings; ++k, half /= 2, bit /= 2U) first += (lane & bit) != 0 ? half : 0;
    return first;
  }
  template <int left = width, int offset = 16>
  __device__ static void add_up(double* sum) {
    if constexpr (offset > 0) {
      if constexpr (left % 2 == 0) {
        const bool upper = (threadIdx.x & static_cast<unsigned>(offset)) != 0;
        for (int k = 0; k < left / 2; ++k) {
          const double given = upper ? sum[k] : sum[k + left / 2];
          sum[k] = (upper ? sum[k + left / 2] : sum[k]) + __shfl_xor_sync(0xFFFFFFFFU, given, offset);
        }
        add_up<left / 2, offset / 2>(sum);
      } else {
        for (int k = 0; k < left; ++k) sum[k] += __shfl_xor_sync(0xFFFFFFFFU, sum[k], offset);
        add_up<left, offset / 2>(sum);
      }
    }
  }
};

/// Puts the sums of a warp to `warps`, [warp][k].
template <int width>
__device__ inline void put_warp(double* sum, double* warps, int warp) {
  using Sums = WarpSums<width>;
  const unsigned lane = threadIdx.x % 32U;
  Sums::add_up(sum);
  if (lane % Sums::lanes != 0) return;
  const int first = Sums::first(lane);
  for (int k = 0; k < Sums::of_lane; ++k) warps[warp * width + first + k] = sum[k];
}
/// The sum of a tile from those of its warps.
template <int width>
__device__ inline double add_up_tile(const double* warps, int k) {
  double total = 0.0;
  for (int warp = 0; warp < LoopShape::warps; ++warp) total += warps[warp * width + k];
  return total;
}

/// Puts the sums of this block, which are those of a tile, to `tiles`, [k][tile].
template <int width>
__device__ inline void put_tile(double* sum, double* warps, std::uint32_t tile, double* tiles, std::uint32_t count) {
  const auto thread = static_cast<int>(threadIdx.x);
  put_warp<width>(sum, warps, thread / 32);
  __syncthreads();
  if (thread < width) tiles[static_cast<std::uint32_t>(thread) * count + tile] = add_up_tile<width>(warps, thread);
}
/// Whether this block is the last one of so many to come here. It sees what all others have written before: a fence of
/// one thread orders what the barrier before it has made known to that thread, of all threads of its block.
__device__ inline bool arrives_last(std::uint32_t* arrivals, std::uint32_t blocks) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(arrivals, 1U) + 1U == blocks;
    __threadfence();
  }
  __syncthreads();
  return last;
}
/// Puts the sums of all tiles to `warps`, as those of one.
template <int width>
__device__ inline void gather_tiles(const double* tiles, std::uint32_t count, double* warps) {
  double sum[width] = {};
  for (std::uint32_t tile = threadIdx.x; tile < count; tile += LoopShape::threads) {
    for (int k = 0; k < width; ++k) sum[k] += tiles[static_cast<std::uint32_t>(k) * count + tile];
  }
  put_warp<width>(sum, warps, static_cast<int>(threadIdx.x / 32U));
  __syncthreads();
}
/// Thread 0 gets the sums of all tiles.
template <int width>
__device__ inline void add_up_tiles(const double* tiles, std::uint32_t count, double* warps, double* total) {
  gather_tiles<width>(tiles, count, warps);
  if (threadIdx.x != 0) return;
  for (int k = 0; k < width; ++k) total[k] = add_up_tile<width>(warps, k);
}

/// The sums of this rank, which thread 0 has and which are numbers `first` and following, to all ranks. All threads of
/// a block take part.
template <int width>
__device__ inline void put_to_ranks(const RankLinks& links, const double* total, std::uint32_t first) {
  __shared__ double mine[width];
  if (threadIdx.x == 0) {
    for (int k = 0; k < width; ++k) mine[k] = total[k];
  }
  __syncthreads();
  for (std::uint32_t t = threadIdx.x; t < links.count * width; t += LoopShape::threads)
    links.put_sum(t / width, first + t % width, mine[t % width]);
  __syncthreads();
}
/// Thread 0 gets the sums of all ranks, added up in their order.
template <int width>
__device__ inline void take_from_ranks(const RankLinks& links, double* total, std::uint32_t first) {
  __shared__ double parts[RankLinks::most_devices * width];
  for (std::uint32_t t = threadIdx.x; t < links.count * width; t += LoopShape::threads)
    parts[t] = links.take_sum(t / width, first + t % width);
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 0; k < width; ++k) {
      total[k] = 0.0;
      for (std::uint32_t rank = 0; rank < links.count; ++rank) total[k] += parts[rank * width + k];
    }
  }
  __syncthreads();
}
__device__ inline void end_sums(RankLinks& links) {
  if (threadIdx.x == 0) links.sum_set = 1U - links.sum_set;
}

/// most: where the stage does not say.
template <class S>
constexpr int blocks_of_stage(int most = LoopShape::blocks_of_a_multiprocessor) {
  if constexpr (requires { S::blocks_of_a_multiprocessor; }) most = S::blocks_of_a_multiprocessor;
  return most < LoopShape::blocks_of_a_multiprocessor ? most : LoopShape::blocks_of_a_multiprocessor;
}

template <class S>
__device__ inline void run_before(const S& stage) {
  constexpr std::uint32_t most = LoopShape::most_tiles_before;
  const std::uint32_t tiles = gridDim.x < most ? gridDim.x : most;
  if (blockIdx.x < tiles) stage.before(blockIdx.x * LoopShape::threads + threadIdx.x, tiles * LoopShape::threads);
}

template <class S>
__device__ inline void run_aside(const S& stage) {
  if constexpr (stage_has_aside<S>) {
    if (threadIdx.x == 0) stage.aside();
  }
}

/// A tile is a thread block. Before the first one is a block for what is done aside, so that it takes no tile longer.
/// The last block to end its part adds up all tiles and finishes the stage. Threads hide the
/// latency of memory, so there are as many as a multiprocessor can have: finish(), which is one worker's, must not cost
/// them registers. again: nothing is done where it is 0; null: the stage is done.
template <class S>
__global__ void __launch_bounds__(LoopShape::threads, blocks_of_stage<S>())
    stage_kernel(const __grid_constant__ S stage, const LoopShape shape, const LoopScratch scratch,
                 const std::uint32_t* again) {
  if (again != nullptr && *again == 0) return;  // all blocks see the same: finish() comes after all of them
  constexpr int width = stage_width<S>;
  if constexpr (stage_begins_before<S>) run_before(stage);
  __shared__ double warps[LoopShape::warps * width];
  if (stage_has_aside<S> && blockIdx.x == 0) {
    run_aside(stage);
  } else {
    const std::uint32_t tile = blockIdx.x - (stage_has_aside<S> ? 1U : 0U);
    double sum[width] = {};
    run_tile(stage, shape, tile, static_cast<int>(threadIdx.x), sum);
    if constexpr (stage_sums<S>() > 0) put_tile<width>(sum, warps, tile, scratch.tiles, shape.tiles);
  }
  if constexpr (stage_finishes<S>) {
    if (!arrives_last(scratch.arrivals, gridDim.x)) return;
    double total[width] = {};
    if constexpr (stage_sums<S>() > 0) {
      add_up_tiles<width>(scratch.tiles, shape.tiles, warps, total);
      if (scratch.links != nullptr) {
        put_to_ranks<width>(*scratch.links, total, 0);
        take_from_ranks<width>(*scratch.links, total, 0);
        end_sums(*scratch.links);
      }
    }
    if (threadIdx.x != 0) return;
    stage.finish(total);
    *scratch.arrivals = 0;
  }
}

/// Of this rank: the sums of all slices in their order, which all ranks add up. By the block that has come last of all.
template <int width, class S>
__device__ inline void finish_slices_of_ranks(const S& stage, const LoopShape& shape, const LoopScratch& scratch,
                                              double* warps) {
  const std::uint32_t slices = stage.slices();
  for (std::uint32_t slice = 0; slice < slices; ++slice) {
    double total[width] = {};
    add_up_tiles<width>(scratch.tiles + std::size_t{slice} * width * shape.tiles, shape.tiles, warps, total);
    put_to_ranks<width>(*scratch.links, total, slice * width);
    __syncthreads();
  }
  for (std::uint32_t slice = 0; slice < slices; ++slice) {
    double total[width] = {};
    take_from_ranks<width>(*scratch.links, total, slice * width);
    if (threadIdx.x == 0) stage.finish(slice, total);
  }
  end_sums(*scratch.links);
}
/// Of slices `first` and following, up to one a warp, which finishes it: the longest part of a stage with few tasks.
template <int width, class S>
__device__ inline void finish_slices(const S& stage, std::uint32_t first, std::uint32_t end, const LoopShape& shape,
                                     const LoopScratch& scratch, double* warps) {
  __shared__ double totals[LoopShape::warps][width];
  for (std::uint32_t slice = first; slice < end && stage_sums<S>() > 0; ++slice) {
    gather_tiles<width>(scratch.tiles + std::size_t{slice} * width * shape.tiles, shape.tiles, warps);
    const auto k = static_cast<int>(threadIdx.x);
    if (k < width) totals[slice - first][k] = add_up_tile<width>(warps, k);
    __syncthreads();
  }
  const std::uint32_t mine = first + threadIdx.x / 32U;
  if (threadIdx.x % 32U == 0 && mine < end && !is_idle(stage, mine)) stage.finish(mine, totals[mine - first]);
  __syncthreads();
}

/// Slices that a block runs together: where they read rows of a matrix, which one of them brings into the caches.
template <class S>
inline constexpr std::uint32_t slices_together = stage_has_parts<StageSlice<S>> ? 8U : 1U;

/// The same with slices, in runs that the blocks of a tile share out: block y of them has runs y, y + gridDim.y, … Who
/// comes last of the blocks with one y finishes their slices; with ranks, who comes last of all.
template <class S>
__global__ void __launch_bounds__(LoopShape::threads, blocks_of_stage<S>(1))
    sliced_stage_kernel(const __grid_constant__ S stage, const LoopShape shape, const LoopScratch scratch,
                        const std::uint32_t* again) {
  if (again != nullptr && *again == 0) return;
  constexpr int width = stage_width<S>;
  constexpr std::uint32_t together = slices_together<S>;
  __shared__ double warps[LoopShape::warps * width];
  const std::uint32_t slices = stage.slices();
  const std::uint32_t first_of_block = blockIdx.y * together;
  const std::uint32_t step = gridDim.y * together;
  for (std::uint32_t first = first_of_block; first < slices; first += step) {
    double sum[together][width] = {};
    std::uint32_t at_work = 0;
    for (std::uint32_t k = 0; k < together && first + k < slices; ++k)
      at_work |= is_idle(stage, first + k) ? 0U : 1U << k;
    run_tile_of_slices<together>(stage, first, at_work, shape, static_cast<int>(threadIdx.x), sum);
    if constexpr (stage_sums<S>() > 0) {
#pragma unroll 1
      for (std::uint32_t k = 0; k < together; ++k) {
        if ((at_work >> k & 1U) == 0U) continue;
        put_tile<width>(sum[k], warps, blockIdx.x, scratch.tiles + std::size_t{first + k} * width * shape.tiles,
                        shape.tiles);
        __syncthreads();
      }
    }
  }
  if constexpr (stage_finishes<StageSlice<S>>) {
    const bool ranks = scratch.links != nullptr;
    std::uint32_t* const arrivals = scratch.arrivals + (ranks ? 0U : blockIdx.y);
    if (!arrives_last(arrivals, ranks ? gridDim.x * gridDim.y : gridDim.x)) return;
    if (ranks) {
      finish_slices_of_ranks<width>(stage, shape, scratch, warps);
    } else {
      for (std::uint32_t first = first_of_block; first < slices; first += step) {
        constexpr std::uint32_t most = LoopShape::warps;
        const std::uint32_t end = first + together < slices ? first + together : slices;
        static_assert(together <= most, "a warp finishes a slice");
        finish_slices<width>(stage, first, end, shape, scratch, warps);
      }
    }
    if (threadIdx.x == 0) *arrivals = 0;
  }
}

/// Captures what `capture` launches on `stream` into `graph`.
template <class Capture>
void capture_to_graph(cudaStream_t stream, cudaGraph_t graph, const Capture& capture) {
  check(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal),
        "beginning to capture stages");
  cudaGraph_t ended = nullptr;
  try {
    capture();
  } catch (...) {
    static_cast<void>(cudaStreamEndCapture(stream, &ended));
    static_cast<void>(cudaGetLastError());
    throw;
  }
  check(cudaStreamEndCapture(stream, &ended), "capturing stages");
}

/// Adds a conditional node behind what has been captured. Returns the graph that it has inside.
inline cudaGraph_t capture_conditional(cudaStream_t stream, cudaGraphConditionalHandle handle,
                                       cudaGraphConditionalNodeType type) {
  cudaGraphNodeParams parameters = conditional_node(handle, type);
  capture_node(stream, parameters, "a graph's branch");
  return parameters.conditional.phGraph_out[0];
}

}  // namespace detail

/// Stages as launches on a stream, which may be captured.
class StreamFlow {
 public:
  static constexpr bool calls = true;
  static constexpr bool ranks = true;
  static constexpr bool groups = true;

  /// size: threads that share a task of a stage with parts. again: a condition's word; once it is 0, stages that have
  /// been launched all the same do nothing. Null: all are done. trace: gets a span for each stage and call, from now
  /// on, or where stages of a call have spans these in its place; null: none are recorded. It must outlive the work.
  StreamFlow(cudaStream_t stream, const LoopScratch& scratch, int size, const std::uint32_t* again = nullptr,
             StreamTrace* trace = nullptr)
      : stream_(stream), scratch_(scratch), size_(size), again_(again), trace_(trace) {
    begin_span();
  }

  /// backwards: from the last tasks to the first ones, of a stage without sums, which depend on the order.
  template <class S>
  void stage(const S& stage, std::uint32_t tasks, bool backwards = false) {
    if constexpr (stage_has_slices<S>) {
      constexpr std::uint32_t together = detail::slices_together<S>;
      const LoopShape shape = LoopShape::of(tasks, stage_has_parts<StageSlice<S>> ? size_ : 1);
      const dim3 grid(shape.tiles, blocks_of_tile(shape, (stage.most_slices() + together - 1U) / together));
      detail::sliced_stage_kernel<S><<<grid, LoopShape::threads, 0, stream_>>>(stage, shape, scratch_, again_);
      detail::check(cudaGetLastError(), S::name);
    } else {
      launch(stage, LoopShape::of(tasks, stage_has_parts<S> ? size_ : 1), backwards);
    }
    end_span(S::name, tasks);
  }
  /// The same, in groups of so many tasks, at most TaskGroup::most; a divisor of their number. Threads of a warp share
  /// a group.
  template <class S>
  void stage_of_groups(const S& stage, std::uint32_t tasks, std::uint32_t tasks_of_group, bool backwards = false) {
    const LoopShape shape = LoopShape::of(tasks / tasks_of_group, std::min(size_, 32));
    launch(detail::GroupedStage<S>{stage, tasks_of_group}, shape, backwards);
    end_span(S::name, tasks);
  }
  template <class Call>
  void call(const Call& call) {
    const TraceOfCall<StreamTrace> inside(trace_);
    const std::uint64_t before = trace_ != nullptr ? trace_->ended() : 0;
    call(Stream{stream_});
    const bool has_spans = trace_ != nullptr && trace_->ended() != before;
    if (!has_spans) end_span(Call::name, 1);
  }
  /// Where the condition has a node, the stream is being captured, and the graph gets it. Else the host waits for the
  /// condition's word.
  template <class Body>
  void when(const LoopCondition& condition, const Body& body) {
    if (condition.node != 0) {
      capture(condition, cudaGraphCondTypeIf, body);
    } else if (holds(condition)) {
      run(body);
    }
    begin_span();
  }
  /// Its stages look at the condition's word by themselves.
  template <class Body>
  void guard(const LoopCondition& condition, const Body& body) {
    const std::uint32_t* const outside = std::exchange(again_, condition.word);
    body();
    again_ = outside;
  }
  template <class Body>
  void repeat(const LoopCondition& condition, const Body& body) {
    if (condition.node != 0) {
      capture(condition, cudaGraphCondTypeWhile, body);
    } else {
      while (holds(condition)) run(body);
    }
    begin_span();
  }

 private:
  template <class S>
  void launch(const S& stage, LoopShape shape, bool backwards) const {
    if (stage_sums<S>() == 0 && backwards) shape = shape.backwards();
    const std::uint32_t blocks = shape.tiles + (stage_has_aside<S> ? 1U : 0U);
    detail::stage_kernel<S><<<blocks, LoopShape::threads, 0, stream_>>>(stage, shape, scratch_, again_);
    detail::check(cudaGetLastError(), S::name);
  }
  /// Where no stage or call ends: what a look at a condition takes is part of no span.
  void begin_span() const {
    if (trace_ != nullptr) trace_->begin(stream_);
  }
  void end_span(const char* name, std::uint32_t tasks) const {
    if (trace_ != nullptr) trace_->end(stream_, name, tasks);
  }
  template <class Body>
  void run(const Body& body) const {
    begin_span();
    body();
  }
  /// As many blocks as may be of use: more than a device has at a time would only be waited for.
  static std::uint32_t blocks_of_tile(const LoopShape& shape, std::uint32_t most_runs) {
    constexpr std::uint32_t enough = 1024;
    const std::uint32_t blocks = std::clamp(enough / shape.tiles, 1U, LoopScratch::most_arrivals);
    return std::min(blocks, most_runs);
  }
  template <class Body>
  void capture(const LoopCondition& condition, cudaGraphConditionalNodeType type, const Body& body) {
    const cudaGraph_t inside = detail::capture_conditional(stream_, condition.node, type);
    const detail::UniqueStream stream = detail::UniqueStream::create();
    const cudaStream_t outside = std::exchange(stream_, stream.get());
    try {
      detail::capture_to_graph(stream_, inside, [&] { run(body); });
    } catch (...) {
      stream_ = outside;
      throw;
    }
    stream_ = outside;
  }
  [[nodiscard]] bool holds(const LoopCondition& condition) const {
    std::uint32_t word = 0;
    detail::check(cudaMemcpyAsync(&word, condition.word, sizeof(word), cudaMemcpyDeviceToHost, stream_),
                  "looking at a condition");
    detail::check(cudaStreamSynchronize(stream_), "waiting for a condition");
    return word != 0;
  }

  cudaStream_t stream_;
  LoopScratch scratch_;
  int size_;
  const std::uint32_t* again_;
  StreamTrace* trace_;
};

namespace detail {

/// The thread blocks of a launch that is one cluster; in code for devices that have none, a block alone.
class BlocksOfCluster {
 public:
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  [[nodiscard]] __device__ static std::uint32_t rank() { return cooperative_groups::this_cluster().block_rank(); }
  [[nodiscard]] __device__ static std::uint32_t count() { return cooperative_groups::this_cluster().num_blocks(); }
  /// Of one of them, from the same array of this block in shared memory.
  [[nodiscard]] __device__ static double* array_of(std::uint32_t block, double* mine) {
    return cooperative_groups::this_cluster().map_shared_rank(mine, block);
  }
  /// All threads of all blocks have come here, and see what the others have written before.
  __device__ static void meet() {
    if (count() > 1)
      cooperative_groups::this_cluster().sync();
    else
      __syncthreads();
  }
#else
  [[nodiscard]] __device__ static std::uint32_t rank() { return 0; }
  [[nodiscard]] __device__ static std::uint32_t count() { return 1; }
  [[nodiscard]] __device__ static double* array_of(std::uint32_t /*block*/, double* mine) { return mine; }
  __device__ static void meet() { __syncthreads(); }
#endif
};

}  // namespace detail

/// All stages in one thread block of 1024 threads, which is four tiles at a time, or in a cluster of such blocks, which
/// share the tiles out. Each block of a cluster gets the sums of all tiles and finishes each stage by itself: what
/// finish() reads and writes has to be each block's own, and all get the same. Has no calls.
class BlockFlow {
 public:
  static constexpr bool calls = false;
  static constexpr bool ranks = false;
  static constexpr int threads = 1024;
  static constexpr std::uint32_t tiles_at_a_time = threads / LoopShape::threads;

  /// How much shared memory a flow needs.
  struct Room {
    std::uint32_t totals = 0;  ///< sums of all tiles of the stage with most of them
    std::uint32_t warps = 0;   ///< sums of all warps of the tiles that one block has of the stage with most
    TASKDAG_TASK static std::uint32_t tiles_of_block(std::uint32_t tiles, std::uint32_t blocks) {
      return (tiles + blocks - 1U) / blocks;
    }
    void add(const LoopShape& shape, std::uint32_t sums, std::uint32_t blocks) {
      totals = std::max(totals, sums * shape.tiles);
      warps = std::max(warps, sums * LoopShape::warps * tiles_of_block(shape.tiles, blocks));
    }
    [[nodiscard]] std::size_t bytes() const { return sizeof(double) * (std::size_t{2} * totals + warps); }
  };

  /// shared: room.bytes() of the block's shared memory, at the same place in all blocks. Waits until all of them have
  /// begun: before that none may write there.
  __device__ BlockFlow(double* shared, const Room& room, int size)
      : totals_(shared), warps_(shared + std::size_t{2} * room.totals), room_(room.totals), size_(size) {
    Blocks::meet();
  }

  template <class S>
  __device__ void stage(const S& stage, std::uint32_t tasks) {
    if constexpr (stage_has_slices<S>) {
      const std::uint32_t slices = stage.slices();
      for (std::uint32_t slice = 0; slice < slices; ++slice) run(StageSlice<S>{stage, slice}, tasks);
    } else {
      run(stage, tasks);
    }
  }
  template <class Body>
  __device__ void when(const LoopCondition& condition, const Body& body) {
    if (*condition.word != 0) body();
  }
  template <class Body>
  __device__ void guard(const LoopCondition& condition, const Body& body) {
    when(condition, body);
  }
  template <class Body>
  __device__ void repeat(const LoopCondition& condition, const Body& body) {
    while (*condition.word != 0) body();
  }

 private:
  using Blocks = detail::BlocksOfCluster;

  template <class S>
  __device__ void run(const S& stage, std::uint32_t tasks) {
    constexpr int width = stage_width<S>;
    const LoopShape shape = LoopShape::of(tasks, stage_has_parts<S> ? size_ : 1);
    const std::uint32_t count = Room::tiles_of_block(shape.tiles, Blocks::count());
    const std::uint32_t first = Blocks::rank() * count;
    const std::uint32_t end = first + count < shape.tiles ? first + count : shape.tiles;
    const auto thread = static_cast<int>(threadIdx.x % LoopShape::threads);
    for (std::uint32_t tile = first + threadIdx.x / LoopShape::threads; tile < end; tile += tiles_at_a_time) {
      double sum[width] = {};
      detail::run_tile(stage, shape, tile, thread, sum);
      if constexpr (stage_sums<S>() > 0)
        detail::put_warp<width>(sum, warps_ + (tile - first) * LoopShape::warps * width, thread / 32);
    }
    if constexpr (stage_sums<S>() > 0) {
      __syncthreads();
      if (first < end) hand_out<width>(first, end - first);
    }
    Blocks::meet();
    if constexpr (stage_finishes<S>) {
      finish(stage, shape.tiles);
      __syncthreads();
    }
  }
  /// The sums of this block's tiles, to all blocks. They alternate between two arrays: a block may be a stage ahead of
  /// one that still reads.
  template <int width>
  __device__ void hand_out(std::uint32_t first, std::uint32_t tiles) {
    const std::uint32_t numbers = tiles * width;
    for (std::uint32_t n = threadIdx.x; n < numbers * Blocks::count(); n += threads) {
      const std::uint32_t number = n % numbers;
      const double* const warps = warps_ + number / width * LoopShape::warps * width;
      const double total = detail::add_up_tile<width>(warps, static_cast<int>(number % width));
      Blocks::array_of(n / numbers, totals_ + turn_ * room_)[first * width + number] = total;
    }
  }
  template <class S>
  __device__ void finish(const S& stage, std::uint32_t tiles) {
    constexpr int width = stage_width<S>;
    __shared__ double total_of_warp[LoopShape::warps * 16];
    if constexpr (stage_sums<S>() > 0) {
      if (threadIdx.x < LoopShape::threads) {
        const double* const totals = totals_ + turn_ * room_;
        double total[width] = {};
        for (std::uint32_t tile = threadIdx.x; tile < tiles; tile += LoopShape::threads) {
          for (int k = 0; k < width; ++k) total[k] += totals[tile * width + static_cast<std::uint32_t>(k)];
        }
        detail::put_warp<width>(total, total_of_warp, static_cast<int>(threadIdx.x / 32U));
      }
      turn_ = 1U - turn_;
      __syncthreads();
    }
    if (threadIdx.x != 0) return;
    if constexpr (stage_has_aside<S>) stage.aside();
    double total[width] = {};
    for (int k = 0; k < width; ++k) total[k] = stage_sums<S>() > 0 ? detail::add_up_tile<width>(total_of_warp, k) : 0.0;
    stage.finish(total);
  }

  double* totals_;
  double* warps_;
  std::uint32_t room_;
  int size_;
  std::uint32_t turn_ = 0;  ///< of the two arrays
};

TASKDAG_ENGINE_END

/// \file
/// Stages of a loop on a GPU: a launch each, on a stream or captured from it, or all of them in one thread block.
///
/// The order of additions is the same in all of these. A *tile* is what 256 threads do of a stage. A thread adds up its
/// tasks of the tile, a warp its threads by a tree, the tile its warps in their order, and 256 threads the tiles:
/// thread t those with numbers t, t + 256, …, then they do as the threads of a tile.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "taskdag/engine/cuda/check.cuh"
#include "taskdag/engine/loop/stage.hpp"

TASKDAG_ENGINE_BEGIN

/// What stages need beside their own data, in device memory.
struct LoopScratch {
  double* tiles = nullptr;            ///< sums of tiles: LoopShape::most_tiles times the most sums of a stage
  std::uint32_t* arrivals = nullptr;  ///< blocks that have ended their tile; 0 between stages
};

/// How the tasks of a stage are shared out.
struct LoopShape {
  static constexpr int threads = 256;
  static constexpr int warps = threads / 32;
  static constexpr std::uint32_t most_tiles = 1056;

  std::uint32_t tasks;
  std::uint32_t tiles;
  std::uint32_t passes;  ///< tasks that a worker has in a tile
  int size;              ///< threads that share a task: 1, 2, 4, … 32

  TASKDAG_TASK static LoopShape of(std::uint32_t tasks, int size) {
    const auto at_a_time = static_cast<std::uint32_t>(threads / size);
    const std::uint32_t times = (tasks + at_a_time - 1U) / at_a_time;
    const std::uint32_t passes = times == 0 ? 1U : (times + most_tiles - 1U) / most_tiles;
    return {tasks, times == 0 ? 1U : (times + passes - 1U) / passes, passes, size};
  }
};

namespace detail {

template <class S>
__device__ inline void run_tile(const S& stage, const LoopShape& shape, std::uint32_t tile, int thread, double* sum) {
  const auto at_a_time = static_cast<std::uint32_t>(LoopShape::threads / shape.size);
  std::uint32_t task = tile * shape.passes * at_a_time + static_cast<std::uint32_t>(thread / shape.size);
  for (std::uint32_t pass = 0; pass < shape.passes; ++pass, task += at_a_time) {
    if constexpr (stage_has_parts<S>) {
      // All lanes of a warp take part in the shuffles, also those whose task does not exist.
      const int rank = thread & (shape.size - 1);
      double part = task < shape.tasks ? stage.part(task, rank, shape.size) : 0.0;
      for (int offset = shape.size / 2; offset > 0; offset /= 2) part += __shfl_xor_sync(0xFFFFFFFFU, part, offset);
      if (rank == 0 && task < shape.tasks) stage.execute(task, part, sum);
    } else {
      if (task < shape.tasks) stage.execute(task, sum);
    }
  }
}

/// Lane 0 gets the sums of its warp.
template <int width>
__device__ inline void add_up_warp(double* sum) {
  for (int offset = 16; offset > 0; offset /= 2) {
    for (int k = 0; k < width; ++k) sum[k] += __shfl_down_sync(0xFFFFFFFFU, sum[k], offset);
  }
}

/// Puts the sums of a warp to `warps`, [warp][k].
template <int width>
__device__ inline void put_warp(double* sum, double* warps, int warp) {
  add_up_warp<width>(sum);
  if ((threadIdx.x & 31U) != 0) return;
  for (int k = 0; k < width; ++k) warps[warp * width + k] = sum[k];
}
/// The sum of a tile from those of its warps.
template <int width>
__device__ inline double add_up_tile(const double* warps, int k) {
  double total = 0.0;
  for (int warp = 0; warp < LoopShape::warps; ++warp) total += warps[warp * width + k];
  return total;
}

/// A tile is a thread block. The last block to end its tile adds up all tiles and finishes the stage. Threads hide the
/// latency of memory, so there are as many as a multiprocessor can have: finish(), which is one worker's, must not cost
/// them registers. again: nothing is done where it is 0; null: the stage is done.
template <class S>
__global__ void __launch_bounds__(LoopShape::threads, 2048 / LoopShape::threads)
    stage_kernel(const __grid_constant__ S stage, const LoopShape shape, const LoopScratch scratch,
                 const std::uint32_t* again) {
  if (again != nullptr && *again == 0) return;  // all blocks see the same: finish() comes after all of them
  constexpr int width = stage_width<S>;
  double sum[width] = {};
  const auto thread = static_cast<int>(threadIdx.x);
  run_tile(stage, shape, blockIdx.x, thread, sum);
  if constexpr (stage_finishes<S>) {
    __shared__ double warps[LoopShape::warps * width];
    __shared__ bool last;
    if constexpr (stage_sums<S>() > 0) {
      put_warp<width>(sum, warps, thread / 32);
      __syncthreads();
      if (thread < width)
        scratch.tiles[static_cast<std::uint32_t>(thread) * shape.tiles + blockIdx.x] =
            add_up_tile<width>(warps, thread);
    }
    __threadfence();
    __syncthreads();
    if (thread == 0) last = atomicAdd(scratch.arrivals, 1U) + 1U == gridDim.x;
    __syncthreads();
    if (!last) return;
    __threadfence();
    double total[width] = {};
    if constexpr (stage_sums<S>() > 0) {
      for (std::uint32_t tile = threadIdx.x; tile < shape.tiles; tile += LoopShape::threads) {
        for (int k = 0; k < width; ++k) total[k] += scratch.tiles[static_cast<std::uint32_t>(k) * shape.tiles + tile];
      }
      put_warp<width>(total, warps, thread / 32);
      __syncthreads();
    }
    if (thread != 0) return;
    for (int k = 0; k < width; ++k) total[k] = stage_sums<S>() > 0 ? add_up_tile<width>(warps, k) : 0.0;
    stage.finish(total);
    *scratch.arrivals = 0;
  }
}

}  // namespace detail

/// Stages as launches on a stream, which may be captured.
class StreamFlow {
 public:
  static constexpr bool calls = true;

  /// size: threads that share a task of a stage with parts. again: a condition's word; once it is 0, stages that have
  /// been launched all the same do nothing. Null: all are done.
  StreamFlow(cudaStream_t stream, const LoopScratch& scratch, int size, const std::uint32_t* again = nullptr)
      : stream_(stream), scratch_(scratch), size_(size), again_(again) {}

  template <class S>
  void stage(const S& stage, std::uint32_t tasks) {
    const LoopShape shape = LoopShape::of(tasks, stage_has_parts<S> ? size_ : 1);
    detail::stage_kernel<S><<<shape.tiles, LoopShape::threads, 0, stream_>>>(stage, shape, scratch_, again_);
    detail::check(cudaGetLastError(), S::name);
    ++launches_;
  }
  template <class Call>
  void call(const Call& call) {
    call(Stream{stream_});
  }
  [[nodiscard]] int launches() const { return launches_; }

 private:
  cudaStream_t stream_;
  LoopScratch scratch_;
  int size_;
  const std::uint32_t* again_;
  int launches_ = 0;
};

/// All stages in one thread block of 1024 threads, which is four tiles at a time. Has no calls.
class BlockFlow {
 public:
  static constexpr bool calls = false;
  static constexpr int threads = 1024;
  static constexpr int tiles_at_a_time = threads / LoopShape::threads;

  /// warps: of the stage with most of them, tiles · LoopShape::warps · sums numbers in shared memory.
  __device__ BlockFlow(double* warps, int size) : warps_(warps), size_(size) {}

  template <class S>
  __device__ void stage(const S& stage, std::uint32_t tasks) {
    constexpr int width = stage_width<S>;
    const LoopShape shape = LoopShape::of(tasks, stage_has_parts<S> ? size_ : 1);
    const auto thread = static_cast<int>(threadIdx.x % LoopShape::threads);
    for (std::uint32_t tile = threadIdx.x / LoopShape::threads; tile < shape.tiles; tile += tiles_at_a_time) {
      double sum[width] = {};
      detail::run_tile(stage, shape, tile, thread, sum);
      if constexpr (stage_sums<S>() > 0) {
        detail::put_warp<width>(sum, warps_ + tile * LoopShape::warps * width, thread / 32);
      }
    }
    __syncthreads();
    if constexpr (stage_finishes<S>) {
      finish(stage, shape.tiles);
      __syncthreads();
    }
  }

 private:
  template <class S>
  __device__ void finish(const S& stage, std::uint32_t tiles) {
    constexpr int width = stage_width<S>;
    __shared__ double total_of_warp[LoopShape::warps * 16];
    if constexpr (stage_sums<S>() > 0) {
      if (threadIdx.x < LoopShape::threads) {
        double total[width] = {};
        for (std::uint32_t tile = threadIdx.x; tile < tiles; tile += LoopShape::threads) {
          for (int k = 0; k < width; ++k)
            total[k] += detail::add_up_tile<width>(warps_ + tile * LoopShape::warps * width, k);
        }
        detail::put_warp<width>(total, total_of_warp, static_cast<int>(threadIdx.x / 32U));
      }
      __syncthreads();
    }
    if (threadIdx.x != 0) return;
    double total[width] = {};
    for (int k = 0; k < width; ++k) total[k] = stage_sums<S>() > 0 ? detail::add_up_tile<width>(total_of_warp, k) : 0.0;
    stage.finish(total);
  }

  double* warps_;
  int size_;
};

TASKDAG_ENGINE_END

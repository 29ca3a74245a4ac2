/// \file
/// The small levels of a cycle in one launch.
///
/// A stage as a launch of its own takes 3 µs or more, whatever it does. Stages of levels of few rows are known
/// beforehand, so they are written down once, and one cluster of thread blocks, which meet after each, does them all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "backends/cuda/clusters.hpp"
#include "backends/cuda/launch.hpp"
#include "cycles/stages.hpp"
#include "taskdag/engine/loop/cuda.cuh"
#include "taskdag/engine/memory.hpp"

namespace taskdag::cycles {

/// One of several stages, and its tasks.
template <class... S>
struct OneStage {
  std::uint32_t kind;
  std::uint32_t tasks;
  int row_threads;
  alignas(8) unsigned char stage[std::max({sizeof(S)...})];

  template <class One>
  static OneStage of(const One& one, std::uint32_t tasks, int row_threads) {
    OneStage result{kind_of<One>(), tasks, row_threads, {}};
    std::memcpy(result.stage, &one, sizeof(one));
    return result;
  }
  template <class One>
  static constexpr bool has() {
    return (std::is_same_v<One, S> || ...);
  }
  /// work(stage)
  template <class Do>
  __device__ void visit(const Do& work) const {
    (visit_if<S>(work), ...);
  }

 private:
  template <class One>
  __host__ __device__ static constexpr std::uint32_t kind_of() {
    std::uint32_t kind = 0;
    bool found = false;
    ((found = found || std::is_same_v<One, S>, kind += found ? 0U : 1U), ...);
    return kind;
  }
  template <class One, class Do>
  __device__ void visit_if(const Do& work) const {
    if (kind == kind_of<One>()) work(*reinterpret_cast<const One*>(stage));
  }
};
using SmallStage =
    OneStage<FirstStep, FirstTwoSteps, SmootherStage, Residual, Restriction, Interpolation, DenseProduct, Zero>;

constexpr int together_threads = 1024;

/// Does a stage by all tiles of the cluster's blocks, as the launches of the stage alone would.
struct RunSmallStage {
  std::uint32_t tasks;
  int row_threads;
  template <class S>
  __device__ void operator()(const S& stage) const {
    using Blocks = engine::detail::BlocksOfCluster;
    constexpr std::uint32_t tiles_of_block = together_threads / engine::LoopShape::threads;
    const auto shape = engine::LoopShape::of(tasks, engine::stage_has_parts<S> ? row_threads : 1);
    const auto thread = static_cast<int>(threadIdx.x % engine::LoopShape::threads);
    std::uint32_t tile = Blocks::rank() * tiles_of_block + threadIdx.x / engine::LoopShape::threads;
    double nothing[1] = {};
    for (; tile < shape.tiles; tile += Blocks::count() * tiles_of_block)
      engine::detail::run_tile(stage, shape, tile, thread, nothing);
  }
};

static __global__ void __launch_bounds__(together_threads)
    together_kernel(const SmallStage* stages, std::uint32_t count) {
  extern __shared__ __align__(8) unsigned char room[];
  auto* const own = reinterpret_cast<SmallStage*>(room);
  for (std::uint32_t k = threadIdx.x; k < count; k += together_threads) own[k] = stages[k];
  __syncthreads();
  for (std::uint32_t k = 0; k < count; ++k) {
    own[k].visit(RunSmallStage{own[k].tasks, own[k].row_threads});
    engine::detail::BlocksOfCluster::meet();
  }
}

/// Stages that have been written down.
class Together {
 public:
  /// As many as their copies have room in a block's shared memory.
  static constexpr std::size_t most_stages = 256;

  Together(const Context& context, const std::vector<SmallStage>& stages)
      : stages_(context, stages),
        blocks_(cuda::largest_cluster(reinterpret_cast<const void*>(&together_kernel), together_threads, bytes())) {}
  /// Asynchronous.
  void launch(cudaStream_t stream) const {
    cuda::Launch(blocks_, together_threads, bytes(), stream)
        .clusters_of(blocks_)
        .run("starting the small levels of a cycle", together_kernel, static_cast<const SmallStage*>(stages_.data()),
             static_cast<std::uint32_t>(stages_.size()));
  }

 private:
  [[nodiscard]] std::size_t bytes() const { return stages_.size() * sizeof(SmallStage); }
  engine::Array<SmallStage> stages_;
  int blocks_;
};

}  // namespace taskdag::cycles

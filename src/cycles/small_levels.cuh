/// \file
/// What a cycle does on its small levels, as a dense matrix.
///
/// A stage as a launch of its own takes 3 µs or more, whatever it does, and so does each of several stages of one
/// launch, whose blocks have to wait for each other. From the right-hand side of a level on all is linear, though, and
/// where there are few rows the matrix of it is multiplied by as fast as a single stage is done. Its columns are what
/// the stages make of the columns of the identity: these are written down once, and each thread block does all of
/// them, for one column after another, with vectors of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

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
  __device__ void visit(const Do& work) {
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
  __device__ void visit_if(const Do& work) {
    if (kind == kind_of<One>()) work(*reinterpret_cast<One*>(stage));
  }
};
using SmallStage = OneStage<FirstStep, FirstTwoSteps, SmootherStage<Rows>, Residual<Rows>, Restriction<Rows>,
                            Interpolation<Rows>, DenseProduct, Zero>;

constexpr int block_threads = 1024;

/// Does a stage by all tiles of the block, as the launches of the stage alone would.
struct RunStageByBlock {
  std::uint32_t tasks;
  int row_threads;
  template <class S>
  __device__ void operator()(const S& stage) const {
    const auto shape = engine::LoopShape::of(tasks, engine::stage_has_parts<S> ? row_threads : 1);
    const auto thread = static_cast<int>(threadIdx.x % engine::LoopShape::threads);
    std::uint32_t tile = threadIdx.x / engine::LoopShape::threads;
    double nothing[1] = {};
    for (; tile < shape.tiles; tile += block_threads / engine::LoopShape::threads)
      engine::detail::run_tile(stage, shape, tile, thread, nothing);
  }
};

/// Of the level that the stages begin on: right-hand side and solution, where block 0 has them, and the matrix to fill,
/// row by row.
struct Columns {
  std::uint32_t rows;
  std::size_t stride;  ///< from the vectors of a block to those of the next one
  double* b;
  const double* x;
  double* dense;
};

static __global__ void __launch_bounds__(block_threads)
    columns_kernel(const SmallStage* stages, std::uint32_t count, Columns columns) {
  extern __shared__ __align__(8) unsigned char room[];
  auto* const own = reinterpret_cast<SmallStage*>(room);
  const std::size_t shift = blockIdx.x * columns.stride;
  for (std::uint32_t k = threadIdx.x; k < count; k += block_threads) {
    own[k] = stages[k];
    own[k].visit([=](auto& stage) { stage.shift(shift); });
  }
  for (std::uint32_t column = blockIdx.x; column < columns.rows; column += gridDim.x) {
    for (std::uint32_t i = threadIdx.x; i < columns.rows; i += block_threads)
      columns.b[shift + i] = i == column ? 1.0 : 0.0;
    __syncthreads();
    for (std::uint32_t k = 0; k < count; ++k) {
      own[k].visit(RunStageByBlock{own[k].tasks, own[k].row_threads});
      __syncthreads();
    }
    for (std::uint32_t i = threadIdx.x; i < columns.rows; i += block_threads)
      columns.dense[std::size_t{i} * columns.rows + column] = columns.x[shift + i];
  }
}

/// Stages that have been written down, and the matrix of what they do.
class DenseOfStages {
 public:
  /// As many as their copies have room in a block's shared memory.
  static constexpr std::size_t most_stages = 256;
  /// That work on columns at a time, each with vectors of its own: about two a multiprocessor.
  static std::uint32_t blocks(std::uint32_t rows) { return std::min(rows, 256U); }

  DenseOfStages(const Context& context, const std::vector<SmallStage>& stages, const Columns& columns)
      : stages_(context, stages), dense_(context, std::size_t{columns.rows} * columns.rows), columns_(columns) {
    columns_.dense = dense_.data();
  }
  /// Of the values that matrices have now. Asynchronous.
  void make(cudaStream_t stream) const {
    cuda::Launch(blocks(columns_.rows), block_threads, stages_.size() * sizeof(SmallStage), stream)
        .run("multiplying the small levels of a cycle out", columns_kernel,
             static_cast<const SmallStage*>(stages_.data()), static_cast<std::uint32_t>(stages_.size()), columns_);
  }
  [[nodiscard]] const double* elements() const { return dense_.data(); }

 private:
  engine::Array<SmallStage> stages_;
  engine::Array<double> dense_;
  Columns columns_;
};

}  // namespace taskdag::cycles

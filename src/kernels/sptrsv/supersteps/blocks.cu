#include <algorithm>

#include "backends/cuda/algorithm.cuh"
#include "base/index.hpp"
#include "dag/row_blocks.hpp"
#include "kernels/sptrsv/supersteps/layout_sweep.hpp"
#include "kernels/sptrsv/supersteps/pack.hpp"
#include "kernels/sptrsv/supersteps/supersteps.hpp"
#include "taskdag/error.hpp"

namespace taskdag::kernels {
namespace {

using namespace supersteps;

/// A block a cell of one superstep. What does not change is loaded while the launch before may still run; that launch
/// has begun after everything before it in the stream had ended.
template <int kAhead, int kThreads>
__global__ void __launch_bounds__(kThreads) run_superstep(CellArguments a, Index first_cell) {
  extern __shared__ __align__(16) std::byte memory[];
  const Cell cell = a.cell[first_cell + static_cast<Index>(blockIdx.x)];
  const SharedCell shared(memory, cell);
  stage<kThreads>(a, cell, shared);
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  wait_for_stage();
  __syncthreads();
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  start<kThreads>(a, cell, shared);
  __syncthreads();
  if (threadIdx.x < kLanes) walk<kAhead>(cell, shared, a.pivot != nullptr);
  __syncthreads();
  finish<kThreads>(a, cell, shared);
}

using Kernel = void (*)(CellArguments, Index);

template <int kThreads>
Kernel kernel_of(Index step_entries) {
  return step_entries <= 2 ? run_superstep<2, kThreads> : run_superstep<4, kThreads>;
}

Kernel kernel_for(int threads, Index step_entries) {
  if (threads <= 128) return kernel_of<128>(step_entries);
  return threads <= 256 ? kernel_of<256>(step_entries) : kernel_of<512>(step_entries);
}

__global__ void rows_by_position(Index n, bool lower, Index* order) {
  const std::int64_t p = cuda::element();
  if (p < n) order[p] = lower ? static_cast<Index>(p) : n - 1 - static_cast<Index>(p);
}

cuda::ScratchArray<Index> natural_order(Index rows, Triangle triangle, cudaStream_t stream) {
  cuda::ScratchArray<Index> order(static_cast<std::size_t>(rows), stream);
  if (rows > 0) {
    rows_by_position<<<cuda::element_blocks(rows), cuda::kElementBlock, 0, stream>>>(rows, triangle == Triangle::lower,
                                                                                     order.data());
    cuda::check_launch("rows_by_position");
  }
  return order;
}

/// The layout of the blocks with cells of at most `most` rows, fewer if they do not fit into shared memory otherwise.
Layout fitting_layout(const SweepInput& input, Index most, cudaStream_t stream) {
  const std::size_t limit = most_shared_bytes();
  const auto order = natural_order(input.pattern.rows, input.triangle, stream);
  while (true) {
    Layout layout = measure(input, cover_blocks(*input.blocks, input.triangle, most), order.data(), stream);
    if (layout.shared_bytes() <= limit) {
      fill(input, layout, stream);
      return layout;
    }
    // A row has fewer inner entries than its cell has rows, so small cells always fit.
    most /= 2;
  }
}

class BlocksSweep final : public LayoutSweep {
 public:
  BlocksSweep(const SweepInput& input, const BlocksOptions& options, cudaStream_t stream)
      : LayoutSweep(fitting_layout(input, options.cell_rows, stream), input, stream),
        threads_(options.threads),
        kernel_(kernel_for(options.threads, layout().most_step_entries)) {
    cuda::check(cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(most_shared_bytes())),
                "asking for shared memory");
  }

  void solve(const double* rhs, double* x, int* non_finite, cudaStream_t stream) override {
    cudaLaunchAttribute overlap{};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    for (Index s = 0; s < layout().supersteps; ++s) {
      const Index first = layout().superstep_offsets[at(s)];
      cudaLaunchConfig_t config{};
      config.gridDim = dim3(static_cast<unsigned>(layout().superstep_offsets[at(s + 1)] - first));
      config.blockDim = dim3(static_cast<unsigned>(threads_));
      config.dynamicSmemBytes = layout().shared_bytes();
      config.stream = stream;
      config.attrs = &overlap;
      config.numAttrs = s > 0 ? 1 : 0;  // the first one waits for all that comes before
      cuda::check(cudaLaunchKernelEx(&config, kernel_, arguments(rhs, x, non_finite), first), "launching a superstep");
    }
  }

 private:
  int threads_;
  Kernel kernel_;
};

/// Values measured on an H200, see docs/performance.md: cells so large that those of a colour are resident together,
/// and no smaller than the blocks; more threads where rows have many entries.
BlocksOptions chosen(const BlocksOptions& options, const SweepInput& input) {
  constexpr Index kSmallest = 128;
  constexpr Index kLarge = 512;
  constexpr Index kResident = 900;
  constexpr double kFewEntries = 2.5;
  constexpr double kSomeEntries = 7.0;
  constexpr double kManyEntries = 20.0;
  BlocksOptions result = options;
  const RowBlocks& blocks = *input.blocks;
  const double entries =
      blocks.rows() == 0 ? 0.0 : 0.5 * (static_cast<double>(input.pattern.entries) / blocks.rows() - 1.0);
  if (result.threads == 0) result.threads = entries <= kSomeEntries ? 128 : entries <= kManyEntries ? 256 : 512;
  if (result.cell_rows == 0) {
    const Index a_colour = blocks.rows() / std::max(blocks.colours(), 1);
    Index rows = entries > kSomeEntries ? kSmallest : 2 * kSmallest;
    if (entries <= kFewEntries && a_colour >= kResident * kLarge) rows = kLarge;
    for (Index b = 0; b < blocks.blocks(); ++b) {
      rows = std::max(rows, blocks.block_offsets[at(b + 1)] - blocks.block_offsets[at(b)]);
    }
    result.cell_rows = rows;
  }
  result.cell_rows = std::min(result.cell_rows, kMostCellRows);
  return result;
}

}  // namespace

std::unique_ptr<Sweep> make_blocks_sweep(const SweepInput& input, const BlocksOptions& options, cudaStream_t stream) {
  if (input.blocks == nullptr) {
    throw InvalidInput("the schedule blocks needs an ordering that makes blocks (taskdag_bmc, taskdag_color)");
  }
  if (const auto fault = find_shape_fault(*input.blocks, input.pattern.rows)) {
    throw InvalidInput("the schedule blocks cannot take these blocks of rows: " + *fault);
  }
  return std::make_unique<BlocksSweep>(input, chosen(options, input), stream);
}

}  // namespace taskdag::kernels

#include "backends/cuda/check.hpp"
#include "backends/cuda/device.hpp"
#include "backends/cuda/generation.hpp"
#include "backends/cuda/launch.hpp"
#include "kernels/sptrsv/schedules/cells/run/kernel.hpp"
#include "kernels/sptrsv/schedules/cells/run/shared.cuh"

namespace taskdag::kernels::cells {
namespace {

SolveKernel kernel_of(int ways, bool reciprocal) {
  if (reciprocal) return kernel_of_reciprocals();
  if (ways == 1) return kernel_of_one_lane();
  return ways == 2 ? kernel_of_two_lanes() : kernel_of_four_lanes();
}

}  // namespace

bool supported() { return cuda::generation() >= 90 && cuda::most_shared_bytes() >= sizeof(Shared); }

void prepare(int ways) {
  const auto ask = [](SolveKernel kernel) {
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared)),
                "asking for shared memory");
  };
  ask(kernel_of(ways, false));
  if (ways == 1) ask(kernel_of(1, true));
}

unsigned solve(const SolveArguments& arguments, bool reciprocal, bool overlaps, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(min(arguments.cells, cuda::device_limits().multiprocessors));
  cuda::Launch(blocks, kBlock, sizeof(Shared), stream)
      .overlapping(overlaps)
      .run("solve_kernel (cells)", kernel_of(arguments.ways, reciprocal), arguments);
  return static_cast<unsigned>(arguments.cells) + blocks;  // each block ends on a ticket too many
}

}  // namespace taskdag::kernels::cells

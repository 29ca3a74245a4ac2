#include "backends/cuda/check.hpp"
#include "backends/cuda/device.hpp"
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

bool supported() {
  int device = 0;
  int major = 0;
  int shared = 0;
  cuda::check(cudaGetDevice(&device), "current device");
  cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "compute capability");
  cuda::check(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "shared memory");
  if (major < 9 || shared < static_cast<int>(sizeof(Shared))) return false;
  cudaFuncAttributes attributes{};  // a library built for older devices has code without the kernel's body
  cuda::check(cudaFuncGetAttributes(&attributes, kernel_of_one_lane()), "looking at a kernel");
  return attributes.ptxVersion >= 90;
}

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
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(kBlock);
  config.dynamicSmemBytes = sizeof(Shared);
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = overlaps ? 1 : 0;
  cuda::check(cudaLaunchKernelEx(&config, kernel_of(arguments.ways, reciprocal), arguments), "solve_kernel (cells)");
  return static_cast<unsigned>(arguments.cells) + blocks;  // each block ends on a ticket too many
}

}  // namespace taskdag::kernels::cells

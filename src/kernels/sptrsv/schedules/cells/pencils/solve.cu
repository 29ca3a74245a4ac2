#include <algorithm>

#include "backends/cuda/check.hpp"
#include "backends/cuda/device.hpp"
#include "kernels/sptrsv/schedules/cells/pencils/kernel.hpp"

namespace taskdag::kernels::cells {
namespace {

void ask_for_shared_memory(PencilKernel kernel) {
  cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(pencil_shared_bytes())),
              "asking for shared memory");
}

}  // namespace

void prepare_pencils() { ask_for_shared_memory(kernel_of_pencils()); }

unsigned solve(const PencilArguments& arguments, bool reciprocal, bool overlaps, cudaStream_t stream) {
  const Index pencils = arguments.pencils.count();
  const Index blocks = std::min(pencils, cuda::device_limits().multiprocessors);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(kPencilThreads);
  config.dynamicSmemBytes = pencil_shared_bytes();
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = overlaps ? 1 : 0;
  const PencilKernel kernel = reciprocal ? kernel_of_pencil_reciprocals() : kernel_of_pencils();
  if (reciprocal) ask_for_shared_memory(kernel);  // few sweeps need it, and asking loads it
  cuda::check(cudaLaunchKernelEx(&config, kernel, arguments), "solve_pencils");
  return static_cast<unsigned>(pencils + blocks);  // each block ends on a ticket too many
}

}  // namespace taskdag::kernels::cells

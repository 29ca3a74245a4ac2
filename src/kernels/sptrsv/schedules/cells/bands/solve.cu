#include <algorithm>

#include "backends/cuda/check.hpp"
#include "backends/cuda/device.hpp"
#include "backends/cuda/launch.hpp"
#include "kernels/sptrsv/schedules/cells/bands/kernel.hpp"

namespace taskdag::kernels::cells {
namespace {

template <class Value>
void ask_for_shared_memory(BandKernel<Value> kernel) {
  cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(cuda::most_shared_bytes())),
              "asking for shared memory");
}

template <class Value>
unsigned run(BandKernel<Value> kernel, const BandArguments<Value>& arguments, const BandLaunch& launch, bool overlaps,
             cudaStream_t stream) {
  cuda::Launch(launch.blocks * launch.clusters, kBandThreads, launch.shared_bytes, stream)
      .clusters_of(launch.blocks)
      .overlapping(overlaps)
      .run("solve_bands", kernel, arguments);
  const Index taken = (arguments.bands.bands() + launch.blocks - 1) / launch.blocks;
  return static_cast<unsigned>(taken + launch.clusters);  // each cluster ends on a ticket too many
}

template <class Value>
BandLaunch prepare_kernel(BandKernel<Value> kernel, const Bands& bands, int most_blocks) {
  ask_for_shared_memory(kernel);
  const Index count = bands.bands();
  for (int blocks = most_blocks; blocks > 1; blocks /= 2) {
    if (blocks / 2 >= count) continue;
    BandLaunch launch{blocks, 1, band_shared_bytes<Value>(bands, true)};
    if (launch.shared_bytes > cuda::most_shared_bytes()) break;
    // Not all devices, nor all parts of one, have room for so many blocks side by side.
    int room = 0;
    cuda::Launch trial(blocks, kBandThreads, launch.shared_bytes, nullptr);
    cuda::check(cudaOccupancyMaxActiveClusters(&room, kernel, &trial.clusters_of(blocks).config()),
                "asking for room for clusters");
    launch.clusters = std::min(room, (count + blocks - 1) / blocks);
    if (room > 0) return launch;
  }
  return {1, std::min(count, cuda::device_limits().multiprocessors), band_shared_bytes<Value>(bands, false)};
}

}  // namespace

template <class Value>
BandLaunch prepare(const Bands& bands, int most_blocks) {
  return prepare_kernel(kernel_of_sums<Value>(), bands, most_blocks);
}
template BandLaunch prepare<double>(const Bands&, int);
template BandLaunch prepare<float>(const Bands&, int);

BandLaunch prepare_reciprocals(const Bands& bands, int most_blocks) {
  return prepare_kernel(kernel_of_band_reciprocals(), bands, most_blocks);
}

template <class Value>
unsigned solve(const BandArguments<Value>& arguments, const BandLaunch& launch, bool overlaps, cudaStream_t stream) {
  return run(kernel_of_sums<Value>(), arguments, launch, overlaps, stream);
}
template unsigned solve(const BandArguments<double>&, const BandLaunch&, bool, cudaStream_t);
template unsigned solve(const BandArguments<float>&, const BandLaunch&, bool, cudaStream_t);

unsigned solve_reciprocals(const BandArguments<double>& arguments, const BandLaunch& launch, bool overlaps,
                           cudaStream_t stream) {
  const BandKernel<double> kernel = kernel_of_band_reciprocals();
  ask_for_shared_memory(kernel);  // few sweeps need it, and asking loads it
  return run(kernel, arguments, launch, overlaps, stream);
}

}  // namespace taskdag::kernels::cells

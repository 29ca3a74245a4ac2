#include "backends/cuda/check.hpp"
#include "backends/cuda/clusters.hpp"
#include "backends/cuda/generation.hpp"
#include "backends/cuda/launch.hpp"

namespace taskdag::cuda {

int largest_cluster(const void* kernel, int threads, std::size_t shared_bytes) {
  if (generation() < 90) return 1;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "allowing large clusters");
  for (const int blocks : {16, 8}) {
    Launch launch(blocks, threads, shared_bytes, nullptr);
    int room = 0;
    const cudaError_t asked = cudaOccupancyMaxActiveClusters(&room, kernel, &launch.clusters_of(blocks).config());
    if (asked == cudaSuccess && room > 0) return blocks;
    static_cast<void>(cudaGetLastError());
  }
  return 1;
}

}  // namespace taskdag::cuda

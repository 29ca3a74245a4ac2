#include "backends/cuda/generation.hpp"
#include "backends/cuda/launch.hpp"

namespace taskdag::cuda {

bool launches_overlap() { return generation() >= 90; }

Launch::Launch(std::int64_t blocks, int threads, std::size_t shared_bytes, cudaStream_t stream) {
  config_.gridDim = dim3(static_cast<unsigned>(blocks));
  config_.blockDim = dim3(static_cast<unsigned>(threads));
  config_.dynamicSmemBytes = shared_bytes;
  config_.stream = stream;
  config_.attrs = attributes_.data();
}

Launch& Launch::clusters_of(int blocks) {
  add(cudaLaunchAttributeClusterDimension).clusterDim = {static_cast<unsigned>(blocks), 1, 1};
  return *this;
}

Launch& Launch::cooperative() {
  add(cudaLaunchAttributeCooperative).cooperative = 1;
  return *this;
}

Launch& Launch::overlapping(bool allowed) {
  if (allowed && launches_overlap())
    add(cudaLaunchAttributeProgrammaticStreamSerialization).programmaticStreamSerializationAllowed = 1;
  return *this;
}

cudaLaunchAttributeValue& Launch::add(cudaLaunchAttributeID id) {
  cudaLaunchAttribute& attribute = attributes_[config_.numAttrs++];
  attribute.id = id;
  return attribute.val;
}

}  // namespace taskdag::cuda

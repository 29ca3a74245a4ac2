#include <algorithm>
#include <mutex>
#include <set>

#include "backends/cuda/check.hpp"
#include "backends/cuda/generation.hpp"
#include "backends/cuda/memory.hpp"
#include "backends/cuda/stream.hpp"

namespace taskdag::cuda {
namespace {

/// Does nothing: what it was compiled for is what all kernels were, and where it runs others do.
__global__ void trial_kernel() {}

int generation_of(int device) {
  int major = 0;
  int minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "asking what the device can do");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "asking what the device can do");
  cudaFuncAttributes code{};
  check(cudaFuncGetAttributes(&code, trial_kernel), "looking for code for the device");
  return std::min(10 * major + minor, code.ptxVersion);
}

}  // namespace

int generation() {
  thread_local int known_device = -1;
  thread_local int known = 0;
  const int device = current_device();
  if (device != known_device) {
    known = generation_of(device);
    known_device = device;
  }
  return known;
}

void try_device() {
  static std::mutex mutex;
  static std::set<int>& usable = *new std::set<int>;
  const std::lock_guard lock(mutex);
  const int device = current_device();
  if (usable.contains(device)) return;
  const RelaxedCapture relaxed;
  const UniqueStream stream;
  trial_kernel<<<1, 1, 0, stream.get()>>>();
  check_launch("starting a kernel");
  synchronize(stream.get());
  usable.insert(device);
}

}  // namespace taskdag::cuda

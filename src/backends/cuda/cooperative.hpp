/// \file
/// Cooperative launches of kernels that any number of blocks can run.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace taskdag::cuda {

/// Launches `kernel` on one-dimensional blocks, all of which run at once: `most` of them, or half of that and so on,
/// where the stream has a share of the multiprocessors (of a green context). arguments: as for
/// cudaLaunchCooperativeKernel(). what: for the message of an error. Asynchronous. @throws DeviceError
void launch_cooperative(const void* kernel, unsigned most, unsigned threads, void** arguments, std::size_t shared_bytes,
                        cudaStream_t stream, const char* what);

}  // namespace taskdag::cuda

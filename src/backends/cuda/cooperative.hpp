/// \file
/// Cooperative launches, whose blocks all run at the same time.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace taskdag::cuda {

/// Whether a launch was refused since its blocks, all of them or a cluster's, do not run at the same time where its
/// stream may run: on a share of the multiprocessors (of a green context). The refusal is forgotten then.
bool does_not_fit(cudaError_t error);

/// Launches `kernel` on one-dimensional blocks, all of which run at once: `most` of them, or half of that and so on,
/// where they do not fit. arguments: as for cudaLaunchCooperativeKernel(). what: for the message of an error.
/// Asynchronous. @throws DeviceError
void launch_cooperative(const void* kernel, unsigned most, unsigned threads, void** arguments, std::size_t shared_bytes,
                        cudaStream_t stream, const char* what);

}  // namespace taskdag::cuda

/// \file
/// The device memory of libtaskdag, for libtaskdag_papers.
#pragma once

namespace taskdag::cuda {
struct MemoryFunctions;
}

namespace taskdag::kernels {

/// Null in a build without CUDA.
const cuda::MemoryFunctions* own_memory();

}  // namespace taskdag::kernels

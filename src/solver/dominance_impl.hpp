/// \file
/// The CUDA side of the dominance of a diagonal, which throws in a build without CUDA.
#pragma once

#include "taskdag/dominance.hpp"

namespace taskdag::cuda {

DiagonalDominance diagonal_dominance(const Context& context, const CsrView& a, MemorySpace space,
                                     const DominanceLimits& limits, Stream stream);

/// What kernels::host_settling() says.
double settling(const Context& context, const CsrView& a, MemorySpace space, Stream stream);

bool symmetric(const Context& context, const CsrView& a, MemorySpace space, Stream stream);

}  // namespace taskdag::cuda

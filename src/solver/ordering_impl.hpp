/// \file
/// The CUDA side of reverse Cuthill–McKee; in a build without CUDA, cuda_absent.cpp throws.
#pragma once

#include "taskdag/ordering.hpp"

namespace taskdag::cuda {

/// Both spaces may be either; pattern.rows > 0.
void reverse_cuthill_mckee(const Context& context, const CsrPattern& pattern, MemorySpace space, Index* order,
                           MemorySpace order_space, OrderingTimes* times, Stream stream);

}  // namespace taskdag::cuda

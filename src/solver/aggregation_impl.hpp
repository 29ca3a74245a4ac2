/// \file
/// The CUDA side of aggregation, which throws in a build without CUDA.
#pragma once

#include "taskdag/aggregation.hpp"

namespace taskdag::cuda {

/// The pattern has rows and is square; `space`: where it lies.
Aggregation aggregate_rows(const Context& context, const CsrPattern& pattern, MemorySpace space, int distance,
                           Stream stream);

}  // namespace taskdag::cuda

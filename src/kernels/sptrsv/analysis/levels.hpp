/// \file
/// Levels of a triangle's rows, on the device.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/sptrsv/analysis/triangle.hpp"

namespace taskdag::kernels {

/// Levels of the rows, a device array; `levels` their number. Synchronises `stream` (the number is needed).
/// Each warp takes 32 consecutive rows, waits for levels from other warps and settles dependencies between its own rows
/// by shuffles: a hop inside the warp costs nanoseconds, and in a natural order most hops are.
struct RowLevels {
  cuda::ScratchArray<Index> level;
  Index levels = 0;
};
RowLevels compute_levels(const DevicePattern& pattern, const TriangleRanges& ranges, Triangle triangle,
                         cudaStream_t stream);
/// How many levels there are, or `most` (at least 1), if there are more: then the analysis ends early. Synchronises
/// `stream`.
Index count_levels_up_to(const DevicePattern& pattern, const TriangleRanges& ranges, Triangle triangle, Index most,
                         cudaStream_t stream);

}  // namespace taskdag::kernels

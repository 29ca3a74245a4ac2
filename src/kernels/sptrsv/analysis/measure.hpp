/// \file
/// The features of a triangle, measured on the device.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/sptrsv/analysis/features.hpp"
#include "kernels/sptrsv/analysis/levels.hpp"

namespace taskdag::kernels {

/// Passes over the rows, not over their entries. What the cells estimate of themselves is not asked for here.
/// Synchronises `stream`.
TriangleFeatures measure_features(const DevicePattern& pattern, const TriangleRanges& ranges, const RowLevels& levels,
                                  cudaStream_t stream);

/// How many rows each level has. Asynchronous.
cuda::ScratchArray<Index> count_rows_of_levels(const RowLevels& levels, cudaStream_t stream);

}  // namespace taskdag::kernels

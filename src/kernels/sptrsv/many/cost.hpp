/// \file
/// What a sweep over several columns takes.
#pragma once

#include "kernels/sptrsv/analysis/features.hpp"
#include "taskdag/calibration.hpp"

namespace taskdag::kernels::many {

/// Microseconds, fitted on an H200 (docs/schedules.md), too many rather than too few: one pass must not be slower than
/// a loop. A launch, a hop a level that is longer the more entries rows have, a warp's time a row, most of which it
/// waits for what other multiprocessors have left in the cache that they share; one of the two transpositions.
double microseconds(const TriangleFeatures& features, Index count, const DeviceRates& rates);

}  // namespace taskdag::kernels::many

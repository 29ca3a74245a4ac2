/// \file
/// What a solve by the schedule flat takes, by features and the device's rates: fitted on an H200.
#pragma once

#include "kernels/sptrsv/analysis/features.hpp"
#include "taskdag/calibration.hpp"

namespace taskdag::kernels::flat {

/// A launch, a hop between multiprocessors a level, longer where rows have several entries, and entries streamed
/// through, faster where a row's are side by side.
double microseconds(const TriangleFeatures& features, const DeviceRates& rates);

/// Rather too few than too many: a launch, a hop a level, rows and entries streamed through.
double least_microseconds(const TriangleFeatures& features, const DeviceRates& rates);

/// The same of complex numbers.
struct NumbersCost {
  double hops = 0.0;  ///< microseconds of all levels
  double rest = 0.0;
};
NumbersCost cost_of_numbers(const TriangleFeatures& features, const DeviceRates& rates);

}  // namespace taskdag::kernels::flat

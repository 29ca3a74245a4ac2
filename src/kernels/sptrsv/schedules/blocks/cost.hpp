/// \file
/// What a solve by the schedule blocks takes, by features and the device's rates: fitted on an H200.
#pragma once

#include "kernels/sptrsv/analysis/features.hpp"
#include "taskdag/calibration.hpp"

namespace taskdag::kernels::supersteps {

/// A superstep each colour, which hands values from portion to portion, the steps of its portions (a third more than
/// the triangle's levels), rows and entries streamed through.
double blocks_microseconds(const TriangleFeatures& features, Index colours, const DeviceRates& rates);

}  // namespace taskdag::kernels::supersteps

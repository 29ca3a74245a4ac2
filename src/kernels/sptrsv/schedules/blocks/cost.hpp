/// \file
/// What a solve by the schedule blocks takes, by features: fitted on an H200.
#pragma once

#include "kernels/sptrsv/analysis/features.hpp"

namespace taskdag::kernels::supersteps {

/// A superstep each colour, the steps of its portions (a third more than the triangle's levels), rows and entries
/// streamed through.
double blocks_microseconds(const TriangleFeatures& features, Index colours);

}  // namespace taskdag::kernels::supersteps

/// \file
/// The kernels that run cells, by the kind of their steps.
#pragma once

#include "kernels/sptrsv/schedules/cells/run/solve.hpp"

namespace taskdag::kernels::cells {

// Roles by warp: the compute warp, the loader, the fetchers, the feeders.
inline constexpr int kBlock = 24 * kLanes;

using SolveKernel = void (*)(SolveArguments);

SolveKernel kernel_of_one_lane();
/// The kernel whose rows have one over their sum for a result.
SolveKernel kernel_of_reciprocals();
SolveKernel kernel_of_two_lanes();
SolveKernel kernel_of_four_lanes();

}  // namespace taskdag::kernels::cells

/// \file
/// The arithmetic of the size of adaptive tasks. Source: Helal et al. 2019, Eq. (2).
#pragma once

#include "base/index.hpp"

namespace taskdag::kernels {

/// Eq. (2): ratio · T_l / T_u, at least `smallest`, at most `rows`.
Index choose_granularity(Index smallest, double ratio, double launch, double row, Index rows);

/// Not the paper's: S by warps and levels. A task gives each of the `warps` that fit on the device a few rows, so that
/// its last ones are a small part of it, and holds a few levels, so that not every level costs a launch; at most
/// `rows`.
Index granularity_of_levels(Index warps, Index rows, Index levels);

}  // namespace taskdag::kernels

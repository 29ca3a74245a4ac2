/// \file
/// The kernels that run pencils.
#pragma once

#include "kernels/sptrsv/schedules/cells/pencils/solve.hpp"

namespace taskdag::kernels::cells {

inline constexpr int kPencilMovers = 2 * kPencilPlanes;
inline constexpr int kPencilFetchers = 3;
/// The runners, the loader, the fetchers, the movers.
inline constexpr int kPencilWarps = kPencilPlanes + 1 + kPencilFetchers + kPencilMovers;
inline constexpr int kPencilThreads = kPencilWarps * kLanes;

using PencilKernel = void (*)(PencilArguments);

PencilKernel kernel_of_pencils();
/// A row's result is one over its sum.
PencilKernel kernel_of_pencil_reciprocals();

/// Shared memory of a block.
std::size_t pencil_shared_bytes();

}  // namespace taskdag::kernels::cells

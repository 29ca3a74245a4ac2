/// \file
/// The choice of a CUDA schedule from a pattern's features.
#pragma once

#include "kernels/sptrsv/features.hpp"
#include "taskdag/solve_schedule.hpp"

namespace taskdag {

/// What `automatic` stands for. The same features give the same schedule.
SolveSchedule choose_schedule(const kernels::TriangleFeatures& features);

}  // namespace taskdag

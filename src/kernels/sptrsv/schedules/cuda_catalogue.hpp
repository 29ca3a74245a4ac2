/// \file
/// The schedules of CUDA: how each is made and what it expects of itself.
#pragma once

#include <span>

#include "kernels/sptrsv/schedules/catalogue/selection.hpp"

namespace taskdag::kernels {

/// In the order in which they are asked: the cheap ones first.
std::span<const CudaSchedule> cuda_catalogue();

}  // namespace taskdag::kernels

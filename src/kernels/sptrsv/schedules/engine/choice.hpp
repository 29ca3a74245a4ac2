/// \file
/// The schedule engine in the catalogue: see CudaSchedule.
#pragma once

#include <memory>

#include "kernels/sptrsv/schedules/catalogue/selection.hpp"

namespace taskdag::kernels::engine_schedule {

std::unique_ptr<Sweep> make(const SweepInput& input, Selection& selection, int variant);

}  // namespace taskdag::kernels::engine_schedule

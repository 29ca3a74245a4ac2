/// \file
/// The schedule one-block in the catalogue: see CudaSchedule.
#pragma once

#include <memory>

#include "kernels/sptrsv/schedules/catalogue/selection.hpp"

namespace taskdag::kernels::one_block {

std::unique_ptr<Sweep> make(const SweepInput& input, Selection& selection, int variant);

}  // namespace taskdag::kernels::one_block

/// \file
/// The schedule joined-levels in the catalogue: see CudaSchedule.
#pragma once

#include <memory>
#include <optional>

#include "kernels/sptrsv/schedules/catalogue/selection.hpp"

namespace taskdag::kernels::joined {

std::unique_ptr<Sweep> make(const SweepInput& input, Selection& selection, int variant);
std::optional<Expectation> expect(Selection& selection);
double at_least(const Selection& selection);

}  // namespace taskdag::kernels::joined

/// \file
/// The schedule supernodes in the catalogue: see CudaSchedule.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernels/sptrsv/schedules/catalogue/selection.hpp"

namespace taskdag::kernels::supernodes {

std::unique_ptr<Sweep> make(const SweepInput& input, Selection& selection, int variant);
std::optional<Expectation> expect(Selection& selection);
double at_least(const Selection& selection);
std::vector<int> trials(const Selection& selection);

}  // namespace taskdag::kernels::supernodes

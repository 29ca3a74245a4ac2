/// \file
/// The schedule blocks in the catalogue: see CudaSchedule.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernels/sptrsv/schedules/blocks/supersteps.hpp"
#include "kernels/sptrsv/schedules/catalogue/outlook.hpp"

namespace taskdag::kernels::blocks {

std::unique_ptr<Sweep> make(const SweepInput& input, Outlook& outlook, int variant);
std::optional<Expectation> expect(Outlook& outlook);
bool settles(const Outlook& outlook);
double at_least(const Outlook& outlook);
std::vector<int> trials(const Outlook& outlook);

}  // namespace taskdag::kernels::blocks

/// \file
/// The schedule cells in the catalogue: see CudaSchedule. A variant is a number of cells.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernels/sptrsv/schedules/catalogue/outlook.hpp"

namespace taskdag::kernels::cells {

std::unique_ptr<Sweep> make(const SweepInput& input, Outlook& outlook, int variant);
std::optional<Expectation> expect(Outlook& outlook);
double at_least(const Outlook& outlook);
std::vector<int> trials(const Outlook& outlook);

}  // namespace taskdag::kernels::cells

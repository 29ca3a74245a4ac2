/// \file
/// The schedule joined-levels in the catalogue: see CudaSchedule.
#pragma once

#include <memory>
#include <optional>

#include "kernels/sptrsv/schedules/catalogue/outlook.hpp"

namespace taskdag::kernels::joined {

std::unique_ptr<Sweep> make(const SweepInput& input, Outlook& outlook, int variant);
std::optional<Expectation> expect(Outlook& outlook);
double at_least(const Outlook& outlook);

}  // namespace taskdag::kernels::joined

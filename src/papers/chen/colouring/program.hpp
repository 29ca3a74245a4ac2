/// \file
/// Speculative colouring as a program of the task engine (Chen et al. 2022, Atos).
#pragma once

#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/engine/report.hpp"

namespace taskdag::kernels {

/// See Papers::colour.
std::vector<Index> colour_by_tasks(const Context& context, const CsrPattern& graph, engine::Scheduler scheduler);

}  // namespace taskdag::kernels

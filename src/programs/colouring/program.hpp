/// \file
/// Speculative colouring as a program of the task engine.
#pragma once

#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/engine/report.hpp"

namespace taskdag::kernels {

/// A colour for each vertex of a graph, neighbours' different, other ones in each run. Not all numbers up to the
/// largest need to occur. graph: of symmetric structure, in host memory. @throws Error where the program does not
/// finish
std::vector<Index> colour_by_tasks(const Context& context, const CsrPattern& graph, engine::Scheduler scheduler);

}  // namespace taskdag::kernels

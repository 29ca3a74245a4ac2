/// \file
/// Where the time of reverse Cuthill-McKee by tasks goes.
#pragma once

#include <vector>

#include "papers/pichler/rcm/rcm_tasks.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::benchmark {

/// MHive's program under a scheduler with an event per task: where the time of its task types goes (figure 8.2). One
/// call after one that is not looked at. @throws Error where the permutation is not `expected`
kernels::TaskOrderingTimes trace_types(const Context& context, const CsrMatrix& a, const std::vector<Index>& expected,
                                       engine::Scheduler scheduler);

}  // namespace taskdag::benchmark

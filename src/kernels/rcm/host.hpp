/// \file
/// Reverse Cuthill–McKee on host threads.
#pragma once

#include "backends/host/thread_pool.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag::kernels {

/// Writes order[new] = old to an array of a.rows, the same as reverse_cuthill_mckee() of the pattern, on the threads of
/// `pool`. @pre `a` is valid and square. `times`: null, or what to fill in.
void host_reverse_cuthill_mckee(const CsrPattern& a, host::ThreadPool& pool, Index* order, OrderingTimes* times);

}  // namespace taskdag::kernels

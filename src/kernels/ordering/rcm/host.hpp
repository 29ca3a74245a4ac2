/// \file
/// Reverse Cuthill–McKee on host threads.
#pragma once

#include "backends/host/thread_pool.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag::kernels {

/// Neighbours of a level from which all threads walk it together: below, two barriers a level and marks that wander
/// between the processors' caches were measured to cost more than the threads gain.
inline constexpr std::int64_t kNeighboursTogether = 250000;

/// Writes order[new] = old to an array of a.rows, the same as reverse_cuthill_mckee() of the pattern, on the threads of
/// `pool`. @pre `a` is valid and square. `times`: null, or what to fill in.
void host_reverse_cuthill_mckee(const CsrPattern& a, host::ThreadPool& pool, Index* order, OrderingTimes* times,
                                std::int64_t neighbours_together = kNeighboursTogether);

}  // namespace taskdag::kernels

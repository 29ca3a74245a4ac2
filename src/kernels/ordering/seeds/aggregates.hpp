/// \file
/// Aggregates of rows around the rows of a maximal independent set, on host threads.
#pragma once

#include <limits>

#include "kernels/ordering/seeds/seeds.hpp"
#include "taskdag/aggregation.hpp"

namespace taskdag::kernels {

/// A row is no hub, however many neighbours it has: the set is maximal in the whole graph.
inline constexpr EdgeOffset kNoHubs = std::numeric_limits<EdgeOffset>::max();

Aggregation aggregate_around_seeds(const GraphView& graph, int distance, host::ThreadPool& pool);

}  // namespace taskdag::kernels

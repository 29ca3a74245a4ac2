/// \file
/// Aggregates of rows around the rows of a maximal independent set, on CUDA.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/ordering/graph/device_graph.hpp"
#include "taskdag/aggregation.hpp"

namespace taskdag::kernels {

/// As on the host. graph.nodes > 0. Synchronises `stream`.
Aggregation aggregate_around_seeds(const DeviceGraph& graph, int distance, cudaStream_t stream);

}  // namespace taskdag::kernels

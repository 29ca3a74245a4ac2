/// \file
/// Compact blocks of rows on CUDA, by the rules of aggregation.hpp.
#pragma once

#include <cuda_runtime_api.h>

#include "backends/cuda/memory.hpp"
#include "kernels/ordering/colouring/aggregation.hpp"
#include "kernels/ordering/graph/device_graph.hpp"

namespace taskdag::kernels {

struct DeviceAggregation {
  BlockShape shape = BlockShape::grown;
  Index blocks = 0;
  Index block_size = 0;             ///< that was aimed at
  cuda::ScratchArray<Index> block;  ///< by row, 0 … blocks − 1; some may have no row
};

/// Blocks of about `size` > 1 rows. Synchronises `stream`.
DeviceAggregation aggregate(const DeviceGraph& graph, const BlockSize& size, cudaStream_t stream);

}  // namespace taskdag::kernels

/// \file
/// Multicolour and block multicolour orderings on CUDA; rules and results are those of aggregation.hpp and
/// block_colouring.hpp.
#pragma once

#include <cuda_runtime_api.h>

#include "backends/cuda/memory.hpp"
#include "kernels/ordering/colouring/block_colouring.hpp"
#include "kernels/ordering/graph/device_graph.hpp"

namespace taskdag::kernels {

/// All but the order, and the order.
struct DeviceBlockOrdering {
  BlockOrdering blocks;
  cuda::DeviceArray<Index> order;
};

/// For blocks of more than one row. What the host does is small: the graph of the blocks and its colours.
/// Synchronises `stream`.
DeviceBlockOrdering order_by_blocks(const DeviceGraph& graph, const BlockSize& size, cudaStream_t stream);

/// Synchronises `stream`.
DeviceBlockOrdering order_by_points(const DeviceGraph& graph, cudaStream_t stream);

}  // namespace taskdag::kernels

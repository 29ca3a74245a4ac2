/// \file
/// The CUDA side of the block orderings, which throws in a build without CUDA.
#pragma once

#include "kernels/ordering/colouring/grid.hpp"
#include "taskdag/block_ordering.hpp"

namespace taskdag {

/// The form `speculative`, on either backend. @pre the pattern has been checked, pattern.rows > 0
BlockOrdering speculative_multicolour(const Context& context, const CsrPattern& pattern, MemorySpace space,
                                      engine::Scheduler scheduler, Stream stream);

}  // namespace taskdag

namespace taskdag::cuda {

/// Of size 1: points. The pattern has rows and is square; `space`: where it lies. keep: the order on the device.
BlockOrdering order_blocks(const Context& context, const CsrPattern& pattern, MemorySpace space,
                           const kernels::BlockSize& size, bool keep, Stream stream);

Index dependency_levels(const Context& context, const CsrPattern& pattern, MemorySpace space, Triangle triangle,
                        Stream stream, Index most);

/// Whether the device can run the schedule `cells`.
bool runs_in_order(const Context& context, const CsrPattern& pattern, MemorySpace space, Stream stream);

}  // namespace taskdag::cuda

/// \file
/// The CUDA side of the block orderings, which throws in a build without CUDA; the check of their offsets.
#pragma once

#include "taskdag/block_ordering.hpp"

namespace taskdag {

/// What of the offsets is not as the contract of RowBlocks says, in words; the couplings are not looked at.
std::optional<std::string> find_shape_fault(const RowBlocks& blocks, Index rows);

}  // namespace taskdag

namespace taskdag::cuda {

/// block_size 1: points. The pattern has rows and is square; `space`: where it lies.
BlockOrdering order_blocks(const Context& context, const CsrPattern& pattern, MemorySpace space, Index block_size,
                           Stream stream);

Index dependency_levels(const Context& context, const CsrPattern& pattern, MemorySpace space, Triangle triangle,
                        Stream stream);

}  // namespace taskdag::cuda

/// \file
/// The CUDA side of reverse Cuthill–McKee; in a build without CUDA, cuda_absent.cpp throws.
#pragma once

#include <vector>

#include "taskdag/ordering.hpp"

namespace taskdag {

/// The form `tasks`, on either backend. @pre the pattern has been checked, pattern.rows > 0
void order_by_tasks(const Context& context, const CsrPattern& pattern, MemorySpace space, Index* order,
                    MemorySpace order_space, const OrderingOptions& options, OrderingTimes& times, Stream stream);

}  // namespace taskdag

namespace taskdag::cuda {

/// A pattern's arrays in host memory.
struct FetchedPattern {
  std::vector<Offset> offsets;
  std::vector<Index> columns;
};
FetchedPattern fetch_pattern(const Context& context, const CsrPattern& pattern, Stream stream);
/// Copies an order to device memory. Synchronous.
void store_order(const Context& context, const std::vector<Index>& from, Index* to, Stream stream);

/// Both spaces may be either; pattern.rows > 0.
void reverse_cuthill_mckee(const Context& context, const CsrPattern& pattern, MemorySpace space, Index* order,
                           MemorySpace order_space, OrderingTimes* times, Stream stream);

}  // namespace taskdag::cuda

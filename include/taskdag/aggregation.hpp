/// \file
/// Aggregates of rows, of which algebraic multigrid makes the rows of its next level.
#pragma once

#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/export.hpp"

namespace taskdag {

struct AggregationOptions {
  /// No root can be reached from another one by so many couplings; 1 or more. An aggregate has the rows that are near
  /// its root: 2 is what smoothed aggregation takes, on a grid the root, its neighbours and some beside them.
  int distance = 2;
};

struct Aggregation {
  std::vector<Index> aggregate;  ///< by row, 0 … count() − 1; −1: the row is coupled to no other, and in none
  std::vector<Index> roots;      ///< by aggregate, ascending

  [[nodiscard]] Index count() const { return static_cast<Index>(roots.size()); }
};

/// Aggregates of the graph of A + Aᵀ, on the context's backend: roots are a maximal independent set of the distance, in
/// which a row with a larger hash of its index goes before others, and every row that is coupled to another one is at
/// most so far from the root of its aggregate. It joins the aggregate of most of its neighbours that have one, those
/// nearer to roots before others. Each aggregate is connected.
///
/// The result depends on the pattern and the options alone: neither on the number of threads, nor on the backend.
/// `pattern` lies in `space`; one in device memory is not copied to the host. The result is in host memory.
/// Synchronises `stream`.
/// @throws InvalidInput unless the pattern is square and valid (one in device memory is trusted to be), for a distance
///         below 1, for device memory on the host backend; DeviceError, OutOfMemory
/// Source: Bell, Dalton & Olson 2012, doi:10.1137/110838844.
TASKDAG_API Aggregation aggregate_rows(const Context& context, const CsrPattern& pattern, MemorySpace space,
                                       const AggregationOptions& options = {}, Stream stream = {});

}  // namespace taskdag

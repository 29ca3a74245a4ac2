/// \file
/// Orderings of square patterns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/export.hpp"

namespace taskdag {

/// Bandwidth and profile of a pattern under an ordering (MHive, definition 8.1).
struct OrderingQuality {
  Index bandwidth = 0;       ///< max |i − j| over the entries
  std::int64_t profile = 0;  ///< sum over the rows of i − (smallest column <= i)
};

/// Reverse Cuthill–McKee ordering of the graph of A + Aᵀ, serial.
///
/// Each connected component, taken in the order of its smallest row, starts at a pseudo-peripheral node found from
/// that component's row of least degree (George & Liu 1979: repeat a breadth-first search from a node of least degree
/// in the last level until the eccentricity stops growing). Neighbours are visited by ascending degree, ties by
/// ascending index; the whole sequence is reversed at the end.
/// @returns order with order[new] = old. @throws InvalidInput unless the pattern is square and valid.
/// Source: Cuthill & McKee 1969; George & Liu 1979, doi:10.1145/355841.355845; MHive, chapter 7.3.
TASKDAG_API std::vector<Index> reverse_cuthill_mckee(const CsrPattern& pattern);

/// Where the time of an ordering went, in seconds.
struct OrderingTimes {
  double graph = 0.0;     ///< the graph of A + Aᵀ, with the copy of a pattern that the backend has to move
  double search = 0.0;    ///< start nodes: every breadth-first search that is not the last one of its component
  double ordering = 0.0;  ///< the rest; a component's last search is its ordering at the same time
  /// CUDA: the graph has so few nodes a level that one host thread is faster; the pattern went there.
  bool handed_to_host = false;
};

/// The same ordering on the backend of `context`: equal to the serial one, entry by entry, for every pattern.
///
/// `pattern` is in `space`; in device memory (CUDA backend only) it is read where it is, columns must be in range and
/// ascend, and that is not checked. `order`, an array of pattern.rows in `order_space`, receives order[new] = old.
/// `times`, unless null, is filled in. Synchronous: `order` is complete on return.
/// @throws InvalidInput unless the pattern is square and, in host memory, valid; for device memory on the host backend
/// @throws OutOfMemory, DeviceError
TASKDAG_API void reverse_cuthill_mckee(const Context& context, const CsrPattern& pattern, MemorySpace space,
                                       Index* order, MemorySpace order_space, OrderingTimes* times = nullptr,
                                       Stream stream = {});

/// The same, to a vector in host memory.
TASKDAG_API std::vector<Index> reverse_cuthill_mckee(const Context& context, const CsrPattern& pattern,
                                                     MemorySpace space = MemorySpace::host,
                                                     OrderingTimes* times = nullptr, Stream stream = {});

/// Bandwidth and profile of `pattern` renumbered by order[new] = old (empty: as it is).
TASKDAG_API OrderingQuality ordering_quality(const CsrPattern& pattern, std::span<const Index> order = {});

/// inverse[order[p]] = p. @throws InvalidInput if `order` is not a permutation of 0 … n−1.
TASKDAG_API std::vector<Index> invert_permutation(std::span<const Index> order);

}  // namespace taskdag

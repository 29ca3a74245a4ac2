/// \file
/// Orderings of square patterns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

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

/// Bandwidth and profile of `pattern` renumbered by order[new] = old (empty: as it is).
TASKDAG_API OrderingQuality ordering_quality(const CsrPattern& pattern, std::span<const Index> order = {});

/// inverse[order[p]] = p. @throws InvalidInput if `order` is not a permutation of 0 … n−1.
TASKDAG_API std::vector<Index> invert_permutation(std::span<const Index> order);

}  // namespace taskdag

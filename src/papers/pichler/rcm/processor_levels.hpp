/// \file
/// The levels of one component made by the calling thread (MHive, section 7.3.3).
#pragma once

#include <vector>

#include "kernels/ordering/graph/adjacency.hpp"
#include "papers/pichler/rcm/sort/library_sort.hpp"

namespace taskdag::kernels::rcm_tasks {

/// Appends the component of `start` to `order`, each level sorted by `sorter`. Only the sort may be a GPU's.
/// @param placed by node: 1 for those in `order` @param degree_bits that hold any degree
/// @returns the number of levels
std::uint32_t append_levels(const GraphView& graph, Index start, unsigned degree_bits, LibrarySort& sorter,
                            std::vector<char>& placed, std::vector<Index>& order);

}  // namespace taskdag::kernels::rcm_tasks

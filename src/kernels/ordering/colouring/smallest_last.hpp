/// \file
/// An order of vertices in which first fit needs few colours.
#pragma once

#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// order[position] = vertex: reversed, it takes away a vertex with the fewest neighbours that remain, again and
/// again. So no vertex has more neighbours before it than some subgraph has at each of its vertices, and first fit
/// needs one colour more than that at most (Matula & Beck 1983). `graph` is square with symmetric structure; no vertex
/// has an entry on the diagonal, or each has. Serial, linear in rows and entries (buckets by degree: Batagelj &
/// Zaveršnik 2003), the same for the same graph.
std::vector<Index> smallest_last_order(const CsrPattern& graph);

}  // namespace taskdag::kernels

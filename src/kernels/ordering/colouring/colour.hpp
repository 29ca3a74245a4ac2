/// \file
/// Deterministic colouring of graphs: neighbours get different colours, and the result depends on the graph and the
/// options alone, not on the backend or the number of threads.
///
/// Vertices stand in an order; each takes the least colour that no neighbour before it has (first fit). That makes the
/// result the serial one, whatever runs side by side. A vertex waits only for its neighbours that come before it, so
/// orders by a hash have short chains (Jones & Plassmann 1993, doi:10.1137/0914041).
#pragma once

#include <cstdint>
#include <vector>

#include "backends/host/thread_pool.hpp"
#include "base/macros.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

enum class ColourOrder {
  natural,  ///< by index: fewest colours on grids and other orderly graphs; the longest chains
  hashed,   ///< by a hash of the index: the shortest chains
  degree,   ///< by descending degree, ties by the hash (largest degree first; Welsh & Powell 1967)
};

struct ColourOptions {
  ColourOrder order = ColourOrder::degree;
  std::uint32_t seed = 0;  ///< of the hash
  /// Rounds that colour all vertices anew, class by class, the last colour first: never more colours than before, often
  /// fewer (Culberson 1992, iterated greedy). Each costs about as much as the first colouring.
  int improvements = 1;
};

struct Colouring {
  std::vector<Index> colour;  ///< by vertex, 0 … colours − 1; each of them occurs
  Index colours = 0;
};

/// Bijective: no two indices have the same.
TASKDAG_HD std::uint32_t colour_hash(std::uint32_t index, std::uint32_t seed) {
  std::uint32_t h = index ^ (seed * 0x9E3779B9U);
  h ^= h >> 16U;
  h *= 0x85EBCA6BU;
  h ^= h >> 13U;
  h *= 0xC2B2AE35U;
  h ^= h >> 16U;
  return h;
}

/// Sorting vertices by this, ascending, gives the order (there are no ties). `degree`: entries of the row.
TASKDAG_HD std::uint64_t colour_key(const ColourOptions& options, Index vertex, Offset degree) {
  const auto index = static_cast<std::uint32_t>(vertex);
  if (options.order == ColourOrder::natural) return index;
  const std::uint64_t hash = colour_hash(index, options.seed);
  if (options.order == ColourOrder::hashed) return hash;
  return (std::uint64_t{0x7FFFFFFFU - static_cast<std::uint32_t>(degree)} << 32U) | hash;
}

/// Serial: the oracle. @pre in all functions: `graph` is square with symmetric structure. Entries on the diagonal are
/// no edges (they count for the degree).
Colouring reference_colour(const CsrPattern& graph, const ColourOptions& options = {});

/// First fit in a given order of the vertices, order[position] = vertex; serial.
Colouring colour_in_order(const CsrPattern& graph, const std::vector<Index>& order);

/// As reference_colour(), on host threads.
Colouring colour_graph(const CsrPattern& graph, const ColourOptions& options, host::ThreadPool& pool);

/// Vertices sorted by colour, inside a colour by index: order[new] = old. first: colours + 1 offsets into it.
struct ColourClasses {
  std::vector<Index> order;
  std::vector<Index> first;
};
ColourClasses colour_classes(const Colouring& colouring);

/// Number of edges with both ends of one colour, loops left out; each edge counts at both ends. 0: valid.
std::int64_t colour_conflicts(const CsrPattern& graph, const std::vector<Index>& colour);

}  // namespace taskdag::kernels

/// \file
/// A study: reverse Cuthill–McKee with several candidates in the search of the start node (MHive, algorithm 7.2).
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ordering/graph/adjacency.hpp"

namespace taskdag::benchmark {

/// Which nodes of a search's last level are candidates.
enum class Pick {
  least,    ///< those of least degree, equal ones by index
  degrees,  ///< one of each degree, the least index of it, by ascending degree (the thesis' source, Kumfert 2000)
};

/// Where the ordering begins, once no candidate is deeper than the start of the search that they were found by.
enum class Begin {
  first,      ///< at the first candidate
  narrowest,  ///< at the candidate, or the start, whose widest level is least; of equal ones the first, start last
  least_bandwidth,  ///< at the one whose ordering has least bandwidth; the same of equal ones. Orders from all of them
};

const char* to_string(Pick pick);
const char* to_string(Begin begin);

struct StartRule {
  Index candidates = 1;  ///< at most so many of a last level, at least one
  Pick pick = Pick::least;
  Begin begin = Begin::first;
};

/// What was done for it. The product's own search takes as many searches as one candidate does with Begin::first.
struct StartCounts {
  std::int64_t searches = 0;   ///< breadth-first searches, of all components with neighbours
  std::int64_t levels = 0;     ///< of these searches
  std::int64_t visits = 0;     ///< nodes that they visit
  std::int64_t orderings = 0;  ///< Cuthill–McKee orderings, of all components with neighbours
  std::int64_t depth = 0;      ///< eccentricities of the nodes where orderings begin, summed up
};

/// As reverse_cuthill_mckee(), components and ties included, but for the start node. One candidate, Begin::first: the
/// same permutation. A candidate that is deeper than the start becomes the start at once, as in the thesis.
/// @pre rule.candidates >= 1. @returns order[new] = old
std::vector<Index> order_from_candidates(const kernels::GraphView& graph, const StartRule& rule, StartCounts& counts);

}  // namespace taskdag::benchmark

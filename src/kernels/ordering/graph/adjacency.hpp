/// \file
/// The graph that an ordering looks at: A + Aᵀ without the diagonal. The device's form is in device_graph.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "base/macros.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::host {
class ThreadPool;
}

namespace taskdag::kernels {

/// Index into a list of neighbours. 64 bits: the graph has up to twice as many entries as A.
using EdgeOffset = std::int64_t;

/// An undirected graph in memory that it does not own, of either space: node i's neighbours are
/// [offsets[i], offsets[i+1]); they ascend, do not repeat and do not hold i; j is among i's if i is among j's.
struct GraphView {
  Index nodes = 0;
  const EdgeOffset* offsets = nullptr;  ///< nodes + 1
  const Index* neighbours = nullptr;

  [[nodiscard]] TASKDAG_HD EdgeOffset begin(Index node) const { return offsets[node]; }
  [[nodiscard]] TASKDAG_HD EdgeOffset end(Index node) const { return offsets[node + 1]; }
  [[nodiscard]] TASKDAG_HD Index degree(Index node) const { return static_cast<Index>(end(node) - begin(node)); }
};

/// Owns such a graph in host memory.
struct HostGraph {
  Index nodes = 0;
  std::vector<EdgeOffset> offsets = {0};
  std::vector<Index> neighbours;

  [[nodiscard]] GraphView view() const { return {nodes, offsets.data(), neighbours.data()}; }
};

/// The graph of A + Aᵀ on the threads of `pool`. @pre `a` is valid and square.
HostGraph symmetrised_graph(const CsrPattern& a, host::ThreadPool& pool);

/// Fills degree[i] with the number of entries in row i that are not on the diagonal: in one pass over the entries,
/// which ends early where the pattern is not symmetric. @pre `a` is valid and square, `degree` has a.rows.
/// @returns whether every entry (i, j) has a partner (j, i), so that these are the degrees of the graph
bool find_degrees(const CsrPattern& a, host::ThreadPool& pool, std::vector<Index>& degree);

/// Whether every entry (i, j) of `a` has a partner (j, i). @pre `a` is valid and square.
bool has_symmetric_pattern(const CsrPattern& a, host::ThreadPool& pool);

}  // namespace taskdag::kernels

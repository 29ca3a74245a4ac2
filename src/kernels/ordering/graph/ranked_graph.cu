#include <bit>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/scan.hpp"
#include "backends/cuda/sort.hpp"
#include "base/index.hpp"
#include "kernels/ordering/graph/ranked_graph.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::ScratchArray;

__global__ void degrees_and_nodes(GraphView graph, Index* degree, Index* node) {
  const auto i = static_cast<Index>(element());
  if (i >= graph.nodes) return;
  degree[i] = graph.degree(i);
  node[i] = i;
}

/// The sum over nodes + 1 degrees ends with their total.
__global__ void widen(Index nodes, const Index* degree, EdgeOffset* wide) {
  const auto i = static_cast<Index>(element());
  if (i <= nodes) wide[i] = i < nodes ? degree[i] : 0;
}

struct Summary {
  Index most_neighbours;
  Index isolated;
};

__global__ void invert_and_summarise(Index nodes, const Index* node_of, const Index* degree, Index* rank_of,
                                     Summary* summary) {
  const auto r = static_cast<Index>(element());
  if (r >= nodes) return;
  rank_of[node_of[r]] = r;
  if (r == nodes - 1) {
    summary->most_neighbours = degree[r];
    summary->isolated = cuda::first_not_below(degree, 0, nodes, 1);
  }
}

/// One warp a node. It only stores.
__global__ void nodes_of_entries(GraphView graph, Index* node_of_entry) {
  const auto i = static_cast<Index>(element() / 32);
  if (i >= graph.nodes) return;
  for (EdgeOffset e = graph.begin(i) + threadIdx.x % 32; e < graph.end(i); e += 32) node_of_entry[e] = i;
}

/// Lists every edge from its end of lower rank: grouped by `from`, ranks ascending.
__global__ void ranked_entries(EdgeOffset entries, GraphView graph, const Index* node_of_entry, const Index* rank_of,
                               const EdgeOffset* ranked_offsets, Index* from, Index* to) {
  const EdgeOffset e = element();
  if (e >= entries) return;
  const Index node = node_of_entry[e];
  const Index rank = rank_of[node];
  const EdgeOffset index = ranked_offsets[rank] + (e - graph.begin(node));
  from[index] = rank;
  to[index] = rank_of[graph.neighbours[e]];
}

}  // namespace

RankedGraph rank_by_degree(const DeviceGraph& graph, cudaStream_t stream) {
  const Index nodes = graph.nodes;
  const GraphView view = graph.view();
  const int bits = std::bit_width(static_cast<std::uint32_t>(nodes));
  const auto entries = static_cast<std::size_t>(graph.entries);
  const ScratchArray<Index> degree(at(nodes), stream);
  const ScratchArray<Index> node(at(nodes), stream);
  const ScratchArray<Index> sorted_degree(at(nodes), stream);
  const ScratchArray<Index> rank_of(at(nodes), stream);
  const ScratchArray<Summary> summary(1, stream);
  ScratchArray<Index> node_of(at(nodes), stream);
  ScratchArray<EdgeOffset> offsets(at(nodes) + 1, stream);

  degrees_and_nodes<<<element_blocks(nodes), kElementBlock, 0, stream>>>(view, degree.data(), node.data());
  cuda::check_launch("degrees_and_nodes");
  cuda::sort_pairs(degree.data(), sorted_degree.data(), node.data(), node_of.data(), nodes, bits, stream);
  const ScratchArray<EdgeOffset> wide(at(nodes) + 1, stream);
  widen<<<element_blocks(std::int64_t{nodes} + 1), kElementBlock, 0, stream>>>(nodes, sorted_degree.data(),
                                                                               wide.data());
  cuda::check_launch("widen");
  cuda::exclusive_sum(wide.data(), offsets.data(), std::int64_t{nodes} + 1, stream);
  invert_and_summarise<<<element_blocks(nodes), kElementBlock, 0, stream>>>(nodes, node_of.data(), sorted_degree.data(),
                                                                            rank_of.data(), summary.data());
  cuda::check_launch("invert_and_summarise");

  // A stable sort of the edges by their other end: there, the ends from which they were listed ascend.
  ScratchArray<Index> rank_of_entry(entries, stream);
  ScratchArray<Index> neighbours(entries, stream);
  if (entries > 0) {
    const ScratchArray<Index> from(entries, stream);
    const ScratchArray<Index> to(entries, stream);
    nodes_of_entries<<<element_blocks(std::int64_t{nodes} * 32), kElementBlock, 0, stream>>>(view,
                                                                                             rank_of_entry.data());
    cuda::check_launch("nodes_of_entries");
    ranked_entries<<<element_blocks(graph.entries), kElementBlock, 0, stream>>>(
        graph.entries, view, rank_of_entry.data(), rank_of.data(), offsets.data(), from.data(), to.data());
    cuda::check_launch("ranked_entries");
    cuda::sort_pairs(to.data(), rank_of_entry.data(), from.data(), neighbours.data(), graph.entries, bits, stream);
  }
  const Summary found = cuda::fetch(summary.data(), stream);
  return {{nodes, graph.entries, std::move(offsets), std::move(neighbours)},
          std::move(node_of),
          std::move(rank_of_entry),
          found.most_neighbours,
          found.isolated};
}

}  // namespace taskdag::kernels

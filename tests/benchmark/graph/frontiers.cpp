#include "frontiers.hpp"

#include <algorithm>
#include <cstdio>

#include "../rows.hpp"
#include "machine.hpp"

namespace taskdag::benchmark {
namespace {

Offset degree(const CsrPattern& graph, Index v) { return graph.row_offsets[v + 1] - graph.row_offsets[v]; }

Frontier frontier_of(const CsrPattern& graph, const std::vector<Index>& vertices) {
  Frontier frontier{static_cast<Index>(vertices.size()), 0};
  for (const Index v : vertices) frontier.edges += degree(graph, v);
  return frontier;
}

template <class Value>
Value median(std::vector<Value> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::vector<Frontier> bfs_frontiers(const CsrPattern& graph, Index source) {
  std::vector<bool> seen(static_cast<std::size_t>(graph.rows), false);
  std::vector<Index> current = {source};
  seen[static_cast<std::size_t>(source)] = true;
  std::vector<Frontier> frontiers;
  while (!current.empty()) {
    frontiers.push_back(frontier_of(graph, current));
    std::vector<Index> next;
    for (const Index v : current) {
      for (Offset e = graph.row_offsets[v]; e < graph.row_offsets[v + 1]; ++e) {
        const Index u = graph.col_indices[e];
        if (seen[static_cast<std::size_t>(u)]) continue;
        seen[static_cast<std::size_t>(u)] = true;
        next.push_back(u);
      }
    }
    current = std::move(next);
  }
  return frontiers;
}

std::vector<Frontier> pagerank_frontiers(const CsrPattern& graph, const graph::PagerankOptions& options) {
  const auto size = static_cast<std::size_t>(graph.rows);
  std::vector<float> residue(size, 1.0F - options.damping);
  std::vector<float> share(size, 0.0F);
  std::vector<Frontier> frontiers;
  for (;;) {
    std::vector<Index> current;
    for (Index v = 0; v < graph.rows; ++v) {
      float& own = residue[static_cast<std::size_t>(v)];
      if (own <= options.threshold) continue;
      share[static_cast<std::size_t>(v)] = own * options.damping / static_cast<float>(degree(graph, v));
      own = 0.0F;
      current.push_back(v);
    }
    if (current.empty()) return frontiers;
    frontiers.push_back(frontier_of(graph, current));
    for (const Index v : current) {
      for (Offset e = graph.row_offsets[v]; e < graph.row_offsets[v + 1]; ++e) {
        residue[static_cast<std::size_t>(graph.col_indices[e])] += share[static_cast<std::size_t>(v)];
      }
    }
  }
}

FrontierSummary summarise(const std::vector<Frontier>& frontiers, Offset lanes) {
  FrontierSummary summary;
  summary.iterations = static_cast<Index>(frontiers.size());
  std::vector<Index> vertices;
  std::vector<Offset> edges;
  for (const Frontier& frontier : frontiers) {
    vertices.push_back(frontier.vertices);
    edges.push_back(frontier.edges);
    summary.edges += frontier.edges;
    if (frontier.edges >= lanes) continue;
    ++summary.small;
    summary.small_edges += frontier.edges;
  }
  summary.median_vertices = median(std::move(vertices));
  summary.median_edges = median(std::move(edges));
  return summary;
}

void write_frontiers(const std::vector<GraphCase>& graphs, Offset lanes, const std::string& csv) {
  Rows rows(csv, "", {"algorithm", "graph"}, false,
            describe_graph_machine(Context::create({.backend = Backend::host, .threads = 1})));
  for (const GraphCase& graph : graphs) {
    const CsrMatrix matrix = graph.make();
    const CsrPattern pattern = matrix.pattern();
    const Index hub = busiest_vertex(matrix);
    for (const bool search : {true, false}) {
      const FrontierSummary summary =
          summarise(search ? bfs_frontiers(pattern, hub) : pagerank_frontiers(pattern, {}), lanes);
      const char* const algorithm = search ? "bfs" : "pagerank";
      rows.add({{"algorithm", algorithm},
                {"graph", graph.name},
                {"class", graph.kind},
                {"vertices", matrix.rows},
                {"edges", matrix.entries()},
                {"largest_degree", degree(pattern, hub)},
                {"iterations", summary.iterations},
                {"median_vertices", summary.median_vertices},
                {"median_edges", summary.median_edges},
                {"lanes", lanes},
                {"small_iterations", summary.small},
                {"small_edges", summary.small_edges},
                {"all_edges", summary.edges}});
      std::printf("%s, %s: %d iterations, %d with fewer than %lld edges\n", graph.name.c_str(), algorithm,
                  summary.iterations, summary.small, static_cast<long long>(lanes));
    }
  }
}

}  // namespace taskdag::benchmark

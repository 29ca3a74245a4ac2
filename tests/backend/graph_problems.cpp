#include "graph_problems.hpp"

#include <algorithm>

#include "taskdag/generators.hpp"

namespace taskdag::test {
namespace {

using Edges = std::vector<std::pair<Index, Index>>;

Edges path(Index first, Index last) {
  Edges edges;
  for (Index v = first; v < last; ++v) edges.emplace_back(v, v + 1);
  return edges;
}

Edges complete(Index first, Index last) {
  Edges edges;
  for (Index u = first; u <= last; ++u) {
    for (Index v = u + 1; v <= last; ++v) edges.emplace_back(u, v);
  }
  return edges;
}

Edges star(Index centre, Index first, Index last) {
  Edges edges;
  for (Index v = first; v <= last; ++v) edges.emplace_back(centre, v);
  return edges;
}

/// Components of different kinds, their vertices far from each other, and vertices without edges between them.
CsrMatrix islands() {
  Edges edges = path(10, 400);
  for (const auto& more : {complete(500, 569), star(5, 600, 1200)}) edges.insert(edges.end(), more.begin(), more.end());
  return graph_of(1300, edges);
}

}  // namespace

CsrMatrix graph_of(Index vertices, const std::vector<std::pair<Index, Index>>& edges) {
  std::vector<std::vector<Index>> rows(static_cast<std::size_t>(vertices));
  for (const auto& [u, v] : edges) {
    rows.data()[u].push_back(v);
    rows.data()[v].push_back(u);
  }
  CsrMatrix graph;
  graph.rows = vertices;
  graph.cols = vertices;
  for (std::vector<Index>& row : rows) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    graph.col_indices.insert(graph.col_indices.end(), row.begin(), row.end());
    graph.row_offsets.push_back(static_cast<Offset>(graph.col_indices.size()));
  }
  graph.values.assign(graph.col_indices.size(), 1.0);
  return graph;
}

std::vector<GraphProblem> graph_problems() {
  return {{"no edge", graph_of(40, {})},
          {"one vertex", graph_of(1, {})},
          {"one loop", {1, 1, {0, 1}, {0}, {1.0}}},
          {"path", graph_of(700, path(0, 699))},
          {"star", graph_of(3000, star(1234, 0, 1233))},
          {"complete", graph_of(150, complete(0, 149))},
          {"islands", islands()},
          {"five-point", make_stencil({.stencil = Stencil::five_point, .nx = 47, .ny = 31})},
          {"seven-point", make_stencil({.stencil = Stencil::seven_point, .nx = 13, .ny = 12, .nz = 11})},
          {"27-point", make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 9, .ny = 8, .nz = 7})},
          {"scale-free", make_rmat({.scale = 11, .edges_per_vertex = 8, .seed = 3})}};
}

}  // namespace taskdag::test

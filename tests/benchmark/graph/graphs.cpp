#include "graphs.hpp"

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <random>

#include "../matrix_files.hpp"
#include "taskdag/error.hpp"
#include "taskdag/generators.hpp"
#include "taskdag/io/matrix_market.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag::benchmark {
namespace {

CsrMatrix grid(Stencil stencil, Index edge) {
  const bool flat = stencil == Stencil::five_point;
  return make_stencil({.stencil = stencil, .nx = edge, .ny = edge, .nz = flat ? 1 : edge});
}

/// order[new] = old
std::vector<Index> random_order(Index size) {
  std::vector<Index> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(2022);  // and no distribution of the library's: those differ
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

std::vector<Index> order_of(const CsrMatrix& graph, const std::string& name) {
  if (name == "random") return random_order(graph.rows);
  if (name == "rcm") return reverse_cuthill_mckee(graph.pattern());
  throw InvalidInput("no order is called " + name);
}

}  // namespace

std::vector<GraphCase> list_graphs() {
  std::vector<GraphCase> graphs = {
      {"5-point 1000^2", "mesh", [] { return grid(Stencil::five_point, 1000); }},
      {"7-point 100^3", "mesh", [] { return grid(Stencil::seven_point, 100); }},
      {"R-MAT 16", "scale-free", [] { return make_rmat({.scale = 16}); }},
      {"R-MAT 18", "scale-free", [] { return make_rmat({.scale = 18}); }},
      {"roads 900^2", "mesh", [] { return make_roads(900); }, true},
      {"roads 3100^2", "mesh", [] { return make_roads(3100); }, true},
      {"R-MAT 20", "scale-free", [] { return make_rmat({.scale = 20}); }, true},
      {"R-MAT 21", "scale-free", [] { return make_rmat({.scale = 21}); }, true},
  };
  struct File {
    const char* name;
    const char* kind;
    bool large = false;  ///< the paper's graphs that are symmetric
  };
  for (const auto& [name, kind, large] :
       {File{"luxembourg_osm", "mesh"}, File{"delaunay_n16", "mesh"}, File{"rgg_n_2_15_s0", "mesh"},
        File{"ca-CondMat", "scale-free"}, File{"hollywood-2009", "scale-free", true}, File{"road_usa", "mesh", true},
        File{"roadNet-CA", "mesh", true}}) {
    const auto path = find_matrix_file(name);
    if (path) graphs.push_back({name, kind, [path] { return read_matrix_market(*path); }, large});
  }
  graphs.push_back({"5-point 60^2", "smoke", [] { return grid(Stencil::five_point, 60); }});
  graphs.push_back({"R-MAT 11", "smoke", [] { return make_rmat({.scale = 11}); }});
  return graphs;
}

CsrMatrix make_roads(Index edge) {
  if (edge < 1 || edge > 13000) throw InvalidInput("roads have 1 to 13,000 junctions a side");
  const Index junctions = edge * edge;
  // SplitMix64's mixing of a road's number: the same roads on every machine.
  const auto there = [](std::uint64_t road) {
    std::uint64_t z = (road + 1) * 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return (z ^ (z >> 31U)) % 4 != 0;
  };
  const auto right = [&](Index j) { return j % edge + 1 < edge && there(2 * static_cast<std::uint64_t>(j)); };
  const auto down = [&](Index j) { return j + edge < junctions && there(2 * static_cast<std::uint64_t>(j) + 1); };
  // A junction is followed by the vertices on its ways to the right and down.
  std::vector<Index> name(static_cast<std::size_t>(junctions) + 1, 0);
  for (Index j = 0; j < junctions; ++j)
    name.data()[j + 1] = name.data()[j] + 1 + (right(j) ? 1 : 0) + (down(j) ? 1 : 0);

  CsrMatrix graph;
  graph.rows = graph.cols = name.data()[junctions];
  graph.row_offsets.reserve(static_cast<std::size_t>(graph.rows) + 1);
  graph.col_indices.reserve(4 * (static_cast<std::size_t>(graph.rows) - static_cast<std::size_t>(junctions)));
  const auto row = [&graph](std::initializer_list<Index> neighbours) {
    for (const Index u : neighbours) {
      if (u >= 0) graph.col_indices.push_back(u);
    }
    graph.row_offsets.push_back(static_cast<Offset>(graph.col_indices.size()));
  };
  for (Index j = 0; j < junctions; ++j) {
    const Index own = name.data()[j];
    const bool from_above = j >= edge && down(j - edge);
    const bool from_left = j % edge > 0 && right(j - 1);
    // A vertex on the way down is its junction's last.
    row({from_above ? name.data()[j - edge + 1] - 1 : -1, from_left ? name.data()[j - 1] + 1 : -1,
         right(j) || down(j) ? own + 1 : -1, right(j) && down(j) ? own + 2 : -1});
    if (right(j)) row({own, name.data()[j + 1]});
    if (down(j)) row({own, name.data()[j + edge]});
  }
  return graph;
}

Index busiest_vertex(const CsrMatrix& graph) {
  Index busiest = 0;
  const auto degree = [&](Index v) { return graph.row_offsets.data()[v + 1] - graph.row_offsets.data()[v]; };
  for (Index v = 0; v < graph.rows; ++v) {
    if (degree(v) > degree(busiest)) busiest = v;
  }
  return busiest;
}

const std::vector<std::string>& list_orders() {
  static const std::vector<std::string> names = {"random", "rcm"};
  return names;
}

CsrMatrix renumbered(const CsrMatrix& graph, const std::string& order) {
  const std::vector<Index> old = order_of(graph, order);
  std::vector<Index> place(old.size());
  for (Index v = 0; v < graph.rows; ++v) place.data()[old.data()[v]] = v;
  CsrMatrix result;
  result.rows = graph.rows;
  result.cols = graph.cols;
  result.row_offsets.reserve(graph.row_offsets.size());
  result.col_indices.reserve(graph.col_indices.size());
  for (const Index v : old) {
    const auto begin = static_cast<std::ptrdiff_t>(result.col_indices.size());
    for (Offset e = graph.row_offsets.data()[v]; e < graph.row_offsets.data()[v + 1]; ++e) {
      result.col_indices.push_back(place.data()[graph.col_indices.data()[e]]);
    }
    std::sort(result.col_indices.begin() + begin, result.col_indices.end());
    result.row_offsets.push_back(static_cast<Offset>(result.col_indices.size()));
  }
  return result;
}

}  // namespace taskdag::benchmark

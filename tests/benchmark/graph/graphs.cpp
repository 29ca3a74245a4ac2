#include "graphs.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <random>

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
  };
  if (const char* directory = std::getenv("TASKDAG_MATRIX_DIR")) {
    const std::vector<std::pair<std::string, std::string>> files = {
        {"luxembourg_osm", "mesh"}, {"delaunay_n16", "mesh"}, {"rgg_n_2_15_s0", "mesh"}, {"ca-CondMat", "scale-free"}};
    for (const auto& [name, kind] : files) {
      const std::string path = std::string(directory) + "/" + name + ".mtx.xz";
      if (std::filesystem::exists(path)) graphs.push_back({name, kind, [path] { return read_matrix_market(path); }});
    }
  }
  graphs.push_back({"5-point 60^2", "smoke", [] { return grid(Stencil::five_point, 60); }});
  graphs.push_back({"R-MAT 11", "smoke", [] { return make_rmat({.scale = 11}); }});
  return graphs;
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
  result.values.assign(result.col_indices.size(), 1.0);
  return result;
}

}  // namespace taskdag::benchmark

#include "graphs.hpp"

#include <cstdlib>
#include <filesystem>

#include "taskdag/generators.hpp"
#include "taskdag/io/matrix_market.hpp"

namespace taskdag::benchmark {
namespace {

CsrMatrix grid(Stencil stencil, Index edge) {
  const bool flat = stencil == Stencil::five_point;
  return make_stencil({.stencil = stencil, .nx = edge, .ny = edge, .nz = flat ? 1 : edge});
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

}  // namespace taskdag::benchmark

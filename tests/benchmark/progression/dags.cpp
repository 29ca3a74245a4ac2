#include "dags.hpp"

#include <cstdio>

#include "../matrix_files.hpp"
#include "taskdag/error.hpp"
#include "taskdag/generators.hpp"
#include "taskdag/io/matrix_market.hpp"

namespace taskdag::benchmark {
namespace {

DagCase triangle_case(const std::string& name, const std::function<CsrMatrix()>& make) {
  return {name, [name, make] { return progression::make_triangle(make().pattern(), name); }};
}

constexpr const char* kRmat = "R-MAT 16";

/// R-MAT 16 where no task has more than so many successors.
DagCase rmat_cut(std::uint32_t most) {
  const std::string name = std::string(kRmat) + ", " + std::to_string(most) + " successors at most";
  return {name, [name, most] {
            return progression::with_fan_out(progression::make_triangle(make_rmat({.scale = 16}).pattern(), kRmat),
                                             most, name);
          }};
}

}  // namespace

DagCase wavefront_case(const std::string& shape) {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  char rest = 0;
  if (std::sscanf(shape.c_str(), "%9ux%9u%c", &rows, &columns, &rest) != 2) {
    throw InvalidInput("a wavefront is ROWSxCOLUMNS, not " + shape);
  }
  return {"wavefront " + shape, [rows, columns] { return progression::make_wavefront(rows, columns); }};
}

std::vector<DagCase> list_irregular() {
  std::vector<DagCase> all = {
      triangle_case("5-point 1000^2",
                    [] { return make_stencil({.stencil = Stencil::five_point, .nx = 1000, .ny = 1000}); }),
      triangle_case("7-point 100^3",
                    [] { return make_stencil({.stencil = Stencil::seven_point, .nx = 100, .ny = 100, .nz = 100}); }),
      triangle_case("Erdos-Renyi 100k", [] { return make_erdos_renyi_lower(100000, 1e-4, 1); }),
      triangle_case("narrow band 100k", [] { return make_narrow_band_lower(100000, 0.14, 10.0, 1); }),
      triangle_case(kRmat, [] { return make_rmat({.scale = 16}); }),
  };
  for (const char* name : {"G3_circuit", "delaunay_n16", "luxembourg_osm", "ca-CondMat"}) {
    const auto path = find_matrix_file(name);
    if (path) all.push_back(triangle_case(name, [path] { return read_matrix_market(*path); }));
  }
  for (const std::uint32_t most : {256U, 64U, 16U}) all.push_back(rmat_cut(most));
  return all;
}

std::vector<DagCase> list_smoke_dags() {
  return {wavefront_case("40x50"),
          triangle_case("narrow band 500", [] { return make_narrow_band_lower(500, 0.14, 10.0, 1); }),
          triangle_case("R-MAT 8", [] { return make_rmat({.scale = 8}); })};
}

}  // namespace taskdag::benchmark

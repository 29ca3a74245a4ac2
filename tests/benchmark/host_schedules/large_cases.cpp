#include "large_cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "taskdag/generators.hpp"

namespace taskdag::benchmark {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// In [0, 1); the same on every machine.
double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

struct Box {
  std::array<Index, 3> first;
  std::array<Index, 3> last;
};

void dissect(const Box& box, Index nx, Index ny, std::vector<Index>& order) {
  std::array<Index, 3> size{};
  for (std::size_t d = 0; d < 3; ++d) size[d] = box.last[d] - box.first[d];
  const auto longest = static_cast<std::size_t>(std::ranges::max_element(size) - size.begin());
  if (size[0] * size[1] * size[2] <= 64 || size[longest] < 3) {
    for (Index z = box.first[2]; z < box.last[2]; ++z) {
      for (Index y = box.first[1]; y < box.last[1]; ++y) {
        for (Index x = box.first[0]; x < box.last[0]; ++x) order.push_back(x + nx * (y + ny * z));
      }
    }
    return;
  }
  const Index middle = box.first[longest] + size[longest] / 2;
  Box below = box;
  Box above = box;
  Box plane = box;
  below.last[longest] = plane.first[longest] = middle;
  above.first[longest] = plane.last[longest] = middle + 1;
  dissect(below, nx, ny, order);
  dissect(above, nx, ny, order);
  for (Index z = plane.first[2]; z < plane.last[2]; ++z) {
    for (Index y = plane.first[1]; y < plane.last[1]; ++y) {
      for (Index x = plane.first[0]; x < plane.last[0]; ++x) order.push_back(x + nx * (y + ny * z));
    }
  }
}

std::vector<Index> shuffle(Index n, std::uint64_t seed) {
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  std::mt19937_64 random(seed);
  for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random() % k]);
  return order;
}

}  // namespace

std::vector<Index> dissect_grid(Index nx, Index ny, Index nz) {
  std::vector<Index> order;
  dissect({{0, 0, 0}, {nx, ny, nz}}, nx, ny, order);
  return order;
}

CsrMatrix permuted(const CsrMatrix& a, const std::vector<Index>& order, Index unknowns) {
  std::vector<Index> row_at;
  for (const Index node : order) {
    for (Index u = 0; u < unknowns; ++u) row_at.push_back(node * unknowns + u);
  }
  std::vector<Index> place(row_at.size());
  for (std::size_t p = 0; p < row_at.size(); ++p) place[static_cast<std::size_t>(row_at[p])] = static_cast<Index>(p);
  CsrMatrix result{a.rows, a.rows, {0}, {}, {}};
  std::vector<std::pair<Index, double>> row;
  for (const Index i : row_at) {
    row.clear();
    for (auto e = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i) + 1]); ++e) {
      row.emplace_back(place[static_cast<std::size_t>(a.col_indices[e])], a.values[e]);
    }
    std::ranges::sort(row);
    for (const auto& [column, value] : row) {
      result.col_indices.push_back(column);
      result.values.push_back(value);
    }
    result.row_offsets.push_back(static_cast<Offset>(result.col_indices.size()));
  }
  return result;
}

CsrMatrix make_geometric_graph(Index points, int dimension, double degree, bool shuffled, std::uint64_t seed) {
  const double volume = degree / points;
  const double radius = dimension == 2 ? std::sqrt(volume / kPi) : std::cbrt(0.75 * volume / kPi);
  const auto cells = static_cast<Index>(1.0 / radius);  // along a side; none is smaller than the radius
  const auto layers = dimension == 2 ? Index{1} : cells;
  const auto cell_of = [&](double coordinate) { return std::min(static_cast<Index>(coordinate * cells), cells - 1); };
  std::mt19937_64 random(seed);
  std::vector<std::pair<Index, std::array<double, 3>>> sorted(static_cast<std::size_t>(points));
  for (auto& [cell, x] : sorted) {
    x = {uniform(random), uniform(random), dimension == 2 ? 0.0 : uniform(random)};
    cell = cell_of(x[0]) + cells * (cell_of(x[1]) + cells * (dimension == 2 ? 0 : cell_of(x[2])));
  }
  std::ranges::sort(sorted);
  std::vector<Index> first(static_cast<std::size_t>(cells) * static_cast<std::size_t>(cells * layers) + 1, 0);
  for (const auto& [cell, x] : sorted) ++first[static_cast<std::size_t>(cell) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  CsrMatrix a{points, points, {0}, {}, {}};
  for (Index i = 0; i < points; ++i) {
    const auto& [cell, x] = sorted[static_cast<std::size_t>(i)];
    const std::array<Index, 3> at{cell % cells, cell / cells % cells, cell / cells / cells};
    // Cells ascend in this order, and points in them: so do the columns.
    for (Index cz = std::max(at[2] - 1, Index{0}); cz <= std::min(at[2] + 1, layers - 1); ++cz) {
      for (Index cy = std::max(at[1] - 1, Index{0}); cy <= std::min(at[1] + 1, cells - 1); ++cy) {
        for (Index cx = std::max(at[0] - 1, Index{0}); cx <= std::min(at[0] + 1, cells - 1); ++cx) {
          const auto near = static_cast<std::size_t>(cx + cells * (cy + cells * cz));
          for (Index j = first[near]; j < first[near + 1]; ++j) {
            double distance = 0.0;
            for (std::size_t d = 0; d < 3; ++d) {
              const double along = x[d] - sorted[static_cast<std::size_t>(j)].second[d];
              distance += along * along;
            }
            if (distance > radius * radius) continue;
            a.col_indices.push_back(j);
            a.values.push_back(1.0);
          }
        }
      }
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  return shuffled ? permuted(a, shuffle(points, seed)) : a;
}

std::vector<Case> list_large_cases() {
  using enum Stencil;
  std::vector<Case> cases;
  const auto add = [&](const char* name, std::function<CsrMatrix()> make) {
    cases.push_back({"large", name, std::move(make)});
  };
  struct Grid {
    const char* name;
    StencilSpec spec;
  };
  const std::array<Grid, 7> grids{{
      {"5-point 1000^2", {.stencil = five_point, .nx = 1000, .ny = 1000}},
      {"5-point 2000x500", {.stencil = five_point, .nx = 500, .ny = 2000}},
      {"7-point 100^3", {.stencil = seven_point, .nx = 100, .ny = 100, .nz = 100}},
      {"7-point 60x60x200", {.stencil = seven_point, .nx = 60, .ny = 60, .nz = 200}},
      {"27-point 80^3", {.stencil = twenty_seven_point, .nx = 80, .ny = 80, .nz = 80}},
      {"27-point 36^3, 3 unknowns",
       {.stencil = twenty_seven_point, .nx = 36, .ny = 36, .nz = 36, .unknowns_per_node = 3}},
      {"7-point 48^3, 4 unknowns", {.stencil = seven_point, .nx = 48, .ny = 48, .nz = 48, .unknowns_per_node = 4}},
  }};
  for (const Grid& grid : grids) add(grid.name, [spec = grid.spec] { return make_stencil(spec); });
  const auto dissected = [&](const char* name, const StencilSpec& spec) {
    add(name, [spec] {
      return permuted(make_stencil(spec), dissect_grid(spec.nx, spec.ny, spec.nz), spec.unknowns_per_node);
    });
  };
  dissected("5-point 1000^2, dissected", grids[0].spec);
  dissected("7-point 100^3, dissected", grids[2].spec);
  dissected("27-point 60^3, dissected", {.stencil = twenty_seven_point, .nx = 60, .ny = 60, .nz = 60});
  dissected("27-point 36^3, 3 unknowns, dissected", grids[5].spec);
  add("5-point 700^2, shuffled",
      [] { return permuted(make_stencil({.stencil = five_point, .nx = 700, .ny = 700}), shuffle(700 * 700, 1)); });
  struct Graph {
    const char* name;
    Index points;
    int dimension;
    double degree;
    bool shuffled;
  };
  constexpr std::array<Graph, 6> kGraphs{{
      {"geometric 2D, 6 neighbours", 400000, 2, 6.0, false},
      {"geometric 2D, 14 neighbours", 300000, 2, 14.0, false},
      {"geometric 2D, 14 neighbours, shuffled", 200000, 2, 14.0, true},
      {"geometric 3D, 14 neighbours", 250000, 3, 14.0, false},
      {"geometric 3D, 40 neighbours", 150000, 3, 40.0, false},
      {"geometric 3D, 40 neighbours, shuffled", 100000, 3, 40.0, true},
  }};
  for (const Graph& graph : kGraphs) {
    add(graph.name,
        [graph] { return make_geometric_graph(graph.points, graph.dimension, graph.degree, graph.shuffled, 1); });
  }
  add("R-MAT 17, 8 a vertex", [] { return make_rmat({.scale = 17, .edges_per_vertex = 8}); });
  add("R-MAT 18, 16 a vertex", [] { return make_rmat({.scale = 18, .edges_per_vertex = 16}); });
  add("band 10^6, p 0.14 b 10", [] { return make_narrow_band_lower(1000000, 0.14, 10.0, 1); });
  return cases;
}

}  // namespace taskdag::benchmark

#include <algorithm>

#include "sweep.hpp"

namespace sweep {

namespace {

/// The cells, each after those from which something flows into it.
std::vector<Index> order_of(const Mesh& mesh, const Vector& direction) {
  std::vector<Index> order;
  std::vector<char> seen(mesh.area.size(), 0);
  std::vector<Index> path;
  for (Index start = 0; start < mesh.cells(); ++start) {
    path.push_back(start);
    while (!path.empty()) {
      const auto cell = static_cast<std::size_t>(path.back());
      const auto& sides = mesh.sides[cell];
      const auto* const before = std::find_if(sides.begin(), sides.end(), [&](const Side& side) {
        return seen[cell] == 0 && side.neighbour >= 0 && outflow(side, direction) < 0 &&
               seen[static_cast<std::size_t>(side.neighbour)] == 0;
      });
      if (before != sides.end()) {
        path.push_back(before->neighbour);
        continue;
      }
      if (seen[cell] == 0) order.push_back(path.back());
      seen[cell] = 1;
      path.pop_back();
    }
  }
  return order;
}

}  // namespace

std::vector<double> serial_flux(const Problem& problem) {
  const auto groups = static_cast<std::size_t>(problem.groups);
  const std::size_t size = problem.mesh.area.size() * groups;
  std::vector<std::vector<Index>> orders;
  for (const Vector& direction : problem.directions) orders.push_back(order_of(problem.mesh, direction));
  std::vector<double> begins(size, problem.source);
  std::vector<double> all(size);
  std::vector<double> flux(size);
  for (int i = 0; i < problem.iterations; ++i) {
    std::fill(all.begin(), all.end(), 0.0);
    for (std::size_t d = 0; d < problem.directions.size(); ++d) {
      for (const Index cell : orders[d]) {
        const auto c = static_cast<std::size_t>(cell);
        for (std::size_t g = 0; g < groups; ++g) {
          double in = begins[c * groups + g] * problem.mesh.area[c];
          double out = problem.taken(static_cast<int>(g)) * problem.mesh.area[c];
          for (const Side& side : problem.mesh.sides[c]) {
            const double flow = outflow(side, problem.directions[d]);
            out += std::max(flow, 0.0);
            if (flow < 0 && side.neighbour >= 0) {
              in -= flow * flux[static_cast<std::size_t>(side.neighbour) * groups + g];
            }
          }
          flux[c * groups + g] = in / out;
          all[c * groups + g] += in / out;
        }
      }
    }
    for (std::size_t k = 0; k < size; ++k) {
      all[k] /= static_cast<double>(problem.directions.size());
      begins[k] = problem.source + problem.scattered * all[k];
    }
  }
  return all;
}

}  // namespace sweep

#include "mesh.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <random>
#include <utility>

namespace sweep {

namespace {

using Triangle = std::array<std::size_t, 3>;  // points, anticlockwise

/// Up to a fifth of a square to each side, so that squares stay convex. Points of the border stay.
std::vector<Vector> make_points(int side, std::mt19937& random) {
  const auto moved = [&](int at) {
    const double by = static_cast<double>(random() % 4096U) / 4096.0 * 0.4 - 0.2;
    return (at + (at == 0 || at == side ? 0.0 : by)) / side;
  };
  std::vector<Vector> points;
  for (int y = 0; y <= side; ++y) {
    for (int x = 0; x <= side; ++x) points.push_back({moved(x), moved(y)});
  }
  return points;
}

std::vector<Triangle> make_triangles(int side, std::mt19937& random) {
  std::vector<Triangle> triangles;
  const auto wide = static_cast<std::size_t>(side) + 1;
  for (std::size_t y = 0; y + 1 < wide; ++y) {
    for (std::size_t x = 0; x + 1 < wide; ++x) {
      const std::size_t a = y * wide + x;
      const std::size_t b = a + 1;
      const std::size_t c = b + wide;
      const std::size_t d = a + wide;
      if (random() % 2U == 0) {
        triangles.push_back({a, b, c});
        triangles.push_back({a, c, d});
      } else {
        triangles.push_back({a, b, d});
        triangles.push_back({b, c, d});
      }
    }
  }
  for (std::size_t i = triangles.size(); i > 1; --i) std::swap(triangles[i - 1], triangles[random() % i]);
  return triangles;
}

}  // namespace

Mesh make_mesh(int side, unsigned seed) {
  std::mt19937 random(seed);
  const std::vector<Vector> points = make_points(side, random);
  const std::vector<Triangle> triangles = make_triangles(side, random);
  Mesh mesh;
  mesh.sides.resize(triangles.size());
  std::map<std::pair<std::size_t, std::size_t>, std::pair<Index, std::size_t>> open;  // sides with one cell so far
  for (std::size_t cell = 0; cell < triangles.size(); ++cell) {
    const Triangle& corner = triangles[cell];
    const Vector& first = points[corner[0]];
    const Vector& second = points[corner[1]];
    const Vector& third = points[corner[2]];
    mesh.area.push_back(((second.x - first.x) * (third.y - first.y) - (third.x - first.x) * (second.y - first.y)) / 2);
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t from = corner[k];
      const std::size_t to = corner[(k + 1) % 3];
      Side& side_of_cell = mesh.sides[cell][k];
      side_of_cell = {{points[to].y - points[from].y, points[from].x - points[to].x}, -1};
      const auto other = open.find(std::minmax(from, to));
      if (other == open.end()) {
        open.emplace(std::minmax(from, to), std::pair{static_cast<Index>(cell), k});
        continue;
      }
      side_of_cell.neighbour = other->second.first;
      mesh.sides[static_cast<std::size_t>(other->second.first)][other->second.second].neighbour =
          static_cast<Index>(cell);
      open.erase(other);
    }
  }
  return mesh;
}

std::vector<Vector> make_directions(int count) {
  std::vector<Vector> directions;
  for (int d = 0; d < count; ++d) {
    const double angle = 2 * std::numbers::pi * (d + 0.4) / count;
    directions.push_back({std::cos(angle), std::sin(angle)});
  }
  return directions;
}

Upwind make_upwind(const Mesh& mesh, const std::vector<Vector>& directions) {
  Upwind upwind;
  Index first = 0;  // task of the direction
  for (const Vector& direction : directions) {
    for (const auto& sides : mesh.sides) {
      for (const Side& side : sides) {
        if (side.neighbour >= 0 && outflow(side, direction) < 0) upwind.before.push_back(first + side.neighbour);
      }
      upwind.offsets.push_back(static_cast<taskdag::Offset>(upwind.before.size()));
    }
    first += mesh.cells();
  }
  upwind.tasks = first;
  return upwind;
}

}  // namespace sweep

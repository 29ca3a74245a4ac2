/// \file
/// An unstructured mesh of triangles, and the directions in which particles cross it.
#pragma once

#include <array>
#include <vector>

#include "taskdag/csr.hpp"

namespace sweep {

using taskdag::Index;

struct Vector {
  double x = 0;
  double y = 0;
};

/// A side of a triangle.
struct Side {
  Vector normal;        ///< outward, as long as the side; that of the neighbour is this one's negative to the last bit
  Index neighbour = 0;  ///< −1: none, the side is on the border
};

struct Mesh {
  std::vector<double> area;                ///< by cell
  std::vector<std::array<Side, 3>> sides;  ///< by cell

  [[nodiscard]] Index cells() const { return static_cast<Index>(area.size()); }
};

/// The unit square in 2 · side² triangles: the points of a grid, moved, each square cut along one diagonal or the
/// other, the cells numbered at random.
Mesh make_mesh(int side, unsigned seed);

/// `count` unit vectors around the circle, none along the grid.
std::vector<Vector> make_directions(int count);

/// What flows out of a cell through a side in a direction, for a flux of 1; negative: it flows in.
inline double outflow(const Side& side, const Vector& direction) {
  return side.normal.x * direction.x + side.normal.y * direction.y;
}

/// Task d · cells + c is cell c in direction d, and waits for the neighbours from which something flows in. In the
/// plane there is no cycle, whatever the triangles are.
struct Upwind {
  Index tasks = 0;
  std::vector<taskdag::Offset> offsets{0};
  std::vector<Index> before;
  [[nodiscard]] taskdag::CsrPattern edges() const { return {tasks, tasks, offsets.data(), before.data()}; }
};
Upwind make_upwind(const Mesh& mesh, const std::vector<Vector>& directions);

}  // namespace sweep

/// \file
/// What a triangle's pattern is like: the numbers that a schedule is chosen by and that the solvers report.
#pragma once

#include "taskdag/csr.hpp"

namespace taskdag::kernels {

struct TriangleFeatures {
  Index rows = 0;
  Offset entries = 0;  ///< strictly triangular ones
  Index levels = 0;
  Index widest_level = 0;  ///< in rows
  Index longest_row = 0;   ///< in entries
  /// Cells that the schedule of that name would take, and microseconds a solve would then take by its own estimate; 0
  /// cells: the device cannot run it, or nobody asked.
  int cells = 0;
  double cells_microseconds = 0.0;
  Index colours = 0;  ///< of blocks that an ordering has made; 0: none

  [[nodiscard]] double entries_per_row() const { return rows == 0 ? 0.0 : static_cast<double>(entries) / rows; }
};

}  // namespace taskdag::kernels

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

  [[nodiscard]] double entries_per_row() const { return rows == 0 ? 0.0 : static_cast<double>(entries) / rows; }
};

}  // namespace taskdag::kernels

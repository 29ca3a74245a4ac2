/// \file
/// The kernel that runs pencils, and its launch.
#pragma once

#include "kernels/sptrsv/schedules/cells/pencils/layout.hpp"

namespace taskdag::kernels::cells {

/// One solve; arrays in device memory.
struct PencilArguments {
  Pencils pencils;
  Index rows;
  bool lower;
  const double* entry;
  const double* pivot;     ///< by row; null: 1
  const Index* rhs_index;  ///< null: the same
  const Index* x_index;
  const double* rhs;
  double idle_rhs;  ///< where a lane has no column
  double* x;
  double* planes;       ///< results of the last planes of pencils, by pencil, step, lane
  double* next_planes;  ///< reset to not_yet
  double* lines;        ///< results of the last lines of pencils, by pencil, step, plane
  double* next_lines;
  unsigned* ticket;  ///< not that of the last solve, which may overlap with this one
  unsigned before;   ///< tickets that earlier solves have taken of it
  int* non_finite;
};

/// Gets the kernel ready for the current device.
void prepare_pencils();

/// Launches the kernel. reciprocal: a row's result is one over its sum. overlaps: it may start while the kernel before
/// is still at work, and loads what does not change until that has ended. Asynchronous.
/// @returns how many tickets it takes
unsigned solve(const PencilArguments& arguments, bool reciprocal, bool overlaps, cudaStream_t stream);

}  // namespace taskdag::kernels::cells

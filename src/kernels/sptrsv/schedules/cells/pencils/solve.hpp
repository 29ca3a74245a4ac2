/// \file
/// The kernel that runs pencils, and its launch.
#pragma once

#include "kernels/sptrsv/schedules/cells/pencils/layout.hpp"

namespace taskdag::kernels::cells {

/// Most blocks of a cluster.
inline constexpr int kPencilBlocks = 8;

/// One solve; arrays in device memory.
template <class Points>
struct PencilArguments {
  Pencils<Points> pencils;
  int blocks;  ///< of a cluster, which share a ticket
  Index rows;
  bool lower;
  const typename Points::Value* entry;
  const double* pivot;     ///< by row; null: 1
  const Index* rhs_index;  ///< null: the same
  const Index* x_index;
  const double* rhs;
  double idle_rhs;  ///< where a lane has no column
  double* x;
  double* planes;       ///< results of the last planes of pencils, by pencil, step, lane
  double* next_planes;  ///< reset to not_yet
  double* lines;        ///< results of the last lines of pencils, by pencil, step, plane, line
  double* next_lines;
  unsigned* ticket;  ///< not that of the last solve, which may overlap with this one
  unsigned before;   ///< tickets that earlier solves have taken of it
  int* non_finite;
};

/// How many blocks run.
struct PencilLaunch {
  int blocks = 1;  ///< of a cluster
  int clusters = 0;
};

/// Gets the kernel ready for the current device. Clusters have kPencilBlocks blocks, or a half or a quarter of it where
/// there are so few slabs or no more room; one where there are many pencils.
template <class Points>
PencilLaunch prepare_pencils(const Pencils<Points>& pencils);
/// The same for solve_reciprocals().
PencilLaunch prepare_pencil_reciprocals(const Pencils<SevenPoints>& pencils);

/// Launches the kernel. overlaps: it may start while the kernel before is still at work, and loads what does not change
/// until that has ended. Asynchronous.
/// @returns how many tickets it takes
template <class Points>
unsigned solve(const PencilArguments<Points>& arguments, const PencilLaunch& launch, bool overlaps,
               cudaStream_t stream);
/// The same, but a row's result is one over its sum.
unsigned solve_reciprocals(const PencilArguments<SevenPoints>& arguments, const PencilLaunch& launch, bool overlaps,
                           cudaStream_t stream);

}  // namespace taskdag::kernels::cells

/// \file
/// The kernel that runs bands, and its launch.
#pragma once

#include "kernels/sptrsv/schedules/cells/bands/layout.hpp"

namespace taskdag::kernels::cells {

/// One solve; arrays in device memory. Value: in which entries are stored.
template <class Value>
struct BandArguments {
  Bands bands;
  Index rows;
  Index chunks;  ///< of a band
  int blocks;    ///< of a cluster
  bool lower;
  const Value* entry;
  const Value* edge;
  const double* pivot;     ///< by row; null: 1
  const Index* rhs_index;  ///< null: the same
  const Index* x_index;
  const double* rhs;
  double idle_rhs;  ///< where a lane has no column
  double* x;
  double* slots;       ///< the last lines of the bands, bands · columns
  double* next_slots;  ///< reset to not_yet
  unsigned* ticket;    ///< not that of the last solve, which may overlap with this one
  unsigned before;     ///< tickets that earlier solves have taken of it
  int* non_finite;
};

/// How a solve is launched on the current device.
struct BandLaunch {
  int blocks = 1;    ///< of a cluster: 1, 2, 4, 8
  int clusters = 1;  ///< that are launched
  std::size_t shared_bytes = 0;
};

/// What suits the current device, whose kernel is then ready for it.
template <class Value>
BandLaunch prepare(const Bands& bands, int most_blocks);
/// The same for solve_reciprocals().
BandLaunch prepare_reciprocals(const Bands& bands, int most_blocks);

/// Launches the kernel. overlaps: it may start while the kernel before is still at work, and loads what does not change
/// until that has ended. Asynchronous.
/// @returns how many tickets it takes
template <class Value>
unsigned solve(const BandArguments<Value>& arguments, const BandLaunch& launch, bool overlaps, cudaStream_t stream);
/// The same, but a row's result is one over its sum.
unsigned solve_reciprocals(const BandArguments<double>& arguments, const BandLaunch& launch, bool overlaps,
                           cudaStream_t stream);

}  // namespace taskdag::kernels::cells

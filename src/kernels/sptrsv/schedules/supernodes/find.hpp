/// \file
/// Finding supernodes in the pattern of a triangle.
#pragma once

#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels::supernodes {

/// Rows of a supernode at most: what their inverted diagonal block costs grows with the square.
inline constexpr Index kMostRows = 8;

/// A *supernode* is some rows, one after the other in the direction of the sweep, each of which needs the row before it
/// and otherwise what that row needs: unknowns of one node of a mesh, mostly. All have the same operands outside the
/// supernode, in the same order. Rows that belong to none are supernodes of one row.
struct Supernodes {
  Index most_rows = 1;               ///< of a supernode
  double share = 0.0;                ///< of the rows that need the one before them
  cuda::ScratchArray<Index> number;  ///< row → its number in its supernode, 0 for the one that comes first
  TriangleRanges outer;              ///< entries of each row with operands outside its supernode
};

/// Chains of such rows are cut into supernodes of the length that most rows are in (kMostRows at most). Of the input
/// only pattern, triangle and ranges are looked at. Synchronises `stream`.
Supernodes find(const SweepInput& input, cudaStream_t stream);

}  // namespace taskdag::kernels::supernodes

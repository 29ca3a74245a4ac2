/// \file
/// How sweeps over several right-hand sides store rows, entries and vectors on CUDA.
#pragma once

#include "taskdag/csr.hpp"

namespace taskdag::kernels::many {

/// Columns of a sweep at most, a lane each.
inline constexpr Index kMostColumns = 32;

/// How far apart rows of vectors are, in doubles: the next power of two, 4 at least, so that the lanes of a warp divide
/// evenly by columns. @pre 1 <= count <= kMostColumns
inline constexpr int stride_of(Index count) { return count <= 4 ? 4 : count <= 8 ? 8 : count <= 16 ? 16 : 32; }

/// A row with more entries than this is cut into *parts* of so many, which are summed by warps of their own and handed
/// over like results of rows.
inline constexpr Index kPartEntries = 256;

/// What a warp runs at a place: a row, or a part of one. Slots number where results go: rows by their numbers, then
/// parts.
struct alignas(16) Place {
  Offset first;  ///< of its packed entries
  Index count;   ///< of them
  Index slot;
  Index in;  ///< row of the right-hand sides; of a part: unused
};

/// Rows with more entries look at one operand first, see pack_kernel; shorter ones ask for all at once anyhow.
inline constexpr Index kUngatedEntries = 4;

}  // namespace taskdag::kernels::many

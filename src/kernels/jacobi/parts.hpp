/// \file
/// A matrix cut into parts of about as many entries each (MHive, algorithm 7.4), for Jacobi sweeps. Rows that
/// alone have more entries are cut into pieces, which the thesis left open.
#pragma once

#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// What one task of a sweep does: `rows` whole rows from `row` on, or a piece of `row`: then the row's pieces are the
/// parts first_piece, …, first_piece + pieces − 1. Whichever piece ends last finishes the row; then the first piece
/// counts as done.
struct JacobiPart {
  Index row;
  Index rows;
  Offset begin;  ///< entries of the matrix
  Offset end;
  Index first_piece;
  Index pieces;  ///< 0: whole rows
};

/// row_offsets: in host memory. part_entries: entries of a part, at most, but for a whole row that has more. long_row:
/// rows with more entries are cut into pieces of part_entries; 0: none is.
std::vector<JacobiPart> cut_into_parts(const Offset* row_offsets, Index rows, Index part_entries, Index long_row);

}  // namespace taskdag::kernels

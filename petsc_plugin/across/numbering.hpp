/// \file
/// The rows of a matrix on several ranks in an order by colours over all of them: that of taskdag_color for the whole
/// matrix, however its rows are dealt out, or one of blocks that each rank has made of its own rows.
#pragma once

#include <petscsf.h>

#include <memory>
#include <vector>

#include "compat.hpp"
#include "mat/held.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/row_blocks.hpp"

namespace taskdag::petsc {

/// The pattern of a rank's own rows, as the matrix has it.
struct OwnPattern {
  PetscInt first = 0;  ///< global number of the first row
  Index rows = 0;
  std::vector<Offset> offsets;    ///< by row, and the end
  std::vector<PetscInt> columns;  ///< global numbers
  [[nodiscard]] bool owns(PetscInt global) const { return global >= first && global < first + rows; }
};

/// Reads it. Not collective. @returns PETSC_ERR_ARG_WRONGSTATE for a row without diagonal entry, PETSC_ERR_SUP for more
/// than the library counts
PetscErrorCode read_own_pattern(Mat matrix, OwnPattern* pattern);

/// Blocks of own rows that take one colour, as an ordering of these rows has made them.
struct OwnBlocks {
  std::shared_ptr<const std::vector<Index>> order;  ///< row at each position
  std::shared_ptr<const RowBlocks> blocks;          ///< of positions; null on a rank without rows
};

/// In which order all ranks take the rows.
enum class RowOrder {
  by_colours,    ///< of rows, or of blocks
  of_the_matrix  ///< as they are numbered, in waves (waves.hpp), which take the place of colours
};

/// What a rank knows of the order. Rows and ghosts stand in the matrix' order here.
struct Numbering {
  std::vector<PetscInt> ghosts;    ///< global numbers, ascending: columns of own rows, and rows with own columns
  Held<PetscSF> forest;            ///< from own rows to ghosts
  std::vector<PetscInt> sequence;  ///< of own rows, then of ghosts: which comes first among rows of one colour
  std::vector<Index> colour;       ///< the same
  Index colours = 0;               ///< on all ranks
  RowOrder row_order = RowOrder::by_colours;
  std::vector<Index>
      place;  ///< of own rows by colour, of one colour first the blocks with rows that are ghosts elsewhere
  std::vector<Index> order;   ///< row at each place
  std::vector<Index> begins;  ///< of each colour, and the end
  std::vector<Index> inner;   ///< of each colour: where blocks begin without such rows
  std::vector<Index> blocks;  ///< where blocks begin, and the end; empty: each row is one

  /// Number of a ghost, −1: there is none.
  [[nodiscard]] Index find_ghost(PetscInt global) const;
};

/// `blocks`: on all ranks or null: each row is one. Collective; memory that one rank lacks is an error on all.
PetscErrorCode number_rows(Mat matrix, const OwnPattern& pattern, RowOrder order, const OwnBlocks* blocks,
                           Numbering* numbering);

}  // namespace taskdag::petsc

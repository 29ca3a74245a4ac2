/// \file
/// Views of what every rank has for itself: sums up numbers, and says once what ranks have in common. Errors of one
/// rank are errors of all; those of what makes a text are for the caller to share (shared_error.hpp).
#pragma once

#include <string>
#include <vector>

#include "compat.hpp"

namespace taskdag::petsc {

/// Where to print, and the ranks that have something to say: those of what is viewed, which need not be the viewer's.
struct RankViewer {
  PetscViewer viewer;
  MPI_Comm comm;
};

/// A number of one rank.
struct RankNumber {
  const char* name;  ///< "rows"
  double value;
  bool adds;  ///< over the ranks
};

/// Prints `title` with the numbers: on several ranks the least and the largest, and the sum of those that add.
/// Not with -ksp_view ::ascii_info_detail: there view_texts() is to say it for each rank. Collective.
PetscErrorCode view_numbers(const RankViewer& viewer, const std::string& title, const std::vector<RankNumber>& numbers);

/// "TITLE3 rows, 7 entries"
std::string number_text(const std::string& title, const std::vector<RankNumber>& numbers);

/// Prints the lines of a text, on several ranks with the ranks that have it where they differ: some texts, with
/// -ksp_view ::ascii_info_detail all. A rank without anything to say has an empty text. Collective.
PetscErrorCode view_texts(const RankViewer& viewer, const std::string& text);

/// Whether each rank is to be shown for itself.
PetscErrorCode shows_each_rank(const RankViewer& viewer, bool* each);

}  // namespace taskdag::petsc

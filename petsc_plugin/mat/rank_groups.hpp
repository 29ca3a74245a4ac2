/// \file
/// Which ranks have something in common.
#pragma once

#include <string>
#include <vector>

#include "compat.hpp"

namespace taskdag::petsc {

/// Ranks of one node that belong together, this one among them; made by find_group().
struct RankGroup {
  std::vector<PetscMPIInt> members;  ///< ranks of the communicator, ascending
  PetscMPIInt rank = 0;              ///< this rank there
  /// The first one works for all.
  [[nodiscard]] bool leads() const { return members.front() == rank; }
};

/// Ranks of a node with the same text, which is no longer than 64 characters, form groups of `most` in the order of
/// their numbers, 0: of all that there are. A rank with an empty text is alone. Collective.
PetscErrorCode find_group(MPI_Comm comm, const std::string& text, PetscInt most, RankGroup* group);

}  // namespace taskdag::petsc

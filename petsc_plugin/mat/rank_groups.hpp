/// \file
/// Which ranks have something in common.
#pragma once

#include <array>
#include <vector>

#include "compat.hpp"

namespace taskdag::petsc {

/// What a rank says of itself.
struct RankCard {
  int rank = 0;                 ///< of the communicator
  std::array<char, 64> text{};  ///< the same on ranks that belong together; empty: of a rank that is alone
  double entries = 0.0;         ///< of the matrix, in its rows
  double most_entries = 0.0;    ///< that its group may have, where it leads
};

/// Ranks of one node that belong together, this one among them; made by find_group().
struct RankGroup {
  std::vector<PetscMPIInt> members;  ///< ranks of the communicator, ascending
  PetscMPIInt rank = 0;              ///< this rank there
  double entries = 0.0;              ///< of all members
  double most_entries = 0.0;         ///< of the one that leads
  /// The first one works for all.
  [[nodiscard]] bool leads() const { return members.front() == rank; }
  /// The same on all members.
  [[nodiscard]] bool fits() const { return members.size() == 1 || entries <= most_entries; }
};

/// The group of `mine`, one of the cards of a node: see find_group(). May throw.
RankGroup group_of(const std::vector<RankCard>& cards, const RankCard& mine, std::size_t most);

/// Ranks of a node with the same text form groups of `most` in the order of their numbers, 0: of all that there are.
/// The rank in `mine` is filled in. Collective.
PetscErrorCode find_group(MPI_Comm comm, RankCard mine, PetscInt most, RankGroup* group);

}  // namespace taskdag::petsc

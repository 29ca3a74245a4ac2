/// \file
/// Messages between ranks, colour after colour: what a rank has of its rows goes to the ranks that have these as
/// ghosts.
#pragma once

#include <petscsf.h>

#include <span>
#include <vector>

#include "compat.hpp"
#include "mat/held.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::petsc {

/// Copies all roots of a star forest to their leaves. Collective.
PetscErrorCode broadcast(PetscSF forest, MPI_Datatype unit, const void* roots, void* leaves);

/// A star forest for each colour that has a ghost on any rank. Roots are elements of a rank's array of its own, leaves
/// those of one for its ghosts.
class ColourMessages {
 public:
  /// Leaf k, an element of a ghost of colour[k], is a copy of the element from[k].index of rank from[k].rank, which has
  /// `roots`. Collective; memory that one rank lacks is an error on all.
  PetscErrorCode make(MPI_Comm comm, Index roots, std::span<const Index> colour, std::span<const PetscSFNode> from,
                      Index colours);

  /// Copies roots of one colour to leaves; the leaves of other colours, and all roots, may be used in between.
  PetscErrorCode begin(Index colour, const double* roots, double* leaves) const;
  PetscErrorCode end(Index colour, const double* roots, double* leaves) const;
  /// Adds leaves of one colour to their roots.
  PetscErrorCode add(Index colour, const double* leaves, double* roots) const;

  /// Of the colour: whether any rank sends; ranks that send to this one.
  [[nodiscard]] bool any(Index colour) const { return forests_[static_cast<std::size_t>(colour)] != nullptr; }
  [[nodiscard]] Index senders(Index colour) const { return senders_[static_cast<std::size_t>(colour)]; }

 private:
  std::vector<Held<PetscSF>> forests_;
  std::vector<Index> senders_;
};

}  // namespace taskdag::petsc

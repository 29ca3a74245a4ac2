/// \file
/// The ranks of a KSP, and what they decide together before a loop on all of them.
#pragma once

#include <span>
#include <utility>

#include "across/reason.hpp"
#include "boundary.hpp"
#include "compat.hpp"
#include "shared_error.hpp"
#include "taskdag/rank_group.hpp"

namespace taskdag::petsc {

/// Those of a communicator, as the library takes them. One rank before take().
class CommRanks final : public taskdag::RankGroup {
 public:
  /// Takes those of `comm`, which must outlive this, where it has not taken them yet. Collective.
  PetscErrorCode take(MPI_Comm comm);
  [[nodiscard]] bool on_one_node() const { return on_one_node_; }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int count() const override { return count_; }
  /// Inside of work(). @throws Unsupported for more bytes than MPI counts; Error where a rank has left the work
  void gather(const void* mine, std::size_t bytes, void* all) const override;

  /// guarded(body) for a body that may gather, with its error shared. A rank whose body ends early, by an error that
  /// the others do not know of, lets none of them wait. Collective.
  template <class Body>
  PetscErrorCode work(MPI_Comm comm, Body&& body) {
    PetscFunctionBegin;
    const PetscErrorCode worked = guarded(std::forward<Body>(body));
    PetscCall(leave());
    PetscCall(share_error(comm, worked));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// share_error() for ranks that need not be there any more: an error also where they have not all come within so many
  /// seconds. Collective.
  PetscErrorCode share_with_those_left(PetscErrorCode mine, double limit_s) const;

 private:
  /// What any rank does.
  struct Steps {
    int gathers;
    int has_left;
  };
  [[nodiscard]] int meet(Steps* steps) const;
  PetscErrorCode leave() const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  PetscMPIInt rank_ = 0;
  PetscMPIInt count_ = 1;
  bool on_one_node_ = true;
};

/// Before what all ranks of `comm` do, or none: an error on one is one on all, a reason on one becomes one of all, that
/// of the first rank which has one, and `largest` become the largest numbers of all ranks. Nothing on one rank, but for
/// its error. Collective.
PetscErrorCode agree(MPI_Comm comm, PetscErrorCode mine, Reason* why_not, std::span<int> largest = {});

}  // namespace taskdag::petsc

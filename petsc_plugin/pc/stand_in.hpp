/// \file
/// A preconditioner of ours that does what one of PETSc's does, where a loop or a cycle of ours applies that.
#pragma once

#include <memory>

#include "compat.hpp"
#include "mat/state.hpp"
#include "pc/preconditioner.hpp"
#include "settings.hpp"

namespace taskdag::petsc {

/// Of one rank's own rows and columns.
class StandIn {
 public:
  /// Takes the matrix as it is now, on a rank that has rows of it. `settings`: type, what belongs to it, and backend.
  /// ArrayUse::backend is null where its numbers do not permit it.
  PetscErrorCode bring(Mat whole, const Settings& settings, ArrayUse* use);
  /// The matrix that it has taken last.
  [[nodiscard]] const MatState& of() const { return of_; }
  /// As it is, once more.
  PetscErrorCode prepare(ArrayUse* use);
  /// On arrays of the backend. May throw.
  void apply(const double* x, double* y, Stream stream) { preconditioner_->apply_to_arrays(x, y, stream); }
  PetscErrorCode reset();

 private:
  Settings settings_;                               ///< which the preconditioner reads
  std::unique_ptr<Preconditioner> preconditioner_;  ///< null before the first bring()
  MatState of_;
};

/// It as the preconditioner of a loop or a cycle.
class StandInMap final : public LinearMap {
 public:
  StandInMap(StandIn& stand_in, bool may_be_captured) : stand_in_(stand_in), may_be_captured_(may_be_captured) {}
  void apply(const double* x, double* y, Stream stream) override { stand_in_.apply(x, y, stream); }
  [[nodiscard]] bool may_be_captured() const override { return may_be_captured_; }

 private:
  StandIn& stand_in_;
  bool may_be_captured_;
};

/// Whether the PC is one of PETSc's that divides by dense blocks of a matrix by rows or blocks: pbjacobi, vpbjacobi.
PetscErrorCode divides_by_blocks(PC pc, bool* blocks);

/// Brings the same blocks, inverted by us, on a rank that has rows, after PCSetUp(). ArrayUse::backend is null where
/// that has failed, where PETSc has kept blocks of values that the matrix no longer has, and where it takes others than
/// those that the matrix knows best.
PetscErrorCode bring_blocks(PC pc, Backend backend, StandIn* stand_in, ArrayUse* use);

}  // namespace taskdag::petsc

/// \file
/// The preconditioner of a smoother, as the library's cycle applies it.
#pragma once

#include <memory>

#include "compat.hpp"
#include "mat/held.hpp"
#include "mat/state.hpp"
#include "mg/gather.hpp"
#include "mg/level.hpp"
#include "pc/pc_diagonal.hpp"
#include "pc/preconditioner.hpp"
#include "pc/stand_in.hpp"
#include "settings.hpp"
#include "taskdag/context.hpp"
#include "taskdag/krylov.hpp"

namespace taskdag::petsc {

/// M of a smoother, by PETSc's PC.
class SmootherMap {
 public:
  /// By what it is told whether the PC is as it was.
  struct Seen {
    PetscObjectId pc = 0;
    MatState matrix;                 ///< that the PC is made of
    const void* diagonal = nullptr;  ///< ArrayUse::diagonal and launches, of a PC of type taskdag
    std::uint64_t launches = 0;
    SorSettings sor;
    bool operator==(const Seen&) const = default;
  };

  /// What all ranks do together before look_at(), which no other rank waits for. Collective.
  static PetscErrorCode meet(PC pc);
  /// Of a smoother that is set up.
  static PetscErrorCode look_at(PC pc, Seen* seen, const Refusal& refuse);
  /// Whether a rank can do with all rows what others do with theirs.
  static PetscErrorCode can_be_whole(PC pc, bool* can);
  /// Makes it ready for a context, after look_at(). `whole`: for all rows, on each rank. Collective.
  PetscErrorCode bring(PC pc, const Context& context, bool whole, const Refusal& refuse);
  /// Null: the identity. Valid until the next bring().
  [[nodiscard]] LinearMap* map() const { return map_.get(); }
  /// ArrayUse::launches
  [[nodiscard]] std::uint64_t launches() const { return use_.launches; }
  [[nodiscard]] PetscLogDouble flops() const { return use_.flops; }  ///< of an application
  PetscErrorCode reset();

 private:
  enum class Kind { none, diagonal, ours, sor, blocks, other };

  static PetscErrorCode find_kind(PC pc, Kind* kind);
  void take_map(Kind kind, PetscObjectId pc);
  PetscErrorCode bring_diagonal(const Context& context, bool whole);
  PetscErrorCode bring_stand_in(Kind kind, const Context& context, const Refusal& refuse);

  Held<PC> pc_;
  ArrayUse use_;
  PcDiagonal diagonal_;
  WholeElements whole_diagonal_;
  StandIn stand_in_;  ///< of PETSc's PC, where it is no diagonal
  std::unique_ptr<LinearMap> map_;
  Kind kind_ = Kind::none;  ///< of the map
  PetscObjectId of_ = 0;    ///< the map's PC
};

}  // namespace taskdag::petsc

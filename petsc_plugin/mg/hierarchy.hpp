/// \file
/// The levels of a PCMG, kept where a cycle of the library's reads them.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "across/reason.hpp"
#include "backend_choice.hpp"
#include "compat.hpp"
#include "mat/state.hpp"
#include "mg/coarse_inverse.hpp"
#include "mg/level.hpp"
#include "mg/null_space.hpp"
#include "mg/rank_matrix.hpp"
#include "mg/smoother_map.hpp"
#include "mg/transfer.hpp"
#include "taskdag/cycle.hpp"

namespace taskdag::petsc {

class Hierarchy {
 public:
  /// What is seen of a smoother, and of a level. Two that are equal are the same, with the same numbers.
  struct SmootherSeen {
    SmootherMap::Seen map;
    std::vector<SmootherStep> steps;
    bool operator==(const SmootherSeen&) const = default;
  };
  struct LevelSeen {
    MatState a;
    MatState interpolation;
    MatState restriction;
    int visits = 1;
    NullSpaceSeen null_space;
    NullSpaceSeen left_null_space;
    SmootherSeen before;
    SmootherSeen after;
    bool operator==(const LevelSeen&) const = default;
  };
  /// Of all levels, PETSc's numbers.
  struct Seen {
    CycleOptions options;
    bool inverts = false;  ///< the coarsest operator
    std::vector<LevelSeen> levels;
    bool operator==(const Seen& other) const {
      return options.form == other.options.form && options.cycles == other.options.cycles && inverts == other.inverts &&
             levels == other.levels;
    }
  };
  /// What a cycle is made of: of another one it must be made anew. Values may change.
  struct SmootherParts {
    std::vector<SmootherStep> steps;
    const LinearMap* map = nullptr;
    const double* diagonal = nullptr;
    std::uint64_t launches = 0;
    bool operator==(const SmootherParts&) const = default;
  };
  struct LevelParts {
    Place a;
    Place interpolation;
    Place restriction;
    std::array<Place, 3> outer;  ///< on several ranks: what they have in columns of others
    int visits = 1;
    CycleNullSpace null_space;
    CycleNullSpace left_null_space;
    SmootherParts before;
    SmootherParts after;
    bool operator==(const LevelParts&) const = default;
  };
  struct Parts {
    CycleForm form = CycleForm::cycle;
    int cycles = 1;
    std::vector<LevelParts> levels;  ///< finest first
    std::size_t dealt_out = 0;       ///< of these, on several ranks
    const double* inverse = nullptr;
    int device = -1;
    int threads = 0;
    bool operator==(const Parts&) const = default;
  };

  /// Sets smoothers up, as PETSc does before it applies them. Collective.
  static PetscErrorCode set_smoothers_up(PC pc);
  /// After that: looks at PETSc's objects and reads no entry. Not collective.
  static PetscErrorCode look_at(PC pc, Seen* seen, Reason* why_not);
  /// Brings what was seen, which is as it is on all ranks, to where the cycle is to work, as `wanted` says if anything.
  /// A reason is one of all ranks. Collective.
  PetscErrorCode bring(PC pc, const Seen& seen, const std::optional<BackendSettings>& wanted, Reason* why_not);

  // After bring():
  [[nodiscard]] const BackendChoice& place() const { return *place_; }
  [[nodiscard]] const Parts& parts() const { return parts_; }
  [[nodiscard]] const std::vector<CycleLevel>& levels() const { return cycle_levels_; }  ///< finest first
  /// Of several ranks; the group is the caller's.
  [[nodiscard]] const CycleRanks& ranks() const { return ranks_; }
  [[nodiscard]] const double* inverse() const { return parts_.inverse; }
  [[nodiscard]] PetscLogDouble flops() const { return flops_; }  ///< of an application

  PetscErrorCode reset();

 private:
  struct Level {
    RankMatrix a;
    Transfer interpolation;
    Transfer restriction;
    SmootherMap before;
    SmootherMap after;
    std::vector<NullSpaceElements> null_space;
    std::vector<NullSpaceElements> left_null_space;
  };

  /// Of a level with PETSc's number, finest first.
  [[nodiscard]] std::size_t place_of(std::size_t level) const { return levels_.size() - 1 - level; }
  PetscErrorCode make_room(std::size_t levels);
  PetscErrorCode choose_own_place(KSP finest, const std::optional<BackendSettings>& wanted, bool* has_rows);
  PetscErrorCode choose_place(KSP finest, const std::optional<BackendSettings>& wanted, Reason* why_not);
  PetscErrorCode find_rows(PC pc);
  PetscErrorCode choose_dealt_out(PC pc, const Seen& seen, Reason* why_not);
  [[nodiscard]] RankMatrix::Reach reach_of(std::size_t level) const;
  PetscErrorCode take_matrices(PC pc, const Seen& seen);
  PetscErrorCode bring_matrices(const Seen& seen);
  PetscErrorCode bring_level(std::size_t level, OpenMatrices* open);
  PetscErrorCode bring_smoothers(PC pc, const Seen& seen, Reason* why_not);
  PetscErrorCode bring_null_spaces(PC pc, std::size_t level, Reason* why_not);
  static void collect_smoother(const SmootherSeen& seen, const SmootherMap& map, CycleSmoother* smoother,
                               SmootherParts* parts);
  PetscErrorCode collect(PC pc, const Seen& seen);
  PetscErrorCode count_flops(PC pc, std::size_t level, bool inverted, PetscLogDouble* flops) const;

  std::vector<std::unique_ptr<Level>> levels_;  ///< under PETSc's numbers
  CoarseInverse inverse_;
  std::optional<BackendChoice> place_;
  std::vector<PetscInt> rows_;  ///< of each level, on all ranks
  std::vector<CycleLevel> cycle_levels_;
  CycleRanks ranks_;
  std::size_t dealt_out_ = 0;  ///< levels
  Parts parts_;
  PetscLogDouble flops_ = 0.0;
};

}  // namespace taskdag::petsc

/// \file
/// A cycle of the library's that is kept with a PCMG.
#pragma once

#include <cstdint>
#include <optional>

#include "across/ranks.hpp"
#include "across/reason.hpp"
#include "compat.hpp"
#include "mat/arrays.hpp"
#include "mat/device_copy.hpp"
#include "mg/hierarchy.hpp"
#include "pc/in_loop.hpp"
#include "taskdag/cycle.hpp"

namespace taskdag::petsc {

/// Made after PETSc's set-up, and again where something has changed that it was made of. Where it cannot be made, there
/// is a reason, and the cycle is PETSc's until the next set-up. On several ranks all functions but view() are
/// collective, and all find the same.
class CycleOfPc final : public OwnApplication {
 public:
  /// Takes the hierarchy as PETSc has set it up, with all values.
  PetscErrorCode take(PC pc);
  /// It is to be ours whatever -taskdag_mg says, and is to work so; from the next take() on.
  void want(const BackendSettings& settings) { wanted_ = settings; }
  [[nodiscard]] bool is_wanted() const { return wanted_.has_value(); }
  /// take() has found a cycle, or a reason against one.
  [[nodiscard]] bool has_looked() const { return cycle_.has_value() || why_not_.given(); }
  /// There is a cycle of ours.
  [[nodiscard]] bool is_there() const { return cycle_.has_value(); }
  [[nodiscard]] const Reason& why_not() const { return why_not_; }

  /// y = M⁻¹ b where the hierarchy, as it is now, can be taken; else `done` is false, and nothing has been touched.
  PetscErrorCode apply(PC pc, Vec b, Vec x, bool* done);

  PetscErrorCode prepare_for_arrays(PC pc, ArrayUse* use) override;
  void apply_to_arrays(const double* b, double* x, Stream stream) override { cycle_->apply(b, x, stream); }
  LinearMap* map_over_ranks() override { return cycle_ && ranks_.count() > 1 ? &*cycle_ : nullptr; }

  /// Prints what the cycle is made of, or why it is PETSc's.
  PetscErrorCode view(PetscViewer viewer) const;
  /// Drops all that is kept, and what was wanted.
  PetscErrorCode reset();

 private:
  PetscErrorCode follow(PC pc);
  PetscErrorCode follow_here(PC pc);
  PetscErrorCode make(PC pc, Hierarchy::Seen* now);
  PetscErrorCode construct(PC pc, const CycleOptions& options);
  PetscErrorCode drop();
  PetscErrorCode run(Vec b, Vec x);
  PetscErrorCode run_with_others(Vec b, Vec x);
  PetscErrorCode run_by_copies(const Arrays& arrays, Stream stream);
  [[nodiscard]] bool on_cuda() const { return hierarchy_.place().context.backend() == Backend::cuda; }

  std::optional<BackendSettings> wanted_;
  CommRanks ranks_;
  Hierarchy hierarchy_;
  Hierarchy::Seen seen_;    ///< of the cycle
  Hierarchy::Parts parts_;  ///< of the cycle
  std::optional<Cycle> cycle_;
  std::uint64_t launches_ = 0;  ///< ArrayUse::launches
  VectorCopies vectors_;
  WideArrays wide_;
  Reason why_not_;
  bool unfinished_ = false;  ///< an error has ended the last attempt: the next use makes another one
};

}  // namespace taskdag::petsc

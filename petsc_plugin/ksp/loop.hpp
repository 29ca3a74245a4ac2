/// \file
/// A Krylov loop of the library's that is kept with a KSP.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend_choice.hpp"
#include "compat.hpp"
#include "ksp/plan.hpp"
#include "ksp/reason.hpp"
#include "ksp/ritz.hpp"
#include "mat/arrays.hpp"
#include "mat/held.hpp"
#include "mat/matrix_source.hpp"
#include "mat/state.hpp"
#include "pc/preconditioner.hpp"
#include "taskdag/krylov.hpp"

namespace taskdag::petsc {

/// Made at the first solve, and again where something has changed that it was made of.
class KspLoop {
 public:
  /// Solves as the plan says, and leaves in the KSP all that its method's solve leaves there. Where it cannot,
  /// `why_not` says so and nothing has been touched.
  PetscErrorCode solve(KSP ksp, const Method& method, const Plan& plan, Reason* why_not);

  /// What so many iterations of the last solve know of the spectrum of M⁻¹ A, or those of the solve under way. `find`:
  /// of ritz.hpp. An error where nothing has been kept for it.
  template <class Value>
  PetscErrorCode find_values(FindValues<Value>* find, PetscInt iterations, std::vector<Value>* values) const {
    PetscFunctionBegin;
    PetscCheck(options_.coefficients, PETSC_COMM_SELF, PETSC_ERR_ORDER,
               "eigenvalues or singular values were not asked for before the solve");
    PetscCall(find(options_, outcome_, static_cast<std::size_t>(iterations), values));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Prints what the loop is made of.
  PetscErrorCode view(PetscViewer viewer) const;

  /// Drops all that is kept.
  PetscErrorCode reset();

 private:
  /// What a matrix source has looked at.
  struct Seen {
    MatState state;
    std::string type;
    bool bound = false;
    [[nodiscard]] bool has_form_of(const Seen& other) const {
      return state.has_pattern_of(other.state) && type == other.type && bound == other.bound;
    }
  };
  /// What a loop is made of: of another one it must be made anew.
  struct Parts {
    PetscObjectId matrix = 0;
    PetscObjectState pattern = 0;
    const void* offsets = nullptr;
    const void* columns = nullptr;
    const void* values = nullptr;
    PetscObjectId pc = 0;
    PcForm form = PcForm::none;
    const void* diagonal = nullptr;
    std::uint64_t launches = 0;  ///< ArrayUse::launches, where applications are captured
    int threads = 0;
    int device = -1;
    bool operator==(const Parts&) const = default;
  };

  /// As Krylov::set_null_space() takes it; read in each solve, so that the vectors may be others then.
  struct NullSpace {
    bool constant = false;
    std::vector<const double*> vectors;
    bool operator==(const NullSpace&) const = default;
  };

  PetscErrorCode look_at(KSP ksp, const Plan& plan);
  PetscErrorCode choose_place(KSP ksp, const Plan& plan, Reason* why_not);
  PetscErrorCode check_vectors(KSP ksp, Reason* why_not) const;
  PetscErrorCode find_diagonal(KSP ksp, const double** diagonal);
  PetscErrorCode find_null_space(KSP ksp, NullSpace* found, Reason* why_not) const;
  PetscErrorCode set_null_space(NullSpace& found);
  PetscErrorCode make(KSP ksp, const Plan& plan, const double* diagonal, Reason* why_not);
  PetscErrorCode collect_parts(KSP ksp, const double* diagonal, Parts* parts) const;
  PetscErrorCode run(KSP ksp, const Method& method, const Plan& plan);
  PetscErrorCode run_whole(KSP ksp, const Plan& plan);
  PetscErrorCode run_by_iterations(KSP ksp, const Plan& plan);
  PetscErrorCode tell(KSP ksp, const Plan& plan);
  PetscErrorCode conclude(KSP ksp, const Method& method, const Plan& plan) const;
  PetscErrorCode lose(KSP ksp, PetscErrorCode error);
  template <class Work>
  PetscErrorCode with_vectors(KSP ksp, const Work& work);
  [[nodiscard]] bool on_cuda() const { return place_->context.backend() == Backend::cuda; }

  MatrixSource source_;
  Seen seen_;
  std::optional<BackendChoice> place_;
  ArrayUse use_;  ///< of a preconditioner of ours
  PcForm form_ = PcForm::none;
  Held<PC> pc_;  ///< that of the loop
  Held<Vec> ones_;
  Held<Vec> diagonal_;
  std::unique_ptr<LinearMap> map_;
  std::optional<Krylov> krylov_;
  Parts parts_;
  KrylovOptions options_;
  NullSpace null_space_;      ///< of the loop
  KrylovOutcome outcome_;     ///< of the solve under way
  std::size_t told_ = 0;      ///< norms of that which the KSP knows
  std::int64_t replays_ = 0;  ///< applications by a graph since the preconditioner was told
};

}  // namespace taskdag::petsc

/// \file
/// A Krylov loop of the library's that is kept with a KSP.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "across/ranks.hpp"
#include "across/reason.hpp"
#include "backend_choice.hpp"
#include "compat.hpp"
#include "ksp/plan.hpp"
#include "ksp/ritz.hpp"
#include "mat/arrays.hpp"
#include "mat/device_copy.hpp"
#include "mat/held.hpp"
#include "mat/operand.hpp"
#include "pc/in_loop.hpp"
#include "pc/pc_diagonal.hpp"
#include "pc/preconditioner.hpp"
#include "pc/stand_in.hpp"
#include "taskdag/engine/memory.hpp"
#include "taskdag/engine/report.hpp"
#include "taskdag/krylov.hpp"

namespace taskdag::petsc {

/// Made at the first solve, and again where something has changed that it was made of.
class KspLoop {
 public:
  /// Solves as the plan says, and leaves in the KSP all that its method's solve leaves there. Where it cannot,
  /// `why_not` says so, the same on all ranks, and nothing has been touched. On several ranks there is no message in
  /// the solve itself.
  PetscErrorCode solve(KSP ksp, const Method& method, const Plan& plan, Reason* why_not);

  /// The same for the columns of dense matrices from number `first` on, together. What is left in the KSP, and said to
  /// its monitors, is what solves of one column after the other leave and say. On one rank.
  PetscErrorCode solve_columns(KSP ksp, const Method& method, const Plan& plan, Mat b, Mat x, PetscInt first,
                               Reason* why_not);

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

  /// Prints what the loop is made of. Collective.
  PetscErrorCode view(KSP ksp, PetscViewer viewer) const;

  /// Drops all that is kept.
  PetscErrorCode reset();

 private:
  /// What a loop is made of: of another one it must be made anew.
  struct Parts {
    Place own;
    Place outer;
    PetscObjectId pc = 0;
    PcForm form = PcForm::none;
    bool own_application = false;
    bool stands_in = false;
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

  /// What the next solve is to go by.
  struct Next;

  PetscErrorCode take_preconditioner(KSP ksp, const Plan& plan, Vec like);
  PetscErrorCode choose_place(KSP ksp, const Plan& plan, Reason* why_not);
  void check_place(Reason* why_not) const;
  PetscErrorCode find_diagonal(const double** diagonal);
  PetscErrorCode find_null_space(KSP ksp, NullSpace* found, Reason* why_not);
  PetscErrorCode set_null_space(KSP ksp, Next* next);
  PetscErrorCode collect_parts(KSP ksp, Next* next) const;
  PetscErrorCode prepare(KSP ksp, const Plan& plan, Vec like, Next* next, Reason* why_not);
  PetscErrorCode be_ready(KSP ksp, const Plan& plan, Vec like, Next* next, Reason* why_not);
  PetscErrorCode decide(KSP ksp, PetscErrorCode prepared, const Plan& plan, Next* next, Reason* why_not);
  std::unique_ptr<LinearMap> make_map(const double* diagonal);
  PetscErrorCode make(KSP ksp, const Plan& plan, const Next& next, Reason* why_not);
  PetscErrorCode construct(KSP ksp, const Plan& plan, const Next& next);
  PetscErrorCode run(KSP ksp, const Method& method, const Plan& plan, bool traced);
  PetscErrorCode run_whole(KSP ksp, const Plan& plan);
  PetscErrorCode run_by_iterations(KSP ksp, const Plan& plan);
  [[nodiscard]] std::int64_t change_after() const;
  PetscErrorCode change_form(KSP ksp);
  PetscErrorCode run_columns(const Plan& plan, bool guess, Mat b, Mat x, PetscInt first,
                             std::vector<KrylovOutcome>* outcomes);
  PetscErrorCode tell_of_columns(KSP ksp, const Method& method, const Plan& plan, Mat x, PetscInt first,
                                 std::vector<KrylovOutcome>* outcomes);
  PetscErrorCode write_trace(const Plan& plan);
  PetscErrorCode tell(KSP ksp, const Plan& plan);
  PetscErrorCode tell_between(KSP ksp, const Plan& plan);
  PetscErrorCode conclude(KSP ksp, const Method& method, const Plan& plan, Vec solution) const;
  PetscErrorCode lose(KSP ksp, PetscErrorCode error, Vec solution);
  PetscErrorCode log_operations(KSP ksp, const Method& method, std::int64_t iterations) const;
  template <class Work>
  PetscErrorCode with_copies(const Arrays& arrays, const Work& work);
  template <class Object, class Work>
  PetscErrorCode with_arrays(Object b, Object x, PetscInt first, const Work& work);
  template <class Work>
  PetscErrorCode with_own_vectors(KSP ksp, const Work& work);
  template <class Work>
  PetscErrorCode with_vectors(KSP ksp, const Work& work);
  [[nodiscard]] bool on_cuda() const { return place_->context.backend() == Backend::cuda; }
  [[nodiscard]] PetscInt rows() const { return own_.source.rows(); }

  CommRanks ranks_;
  Operand own_;    ///< entries in the rank's own columns, all where there is one rank
  Operand outer_;  ///< the others
  VectorCopies vectors_;
  WideArrays wide_;
  std::optional<BackendChoice> place_;
  ArrayUse use_;                               ///< of a preconditioner of ours
  OwnApplication* own_application_ = nullptr;  ///< the PC's, where it has another type than taskdag
  PcForm form_ = PcForm::none;                 ///< the same on all ranks
  Held<PC> pc_;                                ///< that of the loop
  PcDiagonal diagonal_;
  bool stands_in_ = false;  ///< for a preconditioner of PETSc's that divides by blocks stand
  StandIn blocks_;          ///< these of ours
  std::unique_ptr<LinearMap> map_;
  std::optional<Krylov> krylov_;
  bool captures_ = false;  ///< the preconditioner, into a graph
  int applications_ = 1;   ///< of it, in an iteration
  Reason refused_;         ///< by the library: there is no loop of these parts and options
  Parts parts_;
  KrylovOptions options_;
  NullSpace null_space_;                 ///< of the loop
  std::vector<Elements> null_elements_;  ///< of the vectors of the null space
  KrylovOutcome outcome_;                ///< of the solve under way
  engine::Report trace_;                 ///< of an iteration of that, where one is recorded
  std::size_t told_ = 0;                 ///< norms of that which the KSP knows
  std::int64_t replays_ = 0;  ///< applications by a graph before this solve that the preconditioner was not told of
  std::int64_t told_replays_ = 0;  ///< in this solve that it was told of
};

}  // namespace taskdag::petsc

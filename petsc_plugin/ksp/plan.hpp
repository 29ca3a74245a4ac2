/// \file
/// What a KSP asks for, as the library takes it; or why it cannot be the library's.
#pragma once

#include <string>

#include "across/reason.hpp"
#include "compat.hpp"
#include "ksp/setters.hpp"
#include "taskdag/krylov.hpp"

namespace taskdag::petsc {

/// A method under its names.
struct Method {
  KrylovMethod method;
  const char* petscs;
  const char* ours;
  /// Where no norm is computed, all iterations made are convergence, whatever the test.
  bool converges_by_iterations;
  /// Then monitors are not called.
  bool silent_without_norms;
  /// The iteration that has been begun when the test ends the solve counts, but for the limit and where none was
  /// needed.
  bool counts_begun;
  /// Operations of an iteration for each row, without product and preconditioner.
  double flops_of_row;
  /// KSPMatSolve() may solve for several right-hand sides together.
  bool columns;
};

/// How the preconditioner comes into the loop.
enum class PcForm {
  none,
  diagonal,  ///< elements found by an application to ones
  map,       ///< of ours, also in place of one of PETSc's that divides by blocks, on arrays
};

struct Plan {
  KrylovOptions options;
  KrylovTolerances tolerances;
  PcForm pc = PcForm::none;
  bool pc_is_ours = false;
  bool by_iterations = false;    ///< a monitor or a test has its turn after each
  bool own_test = false;         ///< the application has a test of its own
  bool silent = false;           ///< where there are no norms, monitors are not called
  bool limit_converges = false;  ///< reaching the limit of iterations is KSP_CONVERGED_ITS
  std::string trace_file;        ///< -taskdag_ksp_trace: gets what the first iteration has done; empty: none does
};

/// What PETSc's methods remove from all that the preconditioner gives: the operator's null space, on the left alone.
/// Null: nothing. The operator's reference is the only one.
PetscErrorCode null_space_of(KSP ksp, MatNullSpace* null_space);

/// `petscs_pcs`: whether preconditioners of PETSc that divide by a diagonal or by blocks are taken.
PetscErrorCode make_plan(KSP ksp, const Method& method, const SetterCalls& calls, bool petscs_pcs, Plan* plan,
                         Reason* why_not);

/// Why the right-hand sides of a KSPMatSolve() cannot be solved for together by that plan.
PetscErrorCode check_columns(KSP ksp, const Plan& plan, Reason* why_not);

/// Whether the PC is PETSc's none, or one that multiplies by a diagonal.
PetscErrorCode is_simple(PC pc, bool* none, bool* diagonal);

/// Bounds and polynomials of PETSc's Chebyshev after its set-up.
PetscErrorCode read_chebyshev(KSP ksp, KrylovOptions* options, Reason* why_not);

}  // namespace taskdag::petsc

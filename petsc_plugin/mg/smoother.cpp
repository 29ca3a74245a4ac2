#include "mg/smoother.hpp"

#include "boundary.hpp"
#include "ksp/plan.hpp"
#include "ksp/wrapped.hpp"
#include "mg/sor_of_pc.hpp"
#include "pc/pc_taskdag.hpp"

namespace taskdag::petsc {
namespace {

/// All of a solve that is not the method's iteration is refused.
void check_solve(KSP ksp, bool from_solution, const Refusal& refuse) {
  const bool plain =
      ksp->converged == KSPConvergedSkip || (ksp->converged == KSPConvergedDefault && ksp->normtype == KSP_NORM_NONE);
  if (ksp->numbermonitors > 0) refuse("has a monitor");
  if (ksp->guess || ksp->guess_knoll) refuse("makes a guess of its own");
  if (scales_by_diagonal(ksp)) refuse("scales its system");
  if (ksp->presolve || ksp->postsolve) refuse("calls functions of the application");
  if (ksp->pc_side != PC_LEFT) refuse("is not preconditioned on the left");
  if (!plain) refuse("may end before its last iteration (its norm type is not none)");
  if (from_solution && ksp->guess_zero) refuse("begins at zero each time");
}

/// The shift of a PC that sweeps through rows; 0 for others. From another solution than zero such a sweep is no step of
/// Richardson's iteration.
PetscErrorCode shift_of(PC pc, double* shift) {
  PetscFunctionBegin;
  PetscBool sor = PETSC_FALSE;
  bool ours = false;
  SorSettings settings;
  bool known = false;
  *shift = 0.0;
  PetscCall(is_taskdag(pc, &ours));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCSOR, &sor));
  if (ours && settings_of(pc).type == PC_TASKDAG_SOR) *shift = settings_of(pc).sor.shift;
  if (sor) PetscCall(read_sor(pc, &settings, &known));
  if (sor && known) *shift = settings.shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc lets some preconditioners do all of Richardson's iterations, with the matrix that they are made of.
PetscErrorCode read_richardson(KSP ksp, const SetterCalls& calls, double* damping, const Refusal& refuse) {
  PetscFunctionBegin;
  Mat a = nullptr;
  Mat made_of = nullptr;
  PetscBool iterates = PETSC_FALSE;
  double shift = 0.0;
  *damping = calls.value(Setter::scale, 1.0);
  PetscCall(PCApplyRichardsonExists(ksp->pc, &iterates));
  PetscCall(PCGetOperators(ksp->pc, &a, &made_of));
  if (calls.value(Setter::self_scale) != 0.0) refuse("scales itself");
  if (!iterates || *damping != 1.0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(shift_of(ksp->pc, &shift));
  if (a != made_of) refuse("iterates by another matrix than the operator");
  if (shift != 0.0) refuse("iterates by sweeps with a diagonal shift");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_method(KSP ksp, const Wrapped& wrapped, std::vector<SmootherStep>* steps, const Refusal& refuse) {
  PetscFunctionBegin;
  const auto count = static_cast<int>(ksp->max_it);
  KrylovOptions options;
  Reason reason;
  if (wrapped.method->method == KrylovMethod::richardson) {
    PetscCall(read_richardson(ksp, wrapped.setters, &options.damping, refuse));
    PetscCall(guarded([&] { *steps = richardson_steps(count, options.damping); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(read_chebyshev(ksp, &options, &reason));
  if (reason.given()) {
    refuse("cannot be followed: ", reason.text());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(guarded([&] { *steps = chebyshev_steps(count, options.kind, options.smallest, options.largest); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool is_stationary(const Wrapped* wrapped) {
  return wrapped &&
         (wrapped->method->method == KrylovMethod::richardson || wrapped->method->method == KrylovMethod::chebyshev);
}

}  // namespace

PetscErrorCode applies_once(KSP ksp, bool* once) {
  PetscFunctionBegin;
  PetscBool same = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(ksp), KSPPREONLY, &same));
  *once = same == PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_smoother(KSP ksp, bool from_solution, std::vector<SmootherStep>* steps, const Refusal& refuse) {
  PetscFunctionBegin;
  bool once = false;
  Wrapped* wrapped = nullptr;
  PetscCall(KSPSetUp(ksp));
  PetscCall(applies_once(ksp, &once));
  PetscCall(find_wrapped(ksp, &wrapped));
  if (!once && !is_stationary(wrapped)) {
    refuse("is ", reinterpret_cast<PetscObject>(ksp)->type_name);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // PETSc's preonly has no test.
  if (once && !ksp->guess_zero) refuse("is preonly and is given a guess");
  if (once) {
    PetscCall(guarded([&] { *steps = richardson_steps(1, 1.0); }));
    if (ksp->numbermonitors > 0) refuse("has a monitor");
    if (from_solution) refuse("begins at zero each time");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  check_solve(ksp, from_solution, refuse);
  PetscCall(read_method(ksp, *wrapped, steps, refuse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

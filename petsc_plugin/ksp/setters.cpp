#include "ksp/setters.hpp"

#include "ksp/wrapped.hpp"

namespace taskdag::petsc {
namespace {

double number_of(PetscReal value) { return value; }
double number_of(PetscBool value) { return value == PETSC_TRUE ? 1.0 : 0.0; }
double number_of(KSPCGType value) { return value; }
template <class Function, class... Others>
double number_of(Function* function, const Others&... /*others*/) {
  return function ? 1.0 : 0.0;
}

template <Setter which, class Signature>
struct Watch;
template <Setter which, class... Arguments>
struct Watch<which, PetscErrorCode(KSP, Arguments...)> {
  static constexpr auto place = static_cast<std::size_t>(which);

  static PetscErrorCode call(KSP ksp, Arguments... arguments) {
    PetscFunctionBegin;
    Wrapped* wrapped = nullptr;
    PetscCall(wrapped_of(ksp, &wrapped));
    const auto theirs = reinterpret_cast<PetscErrorCode (*)(KSP, Arguments...)>(wrapped->setters.theirs[place]);
    PetscCall(theirs(ksp, arguments...));
    wrapped->setters.values[place] = number_of(arguments...);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static PetscErrorCode put(KSP ksp, const char* name, SetterCalls* calls) {
    PetscFunctionBegin;
    auto* const object = reinterpret_cast<PetscObject>(ksp);
    PetscErrorCode (*theirs)(KSP, Arguments...) = nullptr;
    PetscCall(PetscObjectQueryFunction(object, name, &theirs));
    if (!theirs) PetscFunctionReturn(PETSC_SUCCESS);
    calls->theirs[place] = reinterpret_cast<void (*)()>(theirs);
    PetscCall(PetscObjectComposeFunction(object, name, call));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

using OfReal = PetscErrorCode(KSP, PetscReal);
using OfBool = PetscErrorCode(KSP, PetscBool);
using OfType = PetscErrorCode(KSP, KSPCGType);

}  // namespace

PetscErrorCode watch_setters(KSP ksp, SetterCalls* calls) {
  PetscFunctionBegin;
  PetscCall(Watch<Setter::radius, OfReal>::put(ksp, "KSPCGSetRadius_C", calls));
  PetscCall(Watch<Setter::objective, OfReal>::put(ksp, "KSPCGSetObjectiveTarget_C", calls));
  PetscCall(Watch<Setter::happy_tolerance, OfReal>::put(ksp, "KSPGMRESSetHapTol_C", calls));
  PetscCall(Watch<Setter::breakdown_tolerance, OfReal>::put(ksp, "KSPGMRESSetBreakdownTolerance_C", calls));
  PetscCall(Watch<Setter::modify_pc, ModifyPcSetter>::put(ksp, modify_pc_setter, calls));
  PetscCall(Watch<Setter::scale, OfReal>::put(ksp, "KSPRichardsonSetScale_C", calls));
  PetscCall(Watch<Setter::self_scale, OfBool>::put(ksp, "KSPRichardsonSetSelfScale_C", calls));
  PetscCall(Watch<Setter::minres_radius, OfReal>::put(ksp, "KSPMINRESSetRadius_C", calls));
  PetscCall(Watch<Setter::cg_type, OfType>::put(ksp, "KSPCGSetType_C", calls));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

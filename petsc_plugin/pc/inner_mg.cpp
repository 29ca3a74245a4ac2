#include "pc/inner_mg.hpp"

#include <array>

#include "pc/pc_taskdag.hpp"

namespace taskdag::petsc {
namespace {

/// In the order of MgType.
constexpr std::array inner_type_names{PCGAMG, PCMG, PCHMG};

PetscErrorCode find_inner(PC pc, PC* inner) {
  PetscFunctionBegin;
  PetscObject found = nullptr;
  PetscCall(PetscObjectQuery(reinterpret_cast<PetscObject>(pc), kInnerMg, &found));
  *inner = reinterpret_cast<PC>(found);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode give_type(PC pc, PC inner) {
  PetscFunctionBegin;
  const MgType type = settings_of(pc).mg_pc_type;
  PetscCall(PCSetType(inner, inner_type_names.at(static_cast<std::size_t>(type))));
  inner_mg_of(pc).type = type;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_inner(PC pc, PC* inner) {
  PetscFunctionBegin;
  const char* prefix = nullptr;
  PetscCall(PCCreate(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), inner));
  PetscCall(PetscObjectIncrementTabLevel(reinterpret_cast<PetscObject>(*inner), reinterpret_cast<PetscObject>(pc), 1));
  PetscCall(PetscObjectSetOptions(reinterpret_cast<PetscObject>(*inner), reinterpret_cast<PetscObject>(pc)->options));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PCSetOptionsPrefix(*inner, prefix));
  PetscCall(PCAppendOptionsPrefix(*inner, "pc_taskdag_mg_"));
  PetscCall(give_type(pc, *inner));
  PetscCall(PCSetReusePreconditioner(*inner, pc->reusepreconditioner));
  inner_mg_of(pc) = {.type = inner_mg_of(pc).type};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode give_operators(PC pc, PC inner) {
  PetscFunctionBegin;
  if (pc->pmat) PetscCall(PCSetOperators(inner, pc->mat, pc->pmat));
  if (pc->dm && (!inner->dm || !inner_mg_of(pc).given)) PetscCall(PCSetDM(inner, pc->dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PCSetCoordinates(), which smoothed aggregation makes rigid body modes of. As for all preconditioners of PETSc, they
/// come after the matrix; a type that has no use for them ignores them.
PetscErrorCode set_coordinates(PC pc, PetscInt dimension, PetscInt nodes, PetscReal* coordinates) {
  PetscFunctionBegin;
  PC inner = nullptr;
  if (settings_of(pc).type != PC_TASKDAG_MG) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(get_inner_mg(pc, &inner));
  PetscCall(give_operators(pc, inner));
  PetscCall(PCSetCoordinates(inner, dimension, nodes, coordinates));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PCSetReusePreconditioner(), which multigrid of newer releases hands on to its finest smoother.
PetscErrorCode set_reuse(PC pc, PetscBool reuse) {
  PetscFunctionBegin;
  PC inner = nullptr;
  PetscCall(find_inner(pc, &inner));
  if (inner) PetscCall(PCSetReusePreconditioner(inner, reuse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode get_inner_mg(PC pc, PC* inner) {
  PetscFunctionBegin;
  PetscCall(find_inner(pc, inner));
  if (*inner) PetscFunctionReturn(PETSC_SUCCESS);
  PC made = nullptr;
  PetscCall(make_inner(pc, &made));
  PetscCall(PetscObjectCompose(reinterpret_cast<PetscObject>(pc), kInnerMg, reinterpret_cast<PetscObject>(made)));
  *inner = made;
  PetscCall(PCDestroy(&made));  // the PC has a reference
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_inner_mg(PC pc, PC inner) {
  PetscFunctionBegin;
  PetscCall(start_over(pc));
  PetscCall(PetscObjectCompose(reinterpret_cast<PetscObject>(pc), kInnerMg, reinterpret_cast<PetscObject>(inner)));
  inner_mg_of(pc) = {.given = inner != nullptr};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode prepare_inner_mg(PC pc, PC* inner) {
  PetscFunctionBegin;
  InnerMg& known = inner_mg_of(pc);
  PetscCall(get_inner_mg(pc, inner));
  if (!known.given && known.type != settings_of(pc).mg_pc_type) PetscCall(give_type(pc, *inner));
  PetscCall(give_operators(pc, *inner));
  PetscCall(PCSetErrorIfFailure(*inner, pc->erroriffailure));
  if (known.reads(pc)) PetscCall(PCSetFromOptions(*inner));
  if (!known.given) known.options_of = pc->setfromoptionscalled;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode reset_inner_mg(PC pc) {
  PetscFunctionBegin;
  PC inner = nullptr;
  PetscCall(find_inner(pc, &inner));
  if (inner && !inner_mg_of(pc).given) PetscCall(PCReset(inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode compose_inner_mg(PC pc, bool present) {
  PetscFunctionBegin;
  auto* const object = reinterpret_cast<PetscObject>(pc);
  PetscCall(PetscObjectComposeFunction(object, "PCSetCoordinates_C", present ? set_coordinates : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCSetReusePreconditioner_C", present ? set_reuse : nullptr));
  if (!present) PetscCall(PetscObjectCompose(object, kInnerMg, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

#include "pc/in_loop.hpp"

#include "pc/pc_taskdag.hpp"

namespace taskdag::petsc {

PetscErrorCode own_application_of(PC pc, OwnApplication** own) {
  PetscFunctionBegin;
  FindOwnApplication* find = nullptr;
  *own = nullptr;
  PetscCall(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(pc), kFindOwnApplication, &find));
  if (find) PetscCall(find(pc, own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode is_ours(PC pc, bool* ours) {
  PetscFunctionBegin;
  OwnApplication* own = nullptr;
  PetscCall(is_taskdag(pc, ours));
  if (!*ours) PetscCall(own_application_of(pc, &own));
  if (own) *ours = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

/* Loaded before PETSc, this makes it look like another one: with CUDA, or of another release. */
#include <petscsys.h>

#if defined(LOOKS_LIKE_CUDA)
PETSC_VISIBILITY_PUBLIC void VecCreateSeqCUDA(void);
void VecCreateSeqCUDA(void) {}
#else
PETSC_VISIBILITY_PUBLIC PetscErrorCode PetscGetVersionNumber(PetscInt*, PetscInt*, PetscInt*, PetscInt*);
PetscErrorCode PetscGetVersionNumber(PetscInt* major, PetscInt* minor, PetscInt* subminor, PetscInt* release) {
  if (major) *major = PETSC_VERSION_MAJOR;
  if (minor) *minor = PETSC_VERSION_MINOR;
  if (subminor) *subminor = PETSC_VERSION_SUBMINOR + OTHER_SUBMINOR;
  if (release) *release = OTHER_RELEASE;
  return 0;
}
#endif

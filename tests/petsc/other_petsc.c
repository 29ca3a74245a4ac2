/* Loaded before PETSc, this makes it look like another one: with CUDA, of another release, or with a member elsewhere. */
#include <petscksp.h>

#if defined(LOOKS_LIKE_CUDA)
PETSC_VISIBILITY_PUBLIC void VecCreateSeqCUDA(void);
void VecCreateSeqCUDA(void) {}
#else
PETSC_VISIBILITY_PUBLIC PetscErrorCode PetscGetVersionNumber(PetscInt*, PetscInt*, PetscInt*, PetscInt*);
PetscErrorCode PetscGetVersionNumber(PetscInt* major, PetscInt* minor, PetscInt* subminor, PetscInt* release) {
  if (major) *major = PETSC_VERSION_MAJOR;
  if (minor) *minor = PETSC_VERSION_MINOR + OTHER_MINOR;
  if (subminor) *subminor = PETSC_VERSION_SUBMINOR + OTHER_SUBMINOR;
  if (release) *release = OTHER_RELEASE;
  return 0;
}
#if defined(LOOKS_MOVED)
/* What is written to is not where the plugin looks for it. */
PETSC_VISIBILITY_PUBLIC PetscErrorCode KSPSetLagNorm(KSP, PetscBool);
PetscErrorCode KSPSetLagNorm(KSP ksp, PetscBool lags) {
  (void)ksp;
  (void)lags;
  return 0;
}
#endif
#endif

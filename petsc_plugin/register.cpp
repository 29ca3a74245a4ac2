/// \file
/// Start and end of the plugin.

#include <dlfcn.h>

#include "backend_choice.hpp"
#include "coarsen/mat_coarsen.hpp"
#include "compat.hpp"
#include "events.hpp"
#include "ksp/ksp_types.hpp"
#include "layout.hpp"
#include "matfactor/mat_factor.hpp"
#include "matsor/mat_sor.hpp"
#include "mg/mg_types.hpp"
#include "ordering/orderings.hpp"
#include "pc/pc_taskdag.hpp"
#include "taskdagpetsc.h"

namespace taskdag::petsc {
namespace {

bool initialized = false;

const char* release_text(bool release) { return release ? "" : " (development)"; }

/// What kinds of devices a PETSc is configured for changes its structures, and which functions it has.
struct DeviceKind {
  const char* name;
  bool compiled;
  const char* function;  ///< that is there with such devices only
};

constexpr DeviceKind device_kinds[] = {
#if defined(PETSC_HAVE_CUDA)
    {"CUDA", true, "VecCreateSeqCUDA"},
#else
    {"CUDA", false, "VecCreateSeqCUDA"},
#endif
#if defined(PETSC_HAVE_HIP)
    {"HIP", true, "VecCreateSeqHIP"},
#else
    {"HIP", false, "VecCreateSeqHIP"},
#endif
#if defined(PETSC_HAVE_KOKKOS_KERNELS)
    {"Kokkos", true, "VecCreateSeqKokkos"},
#else
    {"Kokkos", false, "VecCreateSeqKokkos"},
#endif
#if defined(PETSC_HAVE_VIENNACL)
    {"ViennaCL", true, "VecCreateSeqViennaCL"},
#else
    {"ViennaCL", false, "VecCreateSeqViennaCL"},
#endif
};

PetscErrorCode check_devices() {
  PetscFunctionBegin;
  for (const DeviceKind& kind : device_kinds) {
    const bool runs = dlsym(RTLD_DEFAULT, kind.function) != nullptr;
    PetscCheck(
        runs == kind.compiled, PETSC_COMM_SELF, PETSC_ERR_LIB,
        "This TaskDAG plugin was compiled for a PETSc with%s %s, the running PETSc is one with%s: build it again",
        kind.compiled ? "" : "out", kind.name, runs ? "" : "out");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The plugin reads PETSc's private structures: they are those of one minor version, with one set of sizes. A patch
/// release keeps them as a rule, and whether it has is looked at; so it is with versions under development, which share
/// a number.
PetscErrorCode check_version() {
  PetscFunctionBegin;
  PetscInt major = 0;
  PetscInt minor = 0;
  PetscInt subminor = 0;
  PetscInt release = 0;
  PetscCall(PetscGetVersionNumber(&major, &minor, &subminor, &release));
  const bool same =
      major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR && (release != 0) == (PETSC_VERSION_RELEASE != 0);
  PetscCheck(
      same, PETSC_COMM_SELF, PETSC_ERR_LIB,
      "This TaskDAG plugin was compiled for PETSc %d.%d.%d%s and is running with PETSc %d.%d.%d%s: build it again",
      PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, release_text(PETSC_VERSION_RELEASE != 0),
      static_cast<int>(major), static_cast<int>(minor), static_cast<int>(subminor), release_text(release != 0));

  // By name, so that the running library answers, not the header.
  PetscDataType scalar = PETSC_DATATYPE_UNKNOWN;
  PetscDataType index = PETSC_DATATYPE_UNKNOWN;
  PetscBool known_scalar = PETSC_FALSE;
  PetscBool known_index = PETSC_FALSE;
  std::size_t scalar_size = 0;
  std::size_t index_size = 0;
  PetscCall(PetscDataTypeFromString("scalar", &scalar, &known_scalar));
  PetscCall(PetscDataTypeFromString("int", &index, &known_index));
  if (known_scalar) PetscCall(PetscDataTypeGetSize(scalar, &scalar_size));
  if (known_index) PetscCall(PetscDataTypeGetSize(index, &index_size));
  PetscCheck(scalar_size == sizeof(PetscScalar) && index_size == sizeof(PetscInt), PETSC_COMM_SELF, PETSC_ERR_LIB,
             "This TaskDAG plugin was compiled for %d-byte scalars and %d-byte indices, the running PETSc has %d and "
             "%d: build it again",
             static_cast<int>(sizeof(PetscScalar)), static_cast<int>(sizeof(PetscInt)), static_cast<int>(scalar_size),
             static_cast<int>(index_size));

  if (subminor == PETSC_VERSION_SUBMINOR && release != 0) PetscFunctionReturn(PETSC_SUCCESS);
  const char* elsewhere = nullptr;
  PetscCall(find_moved_member(&elsewhere));
  PetscCheck(
      !elsewhere, PETSC_COMM_SELF, PETSC_ERR_LIB,
      "This TaskDAG plugin was compiled for PETSc %d.%d.%d and is running with PETSc %d.%d.%d, where %s is elsewhere:"
      " build it again",
      PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, static_cast<int>(major),
      static_cast<int>(minor), static_cast<int>(subminor), elsewhere);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace
}  // namespace taskdag::petsc

/*@
  TaskDAGInitializePackage - Registers TaskDAG's preconditioner, factorisation package, orderings and Krylov methods

  Collective on `PETSC_COMM_WORLD`

  Level: beginner

  Note:
  Call it after `PetscInitialize()`; where the plugin is loaded by -dll_append PETSc does. Calls after the first one do
  nothing until `PetscFinalize()`. `PETSC_ERR_LIB` is returned where the running PETSc is not the plugin's.

.seealso: `PCTASKDAG`, `MATSOLVERTASKDAG`, `TaskDAGFinalizePackage()`
@*/
PetscErrorCode TaskDAGInitializePackage(void) {
  using namespace taskdag::petsc;
  PetscFunctionBegin;
  if (initialized) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(check_version());
  PetscCall(check_devices());
  PetscCall(register_events());
  PetscCall(initialize_backends());
  PetscCall(register_pc());
  PetscCall(register_mat_factor());
  PetscCall(register_orderings());
  PetscCall(register_coarsen());
  PetscCall(register_mat_sor());
  PetscCall(register_ksp());
  PetscCall(register_mg());
  PetscCall(PetscRegisterFinalize(TaskDAGFinalizePackage));
  initialized = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TaskDAGFinalizePackage - Ends TaskDAG's threads and releases what it has of devices

  Collective on `PETSC_COMM_WORLD`

  Level: developer

  Note:
  `PetscFinalize()` calls it.

.seealso: `TaskDAGInitializePackage()`
@*/
PetscErrorCode TaskDAGFinalizePackage(void) {
  PetscFunctionBegin;
  PetscCall(taskdag::petsc::finalize_backends());
  taskdag::petsc::initialized = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscDLLibraryRegister_petsctaskdag(void) {
  PetscFunctionBegin;
  PetscCall(TaskDAGInitializePackage());
  PetscFunctionReturn(PETSC_SUCCESS);
}

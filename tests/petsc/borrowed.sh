# shellcheck shell=bash
# Sourced by scripts that look at PETSc's headers without configuring that PETSc.

# borrow_configuration FOLDER: puts the configuration of the PETSc that pkg-config finds there, made to fit newer headers; $mpi
# gets the flags for MPI's header.
borrow_configuration() {
  local folder kind configured
  read -ra configured < <(pkg-config --cflags PETSc)
  for folder in "${configured[@]#-I}"; do
    # Alone, so that no other header of that release is found.
    [ ! -e "$folder/petscconf.h" ] || cp "$folder"/petscconf*.h "$folder/petscfix.h" "$1"
  done
  # What configurations of newer releases define. Which MPI it is changes nothing here.
  echo '#define PETSC_PKG_OPENMPI_VERSION_EQ(major, minor, subminor) 1
#define PETSC_PKG_OPENMPI_VERSION_GT(major, minor, subminor) 0
#define PETSC_PKG_OPENMPI_VERSION_LT(major, minor, subminor) 0' >"$1/petscpkg_version.h"
  echo '#define PETSC_HAVE_OPENMPI 1' >>"$1/petscconf.h"
  for kind in FUNCTION ENUM TYPEDEF OBJECT MACRO; do
    echo "#define PETSC_DEPRECATED_${kind}_BASE(text)"
  done >>"$1/petscconf.h"
  # shellcheck disable=SC2034 # for who has sourced this
  read -ra mpi < <(mpicc --showme:compile)
}

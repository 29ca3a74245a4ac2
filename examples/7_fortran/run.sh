#!/usr/bin/env bash
# Builds fortran_app.F90 with the module for the plugin, and runs it. usage: run.sh PLUGIN [PETSc options]
#   TASKDAG_FORTRAN_MODULE [share/taskdag/fortran/taskdagpetsc.F90 beside the plugin's folder] is the module's source.
#   MPIEXEC ["mpiexec -n 1"] starts it. PKG_CONFIG_PATH must lead to the plugin's PETSc.
# Exit status 77, skipped: no Fortran compiler, or a PETSc without Fortran.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
plugin=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
module=${TASKDAG_FORTRAN_MODULE:-$(dirname "$plugin")/../share/taskdag/fortran/taskdagpetsc.F90}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in PETSc petsc; do
  if pkg-config --exists "$name"; then break; fi
done
petsc=$(pkg-config --variable=prefix "$name")
command -v mpifort >/dev/null || { echo "skipped: there is no mpifort" && exit 77; }
[ -e "$petsc/include/petscksp.mod" ] || { echo "skipped: PETSc in $petsc has no Fortran" && exit 77; }

cd "$work"
read -ra flags < <(pkg-config --cflags "$name")
read -ra libraries < <(pkg-config --libs "$name")
mpifort -I"$petsc/include" "${flags[@]}" "$module" "$here/fortran_app.F90" -o fortran_app "$plugin" \
  "${libraries[@]}" -Wl,-rpath,"$(dirname "$plugin")" -Wl,-rpath,"$petsc/lib"
${MPIEXEC:-mpiexec -n 1} ./fortran_app "${@:2}"

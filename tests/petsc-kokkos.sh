#!/usr/bin/env bash
# Builds the plugin for a PETSc with Kokkos Kernels that is there, and runs the plugin's tests with it: matrices and
# vectors of Kokkos among them.
# usage: PETSC_DIR=PREFIX petsc-kokkos.sh [BUILD [CMAKE-ARGUMENT...]]   BUILD: the build's folder [build-kokkos]
#   PETSc: real, double, shared, of a release that the plugin takes, with Kokkos on the host or on CUDA; for CUDA add
#   -DTASKDAG_CUDA=ON. It is neither built nor changed here.
set -euo pipefail
root=$(dirname "$(dirname "$(realpath "${BASH_SOURCE[0]}")")")
: "${PETSC_DIR:?names no PETSc}"
if ! grep -qs 'PETSC_HAVE_KOKKOS_KERNELS 1' "$PETSC_DIR/include/petscconf.h" \
  "$PETSC_DIR/${PETSC_ARCH:-}/include/petscconf.h"; then
  echo "the PETSc in $PETSC_DIR has no Kokkos Kernels" >&2
  exit 2
fi
build=${1:-build-kokkos}
cmake -S "$root" -B "$build" -G Ninja -DTASKDAG_PETSC=ON -DTASKDAG_TESTS=ON "${@:2}"
cmake --build "$build"
ctest --test-dir "$build" -L petsc --output-on-failure

#!/usr/bin/env bash
# Builds PETSc 3.26.1 with Kokkos Kernels on the host (real, double, 32-bit indices, optimised) from its source package
# on PyPI.
# usage: petsc-kokkos.sh [PREFIX]   default: TASKDAG_PETSC_KOKKOS_PREFIX, /opt/petsc-kokkos; nothing to do where it is
#   KOKKOS, KOKKOS_KERNELS   archives (.tar.gz) with the sources of both, of one version: tried with 4.6.01. Without,
#                            PETSc downloads the versions that it names (not tried).
#   About half an hour on two cores. Use it with PETSC_DIR=PREFIX.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../.ci/machine.sh"
prefix=${1:-${TASKDAG_PETSC_KOKKOS_PREFIX:-/opt/petsc-kokkos}}
if [ -e "$prefix/lib/libpetsc.so" ]; then
  echo "PETSc with Kokkos Kernels is in $prefix"
  exit
fi

kokkos=${KOKKOS:+$(realpath -e "$KOKKOS")}
kernels=${KOKKOS_KERNELS:+$(realpath -e "$KOKKOS_KERNELS")}
# Kokkos Kernels without code made in advance: PETSc makes what it needs.
build_petsc "$prefix" kokkos --with-cuda=0 \
  --download-kokkos="${kokkos:-1}" --download-kokkos-kernels="${kernels:-1}" \
  --download-kokkos-kernels-cmake-arguments=-DKokkosKernels_ADD_DEFAULT_ETI=OFF COPTFLAGS=-O2 CXXOPTFLAGS=-O1

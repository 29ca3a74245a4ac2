#!/usr/bin/env bash
# Builds PETSc 3.26.1 with Kokkos Kernels on the host (real, double, 32-bit indices, optimised) from its source package
# on PyPI.
# usage: petsc-kokkos.sh [PREFIX]   default: TASKDAG_PETSC_KOKKOS_PREFIX, /opt/petsc-kokkos; nothing to do where it is
#   KOKKOS, KOKKOS_KERNELS   archives (.tar.gz) with the sources of both, of one version: tried with 4.6.01. Without,
#                            PETSc downloads the versions that it names (not tried).
#   About half an hour on two cores. Use it with PETSC_DIR=PREFIX.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../.ci/machine.sh"
version=3.26.1
prefix=${1:-${TASKDAG_PETSC_KOKKOS_PREFIX:-/opt/petsc-kokkos}}
if [ -e "$prefix/lib/libpetsc.so" ]; then
  echo "PETSc with Kokkos Kernels is in $prefix"
  exit
fi

install_missing build petsc_source
kokkos=${KOKKOS:+$(realpath -e "$KOKKOS")}
kernels=${KOKKOS_KERNELS:+$(realpath -e "$KOKKOS_KERNELS")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip download --quiet --no-deps --no-binary petsc "petsc==$version" -d .
tar xf "petsc-$version.tar.gz"
cd "petsc-$version"
# Kokkos Kernels without code made in advance: PETSc makes what it needs.
python3 ./configure --prefix="$prefix" PETSC_ARCH=arch-kokkos --with-cc=mpicc --with-cxx=mpicxx --with-fc=0 \
  --with-debugging=0 --with-shared-libraries=1 --with-x=0 --with-cuda=0 \
  --download-kokkos="${kokkos:-1}" --download-kokkos-kernels="${kernels:-1}" \
  --download-kokkos-kernels-cmake-arguments=-DKokkosKernels_ADD_DEFAULT_ETI=OFF \
  COPTFLAGS=-O2 CXXOPTFLAGS=-O1
make PETSC_DIR="$PWD" PETSC_ARCH=arch-kokkos MAKE_NP="$(nproc)" all
make PETSC_DIR="$PWD" PETSC_ARCH=arch-kokkos install

#!/usr/bin/env bash
# Builds PETSc 3.26.1 with CUDA (real, double, 32-bit indices) from its source package on PyPI.
# usage: petsc-cuda.sh [PREFIX]   default: TASKDAG_PETSC_CUDA_PREFIX, /opt/petsc-cuda; nothing to do where it is there
#   CUDA_HOME [/usr/local/cuda] names the toolkit, CUDA_ARCHS [90] the GPU generation (as in sm_90), PETSC_OPTIMISE [-O2]
#   the compilers' options: -O0 is built faster, and for checks alone.
#   About ten minutes on two cores. Use it with PKG_CONFIG_PATH=PREFIX/lib/pkgconfig or PETSC_DIR=PREFIX.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../.ci/machine.sh"
version=3.26.1
optimise=${PETSC_OPTIMISE:--O2}
prefix=${1:-${TASKDAG_PETSC_CUDA_PREFIX:-/opt/petsc-cuda}}
if [ -e "$prefix/lib/libpetsc.so" ]; then
  echo "PETSc with CUDA is in $prefix"
  exit
fi

install_missing build petsc_source
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip download --quiet --no-deps --no-binary petsc "petsc==$version" -d .
tar xf "petsc-$version.tar.gz"
cd "petsc-$version"
python3 ./configure --prefix="$prefix" PETSC_ARCH=arch-cuda --with-cc=mpicc --with-cxx=mpicxx --with-fc=0 \
  --with-debugging=0 --with-shared-libraries=1 --with-x=0 --with-cuda=1 \
  --with-cuda-dir="${CUDA_HOME:-/usr/local/cuda}" --with-cuda-arch="${CUDA_ARCHS:-90}" \
  COPTFLAGS="$optimise" CXXOPTFLAGS="$optimise" CUDAOPTFLAGS="$optimise"
make PETSC_DIR="$PWD" PETSC_ARCH=arch-cuda MAKE_NP="$(nproc)" all
make PETSC_DIR="$PWD" PETSC_ARCH=arch-cuda install

#!/usr/bin/env bash
# Builds PETSc 3.26.1 with CUDA (real, double, 32-bit indices) from its source package on PyPI.
# usage: petsc-cuda.sh [PREFIX [OPTION...]]   PREFIX: TASKDAG_PETSC_CUDA_PREFIX, /opt/petsc-cuda; nothing to do where it
#   is there. OPTION: further ones of PETSc's configure.
#   CUDA_HOME [/usr/local/cuda] names the toolkit, CUDA_ARCHS [90] the GPU generation (as in sm_90), PETSC_OPTIMISE [-O2]
#   the compilers' options: -O0 is built faster, and for checks alone, its code for GPUs least optimised of all.
#   About ten minutes on two cores. Use it with PKG_CONFIG_PATH=PREFIX/lib/pkgconfig or PETSC_DIR=PREFIX.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../.ci/machine.sh"
optimise=${PETSC_OPTIMISE:--O2}
prefix=${1:-${TASKDAG_PETSC_CUDA_PREFIX:-/opt/petsc-cuda}}
if [ -e "$prefix/lib/libpetsc.so" ]; then
  echo "PETSc with CUDA is in $prefix"
  exit
fi

cuda_optimise=$optimise
if [ "$optimise" = -O0 ] && [[ $("${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" --help) == *--Ofast-compile* ]]; then
  cuda_optimise+=" --Ofast-compile=max" # -O0 is the host's alone
fi
build_petsc "$prefix" cuda --with-cuda=1 --with-cuda-dir="${CUDA_HOME:-/usr/local/cuda}" \
  --with-cuda-arch="${CUDA_ARCHS:-90}" COPTFLAGS="$optimise" CXXOPTFLAGS="$optimise" CUDAOPTFLAGS="$cuda_optimise" "${@:2}"

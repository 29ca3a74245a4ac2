#!/usr/bin/env bash
# Builds PETSc 3.26.1 with Kokkos Kernels (real, double, 32-bit indices, optimised) from its source package on PyPI:
# Kokkos on the host, or on CUDA.
# usage: petsc-kokkos.sh [PREFIX] [host|cuda]   default: TASKDAG_PETSC_KOKKOS_PREFIX, /opt/petsc-kokkos, and the host;
#                                               nothing to do where it is
#   KOKKOS, KOKKOS_KERNELS   archives (.tar.gz, everything in one folder) with the sources of both: tried with 4.6.01,
#                            for CUDA with 4.6.01 and 4.6.02. Without, for the host, PETSc downloads the versions that
#                            it names (not tried); for CUDA they are needed.
#   CUDA_HOME [/usr/local/cuda] names the toolkit. The GPUs are Hopper's: Kokkos calls each generation by a name.
#   About half an hour on two cores. Use it with PETSC_DIR=PREFIX.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../.ci/machine.sh"
prefix=${1:-${TASKDAG_PETSC_KOKKOS_PREFIX:-/opt/petsc-kokkos}}
place=${2:-host}
if [ -e "$prefix/lib/libpetsc.so" ]; then
  echo "PETSc with Kokkos Kernels is in $prefix"
  exit
fi

kokkos=${KOKKOS:+$(realpath -e "$KOKKOS")}
kernels=${KOKKOS_KERNELS:+$(realpath -e "$KOKKOS_KERNELS")}
cuda=${CUDA_HOME:-/usr/local/cuda}

# Kokkos 4.6 does not know CUDA 13: three calls have other arguments there, which Kokkos wraps and PETSc does not use,
# and the generation that nvcc_wrapper compiles for where it is told none is gone.
suit_cuda_13() {
  "$cuda/bin/nvcc" --version | grep -q 'release 1[3-9]' || return 0
  sed -i \
    -e 's/\(cudaGraphAddDependencies(graph, from, to, \)numD/\1nullptr, numD/' \
    -e 's/\(cudaMemAdvise(devPtr, count, advice, \)device)/\1cudaMemLocation{cudaMemLocationTypeDevice, device})/' \
    -e 's/\(cudaMemPrefetchAsync(devPtr, count, \)dstDevice,/\1cudaMemLocation{cudaMemLocationTypeDevice, dstDevice}, 0,/' \
    "$1/core/src/Cuda/Kokkos_Cuda_Instance.hpp"
  sed -i 's/^default_arch="sm_70"/default_arch="sm_90"/' "$1/bin/nvcc_wrapper"
}

# build_with_nvcc NAME ARCHIVE CMAKE-ARGUMENT...: into the prefix, in the current folder.
build_with_nvcc() {
  mkdir "$1"
  tar xf "$2" -C "$1" --strip-components=1
  if [ "$1" = kokkos ]; then suit_cuda_13 "$1"; fi
  PATH="$cuda/bin:$PATH" cmake -S "$1" -B "$1-build" -DCMAKE_CXX_COMPILER="$PWD/kokkos/bin/nvcc_wrapper" \
    -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON "${@:3}"
  PATH="$cuda/bin:$PATH" cmake --build "$1-build" -j "$(nproc)" --target install
}

# Kokkos Kernels without code made in advance: PETSc makes what it needs.
no_code=-DKokkosKernels_ADD_DEFAULT_ETI=OFF
case $place in
  host)
    build_petsc "$prefix" kokkos --with-cuda=0 \
      --download-kokkos="${kokkos:-1}" --download-kokkos-kernels="${kernels:-1}" \
      --download-kokkos-kernels-cmake-arguments=$no_code COPTFLAGS=-O2 CXXOPTFLAGS=-O1
    ;;
  cuda)
    : "${kokkos:?names no archive}" "${kernels:?names no archive}"
    install_missing build petsc_source
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    (
      cd "$work"
      build_with_nvcc kokkos "$kokkos" -DKokkos_ENABLE_CUDA=ON -DKokkos_ENABLE_SERIAL=ON -DKokkos_ARCH_HOPPER90=ON \
        -DKokkos_ENABLE_DEPRECATED_CODE_4=OFF -DKokkos_ENABLE_COMPLEX_ALIGN=OFF -DCMAKE_CXX_STANDARD=20
      build_with_nvcc kernels "$kernels" $no_code -DKokkosKernels_ENABLE_TPL_CUSPARSE=OFF \
        -DKokkosKernels_ENABLE_TPL_CUBLAS=OFF -DKokkosKernels_ENABLE_TPL_CUSOLVER=OFF
    )
    PATH="$cuda/bin:$PATH" build_petsc "$prefix" kokkos-cuda --with-cuda=1 --with-cuda-dir="$cuda" --with-cuda-arch=90 \
      --with-kokkos-dir="$prefix" --with-kokkos-kernels-dir="$prefix" COPTFLAGS=-O1 CXXOPTFLAGS=-O1 CUDAOPTFLAGS=-O2
    ;;
  *)
    echo "Kokkos works on the host or on cuda, not on $place" >&2
    exit 2
    ;;
esac

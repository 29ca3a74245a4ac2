# shellcheck shell=bash
# Sourced by examples/quickstart.sh, tests/run.sh and .ci/run: what they have in common.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# OpenMPI in a container or on a small machine: the user is root, and there are more ranks than cores.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
# Who waits for a message leaves the processor to who works: several tests run at a time.
export OMPI_MCA_mpi_yield_when_idle=1

say() { printf '\n== %s\n' "$*"; }

has_header() { echo "#include <$1>" | g++ -x c++ -fsyntax-only - 2>/dev/null; }

has_petsc() { [ -n "${PETSC_DIR:-}" ] || pkg-config --exists PETSc || pkg-config --exists petsc; }

# petsc4py_python: the first Python that has petsc4py.
petsc4py_python() {
  local python
  for python in python3 /usr/bin/python3; do
    "$python" -c "import petsc4py" 2>/dev/null && echo "$python" && return
  done
  return 1
}

# A PETSc of one's own has them with it, or not: no package helps there.
has_petsc_examples() { [ -n "${PETSC_DIR:-}" ] || compgen -G '/usr/share/petsc/*/share/petsc/examples/src'; }

has_arm_library() { test -e "/usr/lib/aarch64-linux-gnu/$1"; }

can_plot() { command -v gnuplot || python3 -c 'import matplotlib'; }

# One line each: what for, the Debian package (a pattern where its name has a version), and a command that succeeds where it is not needed.
requirements() {
  cat <<'TABLE'
build cmake command -v cmake
build ninja-build command -v ninja
build g++ command -v g++
build pkg-config command -v pkg-config
build python3 command -v python3
build xz-utils command -v xz
build libopenmpi-dev command -v mpicxx
build openmpi-bin command -v mpiexec
build petsc-dev has_petsc
build libarchive-dev has_header archive.h
build zlib1g-dev has_header zlib.h
build nlohmann-json3-dev has_header nlohmann/json.hpp
build libcli11-dev has_header CLI/CLI.hpp
plot gnuplot-nox can_plot
test make command -v make
test libgtest-dev has_header gtest/gtest.h
test libgmock-dev has_header gmock/gmock.h
test libpetsc*-dev-examples has_petsc_examples
petsc_source make command -v make
petsc_source python3-pip python3 -m pip --version
petsc_source libopenblas-dev has_header cblas.h
petsc_source liblapack-dev pkg-config --exists lapack
dolfinx fenicsx-performance-tests command -v dolfinx-scaling-test
deal.II libdeal.ii-dev test -e /usr/share/cmake/deal.II
deal.II libdeal.ii-doc test -e /usr/share/doc/libdeal.ii-doc/examples/step-17
arm g++-aarch64-linux-gnu command -v aarch64-linux-gnu-g++
arm qemu-user-static command -v qemu-aarch64-static
arm libgtest-dev:arm64 has_arm_library libgtest.a
arm libgmock-dev:arm64 has_arm_library libgmock.a
arm libarchive-dev:arm64 has_arm_library libarchive.so
arm zlib1g-dev:arm64 has_arm_library libz.so
ci python3-pip python3 -m pip --version
ci ccache command -v ccache
ci clang-format command -v clang-format
ci clang-tidy command -v clang-tidy
ci clang command -v clang++
ci shellcheck command -v shellcheck
ci python3-petsc4py petsc4py_python
ci tcl command -v tclsh
ci dpkg-dev command -v dpkg-shlibdeps
ci doxygen command -v doxygen
TABLE
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "this needs root, and there is no sudo; please run as root: $*" >&2
    return 1
  fi
}

# install_missing PURPOSE...: installs what the purposes need and this machine lacks, nothing else.
install_missing() {
  local purpose package test missing=()
  while read -r purpose package test; do
    [[ " $* " == *" $purpose "* ]] || continue
    eval "$test" >/dev/null 2>&1 </dev/null || missing+=("$package")
  done < <(requirements)
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing ${missing[*]}"
  if ! command -v apt-get >/dev/null; then
    echo "there is no apt-get here; please install what these Debian packages hold: ${missing[*]}" >&2
    return 1
  fi
  as_root apt-get update -qq
  # What is named by a pattern is used where it is there: a distribution may lack it.
  local known=()
  for package in "${missing[@]}"; do
    if [[ $package == *'*'* ]] && [ -z "$(apt-cache search --names-only "^${package/\*/.*}\$")" ]; then
      echo "there is no package $package here"
    else
      known+=("$package")
    fi
  done
  [ ${#known[@]} -gt 0 ] || return 0
  missing=("${known[@]}")
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# build DIRECTORY [CMAKE-ARGUMENT...] [-- TARGET...]: configures and builds.
build() {
  local directory=$1 arguments=() targets=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    arguments+=("$1")
    shift
  done
  if [ $# -gt 1 ]; then targets=(--target "${@:2}"); fi
  cmake -S "$root" -B "$directory" -G Ninja "${arguments[@]}"
  cmake --build "$directory" -j "$(nproc)" "${targets[@]}"
}

# show_progress: of a build's output on the standard input one line of progress; where that is no terminal, one a tenth.
show_progress() {
  local line tenth=0
  while IFS= read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    if [ -t 1 ]; then
      printf '\r%s of %s' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
    elif [ $((10 * BASH_REMATCH[1] / BASH_REMATCH[2])) -gt "$tenth" ]; then
      tenth=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
      echo "${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}"
    fi
  done
  [ ! -t 1 ] || echo
}

# build_quietly LOG DIRECTORY ...: as build(), its output in LOG; what went wrong is shown.
build_quietly() {
  mkdir -p "$(dirname "$1")"
  build "${@:2}" 2>&1 | tee "$1" | show_progress && return
  tail -n 60 "$1" >&2
  return 1
}

# run_tests BUILD-DIRECTORY RESULTS.xml [CTEST-ARGUMENT...]: fails where a test fails. The cases of programs that were
# started once (TASKDAG_TESTS_BY_PROGRAM) go to RESULTS.cases. One more at a time than there are processors: some wait, for
# MPI to start or a clock.
run_tests() {
  local status=0 cases=${2%.xml}.cases
  rm -rf "$2" "$1/cases" "$cases"
  ctest --test-dir "$1" -j "$(($(nproc) + 1))" --output-on-failure --output-junit "$2" "${@:3}" || status=$?
  [ ! -d "$1/cases" ] || mv "$1/cases" "$cases" || return
  return $status
}

# build_petsc PREFIX NAME CONFIGURE-ARGUMENT...: builds PETSc 3.26.1, or the release that PETSC_RELEASE names, (real, double,
# 32-bit indices) from its source package on PyPI and installs it. NAME: of the configuration, for a folder.
build_petsc() {
  local prefix=$1 arch=arch-$2 version=${PETSC_RELEASE:-3.26.1} work
  install_missing build petsc_source || return
  work=$(mktemp -d) || return
  (
    set -e
    trap 'rm -rf "$work"' EXIT
    cd "$work"
    python3 -m pip download --quiet --no-deps --no-binary petsc "petsc==$version" -d .
    tar xf "petsc-$version.tar.gz"
    cd "petsc-$version"
    python3 ./configure --prefix="$prefix" PETSC_ARCH="$arch" --with-cc=mpicc --with-cxx=mpicxx --with-fc=0 \
      --with-debugging=0 --with-shared-libraries=1 --with-x=0 "${@:3}"
    # On as many processors as there are, whatever else runs here; and without a second run of nvcc for each file's
    # dependencies, which are for who changes PETSc.
    make PETSC_DIR="$PWD" PETSC_ARCH="$arch" MAKE_NP="$(nproc)" MAKE_LOAD=1000 PETSC_GENDEPS.cu=true all
    make PETSC_DIR="$PWD" PETSC_ARCH="$arch" install
  )
}

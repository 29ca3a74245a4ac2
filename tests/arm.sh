#!/usr/bin/env bash
# Builds the library and test programs on the host for 64-bit Arm with Debian's cross compiler and runs them under qemu, which
# takes a while. Installs what is missing: the compiler, qemu, and libraries of Debian's arm64.
# usage: arm.sh [PROGRAM...]    such as unit_dag; without one: those that say most of threads and sums
#   build-aarch64 is as the preset `aarch64` has it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../.ci/machine.sh"

if command -v dpkg >/dev/null && ! dpkg --print-foreign-architectures | grep -qx arm64; then
  as_root dpkg --add-architecture arm64
fi
install_missing build arm
[ $# -gt 0 ] || set -- unit_dag unit_supersteps unit_superstep_sweep engine_unit backend_test
build "$root/build-aarch64" --preset aarch64 -- "$@"
programs=$(IFS='|' && echo "$*")
run_tests "$root/build-aarch64" "$root/build-aarch64/ctest.xml" -R "^($programs)\$"

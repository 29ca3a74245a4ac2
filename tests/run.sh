#!/usr/bin/env bash
# Installs what is missing, builds, runs all tests, and ends with the line `N passed, N failed, N skipped`.
# usage: run.sh [ctest arguments, such as -R NAME or -L LABEL]
#   TASKDAG_SUMMARY=off leaves the results in build/ctest.xml and the last line out.
#   TASKDAG_CUDA=OFF|ON builds without or with CUDA; without it: with CUDA where nvcc is.
#   TASKDAG_UNITY_TESTS=ON compiles sources of a test program together, which takes half the time, too.
#   TASKDAG_TESTS_BY_PROGRAM=ON starts each test program once, not once a case, which takes half the time; -R is for
#   programs then.
#   Tests that need a GPU, or the matrices that TASKDAG_MATRIX_DIR names, are skipped and listed where there are none.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../.ci/machine.sh"

install_missing build plot test
say "building"
build "$root/build" -DTASKDAG_TESTS=ON -DTASKDAG_EXAMPLES=ON -DTASKDAG_WERROR=ON -DTASKDAG_CUDA="${TASKDAG_CUDA:-AUTO}" \
  -DTASKDAG_UNITY_TESTS="${TASKDAG_UNITY_TESTS:-OFF}" -DTASKDAG_TESTS_BY_PROGRAM="${TASKDAG_TESTS_BY_PROGRAM:-OFF}"
say "testing"
run_tests "$root/build" "$root/build/ctest.xml" "$@" || true
[ "${TASKDAG_SUMMARY:-on}" = on ] || exit 0
say "summary"
python3 "$root/tests/summary.py" "$root/build/ctest.xml"

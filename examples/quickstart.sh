#!/usr/bin/env bash
# Installs what is missing, builds, and solves one problem with PETSc's preconditioner and with TaskDAG's.
# usage: quickstart.sh [MATRIX.mtx[.gz|.xz|.bz2|.zst]]
#   without a matrix: one out of the folder TASKDAG_MATRIX_DIR, or else a generated problem of a million unknowns
set -euo pipefail
if [ "${1:-}" = -h ] || [ "${1:-}" = --help ]; then
  sed -n '2,4s/^# //p' "$0"
  exit
fi
source "$(dirname "${BASH_SOURCE[0]}")/../.ci/machine.sh"

install_missing build plot
say "building"
build "$root/build" -DTASKDAG_EXAMPLES=ON -- solve
say "solving"
TASKDAG_SOLVE="$root/build/examples/solve" "$root/examples/6_main_job/main_job.sh" "$@"

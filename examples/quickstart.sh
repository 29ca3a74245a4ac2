#!/usr/bin/env bash
# Installs what is missing, builds, and solves one problem with PETSc's preconditioner and with TaskDAG's.
# usage: quickstart.sh [MATRIX.mtx[.gz|.xz|.bz2|.zst]]
#   without a matrix: one out of the folder TASKDAG_MATRIX_DIR, or else a generated problem of a million unknowns
#   TASKDAG_CUDA=OFF|AUTO builds without or with CUDA; without it: with CUDA where a GPU and nvcc are, for that GPU.
set -euo pipefail
if [ "${1:-}" = -h ] || [ "${1:-}" = --help ]; then
  sed -n '2,5s/^# //p' "$0"
  exit
fi
source "$(dirname "${BASH_SOURCE[0]}")/../.ci/machine.sh"

install_missing build plot
cuda=${TASKDAG_CUDA:-AUTO}
if [ -z "${TASKDAG_CUDA:-}" ] && ! nvidia-smi -L >/dev/null 2>&1; then
  cuda=OFF
  echo "There is no GPU here: this build is for host threads (TASKDAG_CUDA=AUTO builds for GPUs all the same)."
fi
say "building, in build/; what it prints goes to build/quickstart.log"
build_quietly "$root/build/quickstart.log" "$root/build" -DTASKDAG_EXAMPLES=ON -DTASKDAG_CUDA="$cuda" -- solve
say "solving"
TASKDAG_SOLVE="$root/build/examples/solve" "$root/examples/6_main_job/main_job.sh" "$@"

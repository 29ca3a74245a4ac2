#!/usr/bin/env bash
# Benchmarks on a GPU machine: rows to OUT as CSV, tables to the terminal.
# usage: tests/benchmark/run.sh [BUILD [OUT]]     defaults: build, build/benchmark
#   TASKDAG_MATRIX_DIR   folder of further matrices (.mtx, .mtx.gz, .mtx.xz)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${1:-$root/build}
out=${2:-$build/benchmark}
mkdir -p "$out"
TASKDAG_COMMIT=$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo unknown)
export TASKDAG_COMMIT
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
"$build/tests/benchmark/taskdag_bench" --repeat 7 --csv "$out/sptrsv-ilu0-ic0.csv"

# ksp PRECONDITIONER OPTION...: PETSc's, ours, and Jacobi on one problem in the GPU's memory.
ksp() {
  local pc
  for pc in "-pc_type $1" "-pc_type $1 -pc_factor_mat_solver_type taskdag" "-pc_type jacobi"; do
    echo "## ${*:2} $pc"
    # shellcheck disable=SC2086 # $pc holds several words
    "$build/examples/solve" -dll_append "$build/lib/libpetsctaskdag.so" "${@:2}" -mat_type aijcusparse -ksp_rtol 1e-6 \
      -repeat 3 $pc | grep -E '^(iterations|residual|set-up|solve, median|backend)'
  done
}
ksp ilu -stencil 7 -nx 100 -ny 100 -nz 100 -wind 0.5 -ksp_type bcgs
ksp icc -stencil 5 -nx 1000 -ny 1000 -ksp_type cg
circuit=$(find "${TASKDAG_MATRIX_DIR:-/nonexistent}" -name 'G3_circuit.mtx*' 2>/dev/null | head -n 1)
if [ -n "$circuit" ]; then
  ksp icc -f "$circuit" -ksp_type cg
else
  echo "skipped: G3_circuit is not in TASKDAG_MATRIX_DIR"
fi

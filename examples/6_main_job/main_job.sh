#!/usr/bin/env bash
# Solves one problem with PETSc's factorisation and with TaskDAG's, checks that both need the same number of
# iterations (one in a hundred may be rounding), shows both times and plots the residual histories.
# usage: main_job.sh [MATRIX]
#   MATRIX is a Matrix Market file. Without it: G3_circuit (or else the largest matrix) out of the folder
#   TASKDAG_MATRIX_DIR; where that is not set, a generated convection-diffusion problem of TASKDAG_GRID^3 unknowns [100].
#   Symmetric matrices are solved with CG and ICC, others with GMRES and ILU. Files go to TASKDAG_RESULTS [build/results].
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../report.sh"
results=${TASKDAG_RESULTS:-$here/../build/results}
mkdir -p "$results"

choose_matrix() {
  local folder=$1 matrix
  for matrix in "$folder"/G3_circuit.mtx*; do
    [ -e "$matrix" ] && echo "$matrix" && return
  done
  find -L "$folder" -maxdepth 1 -name '*.mtx*' -printf '%s\t%p\n' | sort -rn | head -n 1 | cut -f2
}

matrix=${1:-}
if [ -z "$matrix" ] && [ -n "${TASKDAG_MATRIX_DIR:-}" ]; then
  matrix=$(choose_matrix "$TASKDAG_MATRIX_DIR")
  [ -n "$matrix" ] || echo "no Matrix Market file in $TASKDAG_MATRIX_DIR; taking a generated problem" >&2
fi
if [ -n "$matrix" ]; then
  problem=(-f "$matrix")
else
  grid=${TASKDAG_GRID:-100}
  problem=(-stencil 7 -nx "$grid" -wind 1)
fi

# compare METHOD FACTORISATION: solves with PETSc's and with TaskDAG's.
compare() {
  local options=("${problem[@]}" -ksp_type "$1" -ksp_rtol 1e-6 -repeat 2)
  method="$1 with $2"
  run_solve "$results/petsc.txt" "${options[@]}" -pc_type "$2" -residual_history "$results/petsc.csv"
  run_solve "$results/taskdag.txt" "${options[@]}" -pc_type taskdag -pc_taskdag_type "$2" -pc_taskdag_ordering natural \
    -residual_history "$results/taskdag.csv"
}

converged() { [[ $(field reason "$results/$1.txt") == CONVERGED* ]]; }

line() { printf '%-8s %10s %22s %10s %14s %14s  %s\n' "$@"; }

show() {
  local report=$results/$2.txt
  line "$1" "$(field iterations "$report")" "$(field reason "$report")" "$(field residual "$report")" \
    "$(field set-up "$report")" "$(field solve "$report")" "$(field backend "$report")"
}

run_solve "$results/problem.txt" "${problem[@]}" -ksp_max_it 1 -pc_type none
echo "$(field problem "$results/problem.txt"): $(field rows "$results/problem.txt") rows," \
  "$(field entries "$results/problem.txt") entries"
if [ "$(field symmetric "$results/problem.txt")" = yes ]; then
  compare cg icc
  # A symmetric matrix need not be positive definite.
  converged petsc || compare gmres ilu
else
  compare gmres ilu
fi

echo "$method"
line '' iterations reason residual set-up 'solve (best)' backend
show PETSc petsc
show TaskDAG taskdag
echo "These set-ups are first ones: TaskDAG's also finds which row waits for which, once for a pattern."
"$here/6_main_job/plot.sh" "$method" "$results/petsc.csv" "$results/taskdag.csv" "$results/residuals"

if ! converged petsc || ! converged taskdag; then
  echo "FAILED: not converged" >&2
  exit 1
fi
petsc=$(field iterations "$results/petsc.txt")
ours=$(field iterations "$results/taskdag.txt")
# Sums in another order round differently, which after hundreds of iterations may move the last one.
difference=$((ours > petsc ? ours - petsc : petsc - ours))
if [ "$difference" -gt $((petsc / 100)) ]; then
  echo "FAILED: PETSc and TaskDAG need different numbers of iterations" >&2
  exit 1
elif [ "$difference" -gt 0 ]; then
  echo "as many iterations, but for rounding"
else
  echo "same number of iterations"
fi

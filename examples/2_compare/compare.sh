#!/usr/bin/env bash
# One problem, PETSc's preconditioners and TaskDAG's, one table. ICC appears where the matrix is symmetric.
# usage: compare.sh [options of solve, such as -f FILE, -nx N, -ksp_type cg, -ksp_rtol 1e-8]
#   RANKS=N runs on N ranks (the factorisations then inside block Jacobi); TASKDAG_SOLVE names the program.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../report.sh"
report=$(mktemp)
trap 'rm -f "$report"' EXIT
problem=("$@")

line() { printf '%-22s %10s %10s %11s %11s  %s\n' "$@"; }

# row NAME OPTION...: a preconditioner, one line of the table.
row() {
  run_solve "$report" "${problem[@]}" "${@:2}"
  local backend
  backend=$(field backend "$report")
  [[ $(field reason "$report") == CONVERGED* ]] || backend+=" ($(field reason "$report"))"
  line "$1" "$(field iterations "$report")" "$(field residual "$report")" \
    "$(field set-up "$report" | cut -d' ' -f1)" "$(field solve "$report" | cut -d' ' -f1)" "$backend"
}

# petsc_factor NAME: PETSc's ilu or icc; on several ranks, in the blocks of block Jacobi (TaskDAG's does that by itself).
petsc_factor() {
  if [ "$ranks" = 1 ]; then
    row "PETSc $1" -pc_type "$1"
  else
    row "PETSc $1" -pc_type bjacobi -sub_pc_type "$1"
  fi
}

run_solve "$report" "${problem[@]}" -ksp_max_it 1 -pc_type none
echo "$(field problem "$report"), $(field rows "$report") rows, $(field entries "$report") entries"
echo "ranks: $(field ranks "$report")"
symmetric=$(field symmetric "$report")

line preconditioner iterations residual set-up/s solve/s backend
petsc_factor ilu
row "TaskDAG ilu" -pc_type taskdag -pc_taskdag_type ilu -pc_taskdag_ordering natural
row "TaskDAG ilu, by blocks" -pc_type taskdag -pc_taskdag_type ilu -pc_taskdag_ordering taskdag_bmc
if [ "$symmetric" = yes ]; then
  petsc_factor icc
  row "TaskDAG icc" -pc_type taskdag -pc_taskdag_type icc -pc_taskdag_ordering natural
  row "TaskDAG icc, by blocks" -pc_type taskdag -pc_taskdag_type icc -pc_taskdag_ordering taskdag_bmc
fi
row "PETSc jacobi" -pc_type jacobi
row "TaskDAG jacobi" -pc_type taskdag -pc_taskdag_type jacobi
row "PETSc gamg" -pc_type gamg

#!/usr/bin/env bash
# Iterations of KSP solves whose sweeps and factorisation are programs of the task engine, under each scheduler and each
# way of waiting, beside the schedule flat's: on several ranks, or, to be timed, on the grids of the benchmarks' table and on
# files; rows to CSV.
# usage: engine_ksp.sh SOLVE PLUGIN CSV
#   SOLVE, PLUGIN        examples/solve and libpetsctaskdag.so of a build
#   MAT_TYPE             PETSc's matrix type [aijcusparse]
#   MPIEXEC              [mpiexec -n]
#   RANKS, PCS, ORDERS   [1 2 4], [ilu icc], [natural taskdag_rcm taskdag_bmc]
#   TABLE                anything: the table's grids and the files of BINARIES, in natural order on one rank, three solves each
#                        after one to warm up
#   BINARIES             a folder of matrices in PETSc's format, symmetric ones; with TABLE [none]
#   ONLY                 an extended regular expression for the problems of TABLE [all of them]
#   LIMIT                seconds for one run [120]
# Exit status 1 if a solve fails where flat's does not, or its iterations are not those of flat.
set -uo pipefail
[ $# -eq 3 ] || { sed -n '2,15s/^# \?//p' "$0" >&2 && exit 2; }
solve=$1 plugin=$2 csv=$3
# shellcheck source=tests/benchmark/solves.sh
source "$(dirname "${BASH_SOURCE[0]}")/solves.sh"
read -r -a launch <<<"${MPIEXEC:-mpiexec -n}"
read -r -a ranks <<<"${RANKS:-1 2 4}"
read -r -a pcs <<<"${PCS:-ilu icc}"
read -r -a orders <<<"${ORDERS:-natural taskdag_rcm taskdag_bmc}"
echo "program,problem,preconditioner,ordering,ranks,scheduler,dependencies,iterations,flat_iterations,solve_s,us_per_iteration,status,$machine_columns" >"$csv"

# one RANKS PC ORDERING SCHEDULER DEPENDENCIES OPTION...: of $problem, whose options are $matrix
one() {
  local iterations start=("${launch[@]}" "$1") MAY_FAIL=${TABLE:-}
  [ -z "${TABLE:-}" ] || start=()
  run_solve "${start[@]}" "$solve" -dll_append "$plugin" -mat_type "${MAT_TYPE:-aijcusparse}" "${matrix[@]}" \
    -pc_type taskdag -pc_taskdag_type "$2" -pc_taskdag_ordering "$3" "${@:6}"
  iterations=$(value iterations)
  [ "$4" != flat ] || flat="$iterations $status"
  if [ "$iterations $status" != "$flat" ]; then
    status="differs from $flat: $iterations $status" failed=1
    echo "$problem $*: $status" && tail -n 15 "$log"
  fi
  echo "engine_ksp,$problem,$2,$3,$1,$4,$5,$iterations,${flat% *},$(value solve),$(us_per_iteration),$status,$machine" >>"$csv"
}

# each RANKS PC ORDERING: flat, then the programs.
each() {
  local scheduler dependencies
  one "$@" flat '' -pc_taskdag_schedule "${FLAT:-flat}"
  for scheduler in megakernel controller timesliced; do
    for dependencies in ordered individual phases; do
      one "$@" "$scheduler" "$dependencies" -pc_taskdag_schedule engine -pc_taskdag_factor_schedule engine \
        -pc_taskdag_engine_scheduler "$scheduler" -pc_taskdag_engine_dependencies "$dependencies"
    done
  done
}

on_ranks() {
  local count pc order
  problem="7-point 30^3"
  for count in "${ranks[@]}"; do
    for pc in "${pcs[@]}"; do
      matrix=(-stencil 7 -nx 30 -ksp_type cg -ksp_rtol 1e-8)
      [ "$pc" = icc ] || matrix=(-stencil 7 -nx 30 -wind 0.5 -ksp_type gmres -ksp_rtol 1e-8)
      for order in "${orders[@]}"; do each "$count" "$pc" "$order"; done
    done
  done
}

# timed PROBLEM OPTION...: CG with ICC(0).
timed() {
  problem=$1
  [[ "$problem" =~ ${ONLY:-.} ]] || return 0
  matrix=("${@:2}" -ksp_type cg -ksp_rtol 1e-6 -ksp_max_it 2000 -warm_up -repeat 3)
  each 1 icc natural
}

if [ -z "${TABLE:-}" ]; then
  on_ranks
else
  timed "5-point 250^2" -stencil 5 -nx 250
  timed "5-point 1000^2" -stencil 5 -nx 1000
  timed "7-point 100^3" -stencil 7 -nx 100
  timed "27-point 80^3" -stencil 27 -nx 80
  timed "27-point 3 unknowns 36^3" -stencil 27 -nx 36 -dof 3
  for file in ${BINARIES:+"$BINARIES"/*}; do timed "$(basename "$file")" -f "$file"; done
fi
awk -F, 'NR > 1 { n++; as_flat += $12 == "ok" || $12 == "no convergence" } END { print n " solves, " as_flat " as with flat" }' "$csv"
exit "$failed"

#!/usr/bin/env bash
# CG to 1e-6 with DIC and SSOR, with and without Eisenstat's trick (DIC also with symmetric scaling), in natural order
# and by blocks of a colouring, and with PETSc's Jacobi; rows to CSV. The solution has a smooth part ("mean 1", see
# ksp.sh).
# usage: eisenstat.sh SOLVE PLUGIN CSV
#   SOLVE, PLUGIN        examples/solve and libpetsctaskdag.so of a build
#   MAT_TYPE             PETSc's matrix type [aijcusparse]
#   LIMIT                seconds for one solve [120]
#   SMOKE                anything: small grids, to see that it runs
# Exit status 1 if a solve fails.
set -uo pipefail
[ $# -eq 3 ] || { sed -n '2,10s/^# \?//p' "$0" >&2 && exit 2; }
solve=$1 plugin=$2 csv=$3
if [ -n "${SMOKE:-}" ]; then flat=40 cube=10; else flat=1000 cube=100; fi
# shellcheck source=tests/benchmark/solves.sh
source "$(dirname "${BASH_SOURCE[0]}")/solves.sh"
echo "program,problem,preconditioner,ordering,eisenstat,iterations,set_up_s,solve_s,ms_per_iteration,residual,status,$machine_columns" >"$csv"

# one PROBLEM PRECONDITIONER ORDERING EISENSTAT OPTION...
one() {
  local time iterations each
  run_solve "$solve" -dll_append "$plugin" -mat_type "${MAT_TYPE:-aijcusparse}" -ksp_type cg -ksp_rtol 1e-6 -ksp_norm_type natural \
    -mean 1 -warm_up -repeat 3 "${@:5}"
  time=$(value 'solve, median of 3')
  iterations=$(value iterations)
  each=$(awk -v t="${time:-0}" -v n="${iterations:-0}" 'BEGIN { if (n > 0) printf "%.4f", 1000 * t / n }')
  printf '%-16s %-8s %-12s %-10s %5s iterations, set-up %s s, solve %s s, %s ms an iteration, residual %s, %s\n' "$1" "$2" "$3" "$4" \
    "$iterations" "$(value set-up)" "$time" "$each" "$(value residual)" "$status"
  echo "eisenstat,$1,$2,$3,$4,$iterations,$(value set-up),$time,$each,$(value residual),$status,$machine" >>"$csv"
}

# all PROBLEM OPTION...
all() {
  local type order ours
  one "$1" jacobi natural no "${@:2}" -pc_type jacobi
  for type in dic sor; do
    for order in natural taskdag_bmc; do
      ours=(-pc_type taskdag -pc_taskdag_type "$type" -pc_taskdag_ordering "$order")
      one "$1" "$type" "$order" no "${@:2}" "${ours[@]}"
      one "$1" "$type" "$order" yes "${@:2}" "${ours[@]}" -pc_taskdag_eisenstat
      [ "$type" = dic ] || continue
      one "$1" "$type" "$order" scaled "${@:2}" "${ours[@]}" -pc_taskdag_eisenstat -pc_taskdag_eisenstat_scaling symmetric
    done
  done
}

all "5-point $flat^2" -stencil 5 -nx "$flat"
all "7-point $cube^3" -stencil 7 -nx "$cube"
exit "$failed"

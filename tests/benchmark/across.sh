#!/usr/bin/env bash
# Krylov solves on several host ranks: a preconditioner of each rank's own block (block Jacobi) and one of the whole matrix
# (-pc_taskdag_across). Rows to CSV: iterations, set-up, time to solution; on grids, and on the matrices that are given.
# usage: across.sh SOLVE PLUGIN CSV [MATRIX.mtx...]
#   SOLVE, PLUGIN        examples/solve and libpetsctaskdag.so of a build
#   MPIEXEC              [mpiexec -n]
#   RANKS                [1 2 4]
#   TYPES                [icc dic sor] for CG, [ilu dilu sor] for GMRES: one list for both
#   ACROSS               [off on taskdag_bmc natural]: on: by rows of colours; others are orders of the whole matrix
#   LIMIT                seconds for one solve [120]
#   SMOKE                anything: small grids, to see that it runs
# Exit status 1 if a solve fails.
set -uo pipefail
[ $# -ge 3 ] || { sed -n '2,13s/^# \?//p' "$0" >&2 && exit 2; }
solve=$1 plugin=$2 csv=$3
shift 3
if [ -n "${SMOKE:-}" ]; then cube=8 square=20; else cube=80 square=700; fi
# shellcheck source=tests/benchmark/solves.sh
source "$(dirname "${BASH_SOURCE[0]}")/solves.sh"
read -r -a launch <<<"${MPIEXEC:-mpiexec -n}"
read -r -a ranks <<<"${RANKS:-1 2 4}"
echo "program,problem,method,type,ranks,across,iterations,set_up_s,solve_s,residual,status,$machine_columns" >"$csv"

# one PROBLEM METHOD TYPE RANKS ACROSS OPTION...
one() {
  local time across=(-pc_taskdag_across "$5")
  case $5 in off | on) ;; *) across=(-pc_taskdag_across on -pc_taskdag_ordering "$5") ;; esac
  run_solve "${launch[@]}" "$4" "$solve" -dll_append "$plugin" -mat_type aij -ksp_type "$2" -ksp_rtol 1e-6 \
    -ksp_norm_type unpreconditioned -ksp_pc_side "$([ "$2" = cg ] && echo left || echo right)" -ksp_max_it 2000 -warm_up \
    -repeat 3 -pc_type taskdag -pc_taskdag_backend host -pc_taskdag_type "$3" "${across[@]}" "${@:6}"
  time=$(value 'solve, median of 3')
  printf '%-24s %-5s %-4s %s ranks, across %-11s %5s iterations, set-up %s s, solve %s s, %s\n' "$1" "$2" "$3" "$4" "$5" \
    "$(value iterations)" "$(value set-up)" "$time" "$status"
  echo "across,$1,$2,$3,$4,$5,$(value iterations),$(value set-up),$time,$(value residual),$status,$machine" >>"$csv"
}

# all PROBLEM METHOD TYPES OPTION...
all() {
  local type count across
  for type in ${TYPES:-$3}; do
    for count in "${ranks[@]}"; do
      for across in ${ACROSS:-off on taskdag_bmc natural}; do one "$1" "$2" "$type" "$count" "$across" "${@:4}"; done
    done
  done
}

all "7-point $cube^3" cg "icc dic sor" -stencil 7 -nx "$cube"
all "5-point $square^2" cg "icc dic sor" -stencil 5 -nx "$square"
all "7-point with wind $cube^3" gmres "ilu dilu sor" -stencil 7 -nx "$cube" -wind 1
for file in "$@"; do
  # Matrices may be indefinite, and a preconditioner may fail.
  MAY_FAIL=1 all "$(basename "${file%%.mtx*}")" gmres "ilu dilu sor" -f "$file"
done
exit "$failed"

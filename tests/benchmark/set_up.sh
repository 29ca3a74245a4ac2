#!/usr/bin/env bash
# Set-ups in fresh processes, the first and a later one of each: -pc_type taskdag with nothing else said, Jacobi, ILU(0)
# and ICC(0), beside PETSc's own; rows to CSV, and the least of each problem last.
# usage: set_up.sh PLAIN PLUGIN CSV
#   PLAIN, PLUGIN   taskdag_plain, which knows PETSc alone, and libpetsctaskdag.so of a build
#   MAT_TYPE        PETSc's matrix type [aijcusparse]; with aij one host thread is measured against PETSc's one
#   PROCESSES       for each problem and preconditioner [3]
#   ONLY            an extended regular expression for the problems [all of them]
#   LIMIT           seconds for one process [30]
#   GAMG            anything: in place of these PETSc's gamg, by its own aggregates, by ours, and by ours of the matrix
#                   itself; the cycle and the loop are PETSc's
#   SMOKE           anything: small grids, to see that it runs
# Exit status 1 if a process fails.
set -uo pipefail
[ $# -eq 3 ] || { sed -n '2,15s/^# \?//p' "$0" >&2 && exit 2; }
solve=$1 plugin=$2 csv=$3 mat_type=${MAT_TYPE:-aijcusparse}
export LIMIT=${LIMIT:-30}
# shellcheck source=tests/benchmark/solves.sh
source "$(dirname "${BASH_SOURCE[0]}")/solves.sh"
echo "program,problem,rows,mat_type,solver,first_ms,second_ms,iterations,status,$machine_columns" >"$csv"
ours=(-pc_type taskdag)
[ "$mat_type" != aij ] || ours+=(-pc_taskdag_backend host -pc_taskdag_threads 1)

milliseconds() { awk -v seconds="$1" 'BEGIN { if (seconds != "") printf "%.3f", 1e3 * seconds }'; }

# one PROBLEM SOLVER OPTION...
one() {
  local first second
  run_solve "$solve" -dll_append "$plugin" -mat_type "$mat_type" -ksp_type cg -ksp_rtol 1e-6 -ksp_max_it 5000 \
    -repeat 1 "${grid[@]}" "${@:3}"
  first=$(milliseconds "$(value set-up)")
  second=$(milliseconds "$(value 'later set-up')")
  echo "set_up,$1,$(value rows),$mat_type,$2,$first,$second,$(value iterations),$status,$machine" >>"$csv"
}

# gamg PROBLEM: the aggregates' option has one name up to PETSc 3.21 and another one since.
gamg() {
  local aggregates=(-mat_coarsen_type taskdag -pc_gamg_mat_coarsen_type taskdag -pc_gamg_aggressive_square_graph false)
  local graph=(-pc_gamg_graph_symmetrize false -pc_gamg_low_memory_threshold_filter)
  local gamg=(-pc_type gamg -mg_levels_pc_type jacobi -taskdag_ksp off)
  one "$1" "gamg" "${gamg[@]}"
  one "$1" "gamg taskdag" "${gamg[@]}" "${aggregates[@]}"
  one "$1" "gamg taskdag graph" "${gamg[@]}" "${aggregates[@]}" "${graph[@]}"
}

# all POINTS N
all() {
  local name="$1-point $2"
  [[ "$name" =~ ${ONLY:-.} ]] || return 0
  grid=(-stencil "$1" -n "$2")
  for ((process = 0; process < ${PROCESSES:-3}; ++process)); do
    if [ -n "${GAMG:-}" ]; then
      gamg "$name"
      continue
    fi
    one "$name" "taskdag" "${ours[@]}"
    one "$name" "taskdag jacobi" "${ours[@]}" -pc_taskdag_type jacobi
    one "$name" "jacobi" -pc_type jacobi
    for kind in icc ilu; do
      one "$name" "taskdag $kind" "${ours[@]}" -pc_taskdag_type "$kind"
      one "$name" "taskdag $kind natural" "${ours[@]}" -pc_taskdag_type "$kind" -pc_taskdag_ordering natural
      one "$name" "$kind" -pc_type "$kind"
    done
    if [ "$mat_type" != aij ] && [ $((grid[3] * grid[3])) -le 5000 ]; then
      one "$name" "taskdag icc one block" "${ours[@]}" -pc_taskdag_type icc -pc_taskdag_one_block_rows 5000
      one "$name" "taskdag icc no one block" "${ours[@]}" -pc_taskdag_type icc -pc_taskdag_one_block_rows 0
    fi
  done
}

if [ -n "${SMOKE:-}" ]; then
  PROCESSES=1 all 5 20
  PROCESSES=1 GAMG=yes all 5 20
elif [ -n "${GAMG:-}" ]; then
  all 5 1000
  all 7 60
  all 7 100
  all 7 160
else
  all 5 30
  all 5 45
  all 7 31
  all 5 450
  all 27 50
  all 5 1000
  all 7 100
fi
awk -F, '
  NR > 1 && $9 == "ok" {
    key = $2 "," $5
    if (!(key in first)) { order[++count] = key; first[key] = $6; second[key] = $7 }
    if ($6 < first[key]) first[key] = $6
    if ($7 < second[key]) second[key] = $7
  }
  END {
    printf "%-16s %-26s %10s %10s\n", "least, ms", "", "first", "second"
    for (k = 1; k <= count; ++k) {
      split(order[k], name, ",")
      printf "%-16s %-26s %10.2f %10.2f\n", name[1], name[2], first[order[k]], second[order[k]]
    }
  }' "$csv"
exit "$failed"

#!/usr/bin/env bash
# Conjugate gradients with ILU(0), sweeps and factorisation by ATA, level sets or self-scheduling, natural order, to 1e-6:
# Helal et al., figure 11; rows to CSV.
# usage: ata_pcg.sh SOLVE PLUGIN CSV
#   SOLVE, PLUGIN        examples/solve and libpetsctaskdag.so of a build
#   TASKDAG_MATRIX_DIR   Matrix Market files: those that are symmetric positive definite of FILES are solved, too
#   FILES                [parabolic_fem_rebuilt Dubcova2_rebuilt wathen100_seed100 finan512_lapI Andrews G3_circuit]
#   ONLY                 of the problems those whose names match this regular expression [all]
#   SCHEDULES            [level-launch self ata-concurrency ata-locality ata-greedy]
#   SHARE                whether short rows share warps; rows of self never do, it runs once [true false]
#   REPEAT               solves, of which the fastest counts [2]
#   LIMIT                seconds for one run [120]
#   SMOKE                anything: small grids, with the sweeps alone, to see that it runs
# share: of a solve's time that applications take, from a run of its own with -log_view, which waits for each; where a
# solve takes more than five seconds there is no such run.
# Exit status 1 if a solve fails or its iterations are not those of the first schedule.
set -uo pipefail
[ $# -eq 3 ] || { sed -n '2,17s/^# \?//p' "$0" >&2 && exit 2; }
solve=$1 plugin=$2 csv=$3
# shellcheck source=tests/benchmark/solves.sh
source "$(dirname "${BASH_SOURCE[0]}")/solves.sh"
read -r -a schedules <<<"${SCHEDULES:-level-launch self ata-concurrency ata-locality ata-greedy}"
read -r -a files <<<"${FILES:-parabolic_fem_rebuilt Dubcova2_rebuilt wathen100_seed100 finan512_lapI Andrews G3_circuit}"
read -r -a shares <<<"${SHARE:-true false}"
echo "program,problem,rows,schedule,rows_share_warps,iterations,set_up_s,solve_s,share,residual,status,$machine_columns" >"$csv"
# What is common; without CUDA there are schedules of sweeps alone.
common=(-dll_append "$plugin" -mat_type "${MAT_TYPE:-aijcusparse}" -ksp_type cg -ksp_rtol 1e-6 -ksp_max_it 2000
  -pc_type taskdag -pc_taskdag_type ilu -pc_taskdag_ordering natural)

# event NAME: its seconds in the log.
event() { awk -v name="$1" '$1 == name { print $4; exit }' "$log"; }

# one PROBLEM SCHEDULE SHARED OPTION...
one() {
  local problem=$1 schedule=$2 shared=$3 row share='' residual ended
  local by=(-pc_taskdag_schedule "$schedule" -pc_taskdag_ata_rows_share_warps "$shared")
  [ -n "${SMOKE:-}" ] || by+=(-pc_taskdag_factor_schedule "$schedule")
  run_solve "$solve" "${common[@]}" "${@:4}" "${by[@]}" -repeat "${REPEAT:-2}"
  : "${first:=$(value iterations)}"
  if [ "$status" = ok ] && [ "$(value iterations)" != "$first" ]; then status="other iterations" failed=1; fi
  row="ata_pcg,$problem,$(value rows),$schedule,$shared,$(value iterations),$(value set-up),$(value solve)"
  residual=$(value residual)
  ended=$status
  if [ "$ended" = ok ] && awk -v seconds="$(value solve)" 'BEGIN { exit !(seconds <= 5) }'; then
    run_solve "$solve" "${common[@]}" "${@:4}" "${by[@]}" -log_view -log_view_gpu_time
    share=$(awk -v apply="$(event TaskDAGApply)" -v all="$(event KSPSolve)" 'BEGIN { if (all > 0) printf "%.3f", apply / all }')
  fi
  echo "$row,$share,$residual,$ended,$machine" | tee -a "$csv" | cut -d, -f2-11
}

# all PROBLEM OPTION...
all() {
  local first='' schedule shared
  [[ $1 =~ ${ONLY:-.} ]] || return 0
  for schedule in "${schedules[@]}"; do
    if [ "$schedule" = self ]; then
      one "$1" self false "${@:2}"
      continue
    fi
    for shared in "${shares[@]}"; do one "$1" "$schedule" "$shared" "${@:2}"; done
  done
}

if [ -n "${SMOKE:-}" ]; then
  all "5-point 30^2" -stencil 5 -nx 30 -ny 30
  exit "$failed"
fi
all "7-point 100^3" -stencil 7 -nx 100 -ny 100 -nz 100
all "27-point 80^3" -stencil 27 -nx 80 -ny 80 -nz 80
all "27-point 36^3 x 3" -stencil 27 -nx 36 -ny 36 -nz 36 -dof 3
for file in "${files[@]}"; do
  found=$(find "${TASKDAG_MATRIX_DIR:-/nonexistent}" -name "$file.mtx*" 2>/dev/null | head -n 1)
  [ -z "$found" ] || all "$file" -f "$found"
done
# Last, since self-scheduling takes half a minute a solve.
all "5-point 1000^2" -stencil 5 -nx 1000 -ny 1000
exit "$failed"

#!/usr/bin/env bash
# Set-up and first solve in fresh processes: -pc_type taskdag alone, which takes what -pc_taskdag_type auto takes, beside
# each of what it chooses from, PETSc's own preconditioners, and hypre (BoomerAMG with PETSc's defaults) where PETSc has
# it; rows to CSV, where it is "taskdag auto".
# usage: choice.sh SOLVE PLUGIN CSV
#   SOLVE, PLUGIN        examples/solve and libpetsctaskdag.so of a build
#   TASKDAG_MATRIX_DIR   Matrix Market files, plain or compressed, to solve with beside the stencils
#   MAT_TYPE             PETSc's matrix type [aijcusparse]
#   REPEAT               solves in a process, of which the fastest is noted beside the first [6]
#   ONLY                 an extended regular expression for the problems to solve [all of them]
#   LIMIT                seconds for one process [30]
#   FRESH                processes for each, in turn with the others; what has failed is not run again, nor what has
#                        taken more than twice as long as the fastest [1]
#   SMOKE                anything: small grids, to see that it runs
# Exit status 1 if auto fails where one of the others does not.
set -uo pipefail
[ $# -eq 3 ] || { sed -n '2,16s/^# \?//p' "$0" >&2 && exit 2; }
solve=$1 plugin=$2 csv=$3
mat_type=${MAT_TYPE:-aijcusparse}
export LIMIT=${LIMIT:-30} MAY_FAIL=1
fresh=${FRESH:-1}
# shellcheck source=tests/benchmark/solves.sh
source "$(dirname "${BASH_SOURCE[0]}")/solves.sh"
echo "program,problem,rows,method,solver,iterations,cold_set_up_s,first_solve_s,best_solve_s,residual,first_choice,last_choice,status,$machine_columns" >"$csv"
failed=0
rivals=(gamg)
if "$solve" -stencil 5 -nx 4 -ny 4 -pc_type hypre </dev/null >/dev/null 2>&1; then
  rivals+=(hypre)
else
  echo "without hypre: this PETSc has none that works"
fi

# What the view of auto says of its choices.
first_choice() { sed -nE 's/^ *auto: for a first solve ([a-z]+).*/\1/p' "$log" | head -n 1; }
last_choice() { sed -nE 's/^ *auto: ([a-z]+) now/\1/p' "$log" | tail -n 1; }

# one PROBLEM METHOD SOLVER OPTION...: sets $status
one() {
  local problem=$1 method=$2 solver=$3
  run_solve "$solve" -dll_append "$plugin" -mat_type "$mat_type" -ksp_type "$method" -ksp_rtol 1e-6 -ksp_max_it 5000 \
    -repeat "${REPEAT:-6}" -ksp_view "${@:4}"
  [[ "$(value reason)" == CONVERGED* || $status != ok ]] || status="no convergence"
  # The preconditioned norm may be small where the residual, relative to the right-hand side, is not.
  [ "$status" != ok ] || awk -v r="$(value residual)" 'BEGIN { exit !(r <= 1e-3) }' || status="false convergence"
  printf '%-26s %-5s %-16s %6s iterations, set-up %s s, first solve %s s, best %s s, %s %s\n' "$problem" "$method" \
    "$solver" "$(value iterations)" "$(value set-up)" "$(value 'first solve')" "$(value solve)" "$status" \
    "$(first_choice)"
  echo "choice,$problem,$(value rows),$method,$solver,$(value iterations),$(value set-up),$(value 'first solve'),$(
    value solve),$(value residual),$(first_choice),$(last_choice),$status,$machine" >>"$csv"
}

# all PROBLEM METHOD ilu|icc OPTION...
all() {
  local problem=$1 method=$2 pc=$3 others=0 ours=0 fastest=0 round solver options took
  local -A first=() # microseconds of set-up and first solve, the least of all rounds
  local -A failure=()
  [[ "$problem" =~ ${ONLY:-.} ]] || return 0
  for ((round = 0; round < fresh; ++round)); do
    for solver in "taskdag auto" "taskdag $pc" "taskdag jacobi" jacobi "$pc" "${rivals[@]}"; do
      [ -z "${failure[$solver]:-}" ] || continue
      [ "$round" = 0 ] || [ "${first[$solver]}" -le "$((2 * fastest))" ] || continue
      options=(-pc_type "$solver")
      [[ "$solver" != taskdag* ]] || options=(-pc_type taskdag)
      [[ "$solver" != "taskdag "[ij]* ]] || options+=(-pc_taskdag_type "${solver#taskdag }")
      one "$problem" "$method" "$solver" "${@:4}" "${options[@]}"
      case "$status:$solver" in
        "ok:taskdag auto") ours=1 ;;
        ok:jacobi | "ok:$pc") others=1 ;;
      esac
      if [ "$status" != ok ]; then
        failure[$solver]=$status
        unset "first[$solver]"
        continue
      fi
      took=$(awk -v a="$(value set-up)" -v b="$(value 'first solve')" 'BEGIN { printf "%.0f", 1e6 * (a + b) }')
      [ "${first[$solver]:-$took}" -lt "$took" ] || first[$solver]=$took
    done
    fastest=$(printf '%s\n' "${first[@]}" | sort -n | head -n 1)
  done
  if [ $ours = 0 ] && [ $others = 1 ]; then failed=1; fi
}

# grid POINTS N WIND: a stencil on a square or a cube
grid() {
  local name="$1-point $2" sizes=(-nx "$2" -ny "$2")
  [ "$1" = 5 ] || sizes+=(-nz "$2")
  if [ "$3" = 0 ]; then
    all "$name" cg icc -stencil "$1" "${sizes[@]}"
  else
    all "$name wind" bcgs ilu -stencil "$1" "${sizes[@]}" -wind "$3"
  fi
}

if [ -n "${SMOKE:-}" ]; then
  grid 5 20 0
  grid 7 8 0.5
  exit $failed
fi
for n in 45 100 300 1000 2000; do grid 5 $n 0; done
for n in 27 50 100 160; do grid 7 $n 0; done
for n in 50 80; do grid 27 $n 0; done
grid 5 300 0.5
grid 5 1000 0.5
for n in 17 50 100 160; do grid 7 $n 0.5; done
all "27-point 33 3 unknowns" cg icc -stencil 27 -nx 33 -ny 33 -nz 33 -dof 3

show() {
  case $1 in
    *.xz) xzcat "$1" ;;
    *.gz) zcat "$1" ;;
    *) cat "$1" ;;
  esac
}
for file in "${TASKDAG_MATRIX_DIR:-/nonexistent}"/*.mtx*; do
  [ -e "$file" ] || continue
  header=$(show "$file" 2>/dev/null | head -n 1)
  [[ "$header" == *pattern* ]] && continue
  name=$(basename "$file")
  if [[ "$header" == *symmetric* ]]; then
    all "${name%%.*}" cg icc -f "$file"
  else
    all "${name%%.*}" bcgs ilu -f "$file"
  fi
done
exit $failed

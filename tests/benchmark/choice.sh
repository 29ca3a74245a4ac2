#!/usr/bin/env bash
# Set-up and first solve as an application sees them: fresh processes of a program that knows PETSc alone, the matrix
# declared nothing, then (where it is symmetric) declared symmetric; -pc_type taskdag without another option beside
# PETSc's own preconditioners. Rows to CSV; choice.py reads them.
# usage: choice.sh PLAIN PLUGIN CSV [SOLVE]
#   PLAIN, PLUGIN        taskdag_plain and libpetsctaskdag.so of a build
#   SOLVE                examples/solve, which turns matrices into PETSc's format; without it: stencils alone
#   TASKDAG_MATRIX_DIR   Matrix Market files, plain or compressed
#   MAT_TYPE             PETSc's matrix type [aijcusparse]
#   REPEAT               later solves in a process, of which the fastest is noted beside the first [3]
#   HALF                 fit: the half of the problems that the rules of choice were fitted to; other: that which was only
#                        looked at [both]
#   OWN                  anything: the types that taskdag chooses from, too
#   HYPRE                kinds of PETSc's hypre (boomeramg, ilu) that are run, too, by a PETSc that has it [none]
#   ONLY                 an extended regular expression for the problems to solve [all of them]
#   ONLY_SOLVER          likewise for the solvers
#   LIMIT                seconds for one process [30]
#   FRESH                processes for each, in turn with the others; what has failed is not run again, nor what has
#                        taken more than twice as long as the fastest [1]
#   SMOKE                anything: small grids, to see that it runs
# Exit status 1 if taskdag fails where one of the others does not.
set -uo pipefail
if [ $# -lt 3 ] || [ $# -gt 4 ]; then sed -n '2,23s/^# \?//p' "$0" >&2 && exit 2; fi
solve=$1 plugin=$2 csv=$3 converter=${4:-}
mat_type=${MAT_TYPE:-aijcusparse}
export LIMIT=${LIMIT:-30} MAY_FAIL=1
fresh=${FRESH:-1}
# shellcheck source=tests/benchmark/solves.sh
source "$(dirname "${BASH_SOURCE[0]}")/solves.sh"
echo "program,problem,half,rows,method,solver,iterations,cold_set_up_s,first_solve_s,best_solve_s,residual,first_choice,last_choice,status,$machine_columns" >"$csv"
failed=0
binaries=$(mktemp -d)
trap 'rm -rf "$log" "$binaries"' EXIT

# What the view of taskdag says of its choices.
first_choice() { sed -nE 's/^ *auto: for a first solve ([a-z]+).*/\1/p' "$log" | head -n 1; }
last_choice() { sed -nE 's/^ *auto: ([a-z]+) now/\1/p' "$log" | tail -n 1; }

# one PROBLEM HALF METHOD SOLVER OPTION...: sets $status
one() {
  local problem=$1 half=$2 method=$3 solver=$4
  run_solve "$solve" -dll_append "$plugin" -mat_type "$mat_type" -ksp_type "$method" -ksp_rtol 1e-6 -ksp_max_it 5000 \
    -repeat "${REPEAT:-3}" -view "${@:5}"
  # The preconditioned norm may be small where the residual, relative to the right-hand side, is not.
  [ "$status" != ok ] || awk -v r="$(value residual)" 'BEGIN { exit !(r <= 1e-3) }' || status="false convergence"
  printf '%-22s %-5s %-17s %6s iterations, set-up %s s, first solve %s s, best %s s, %s %s\n' "$problem" "$method" \
    "$solver" "$(value iterations)" "$(value set-up)" "$(value 'first solve')" "$(value solve)" "$status" \
    "$(first_choice)"
  echo "choice,$problem,$half,$(value rows),$method,$solver,$(value iterations),$(value set-up),$(value 'first solve'),$(
    value solve),$(value residual),$(first_choice),$(last_choice),$status,$machine" >>"$csv"
}

# options_of SOLVER: what it takes.
options_of() {
  case $1 in
    taskdag) echo "-pc_type taskdag" ;;
    "taskdag symmetric") echo "-pc_type taskdag -symmetric" ;;
    taskdag*) echo "-pc_type taskdag -pc_taskdag_type ${1#taskdag }" ;;
    hypre*) echo "-pc_type hypre -pc_hypre_type ${1#hypre }" ;;
    *) echo "-pc_type $1" ;;
  esac
}

# Every other problem is one of those that the rules were fitted to.
problems=0

# all PROBLEM METHOD ilu|icc OPTION...
all() {
  local problem=$1 method=$2 pc=$3 half=fit others=0 ours=1 fastest=0 round solver options took solvers kind
  local -A first=() # microseconds of set-up and first solve, the least of all rounds
  local -A failure=()
  problems=$((problems + 1))
  [ $((problems % 2)) = 1 ] || half=other
  [[ "$problem" =~ ${ONLY:-.} && "$half" =~ ${HALF:-.} ]] || return 0
  solvers=(taskdag)
  [ "$pc" = ilu ] || solvers+=("taskdag symmetric")
  [ -z "${OWN:-}" ] || solvers+=("taskdag $pc" "taskdag jacobi")
  solvers+=(jacobi "$pc" gamg)
  for kind in ${HYPRE:-}; do solvers+=("hypre $kind"); done
  for ((round = 0; round < fresh; ++round)); do
    for solver in "${solvers[@]}"; do
      [[ "$solver" =~ ${ONLY_SOLVER:-.} ]] || continue
      [ -z "${failure[$solver]:-}" ] || continue
      [ "$round" = 0 ] || [ "${first[$solver]}" -le "$((2 * fastest))" ] || continue
      read -r -a options <<<"$(options_of "$solver")"
      one "$problem" "$half" "$method" "$solver" "${@:4}" "${options[@]}"
      case "$status:$solver" in
        ok:taskdag*) ;;
        ok:*) others=1 ;;
        *:taskdag | *:"taskdag symmetric") ours=0 ;;
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

# grid POINTS N WIND [UNKNOWNS]: a stencil on a square or a cube
grid() {
  local name="$1-point $2" options=(-stencil "$1" -n "$2")
  if [ "${4:-1}" != 1 ]; then
    name+=" $4 unknowns"
    options+=(-dof "$4")
  fi
  if [ "$3" = 0 ]; then
    all "$name" cg icc "${options[@]}"
  else
    all "$name wind" bcgs ilu "${options[@]}" -wind "$3"
  fi
}

show() {
  case $1 in
    *.xz) xzcat "$1" ;;
    *.gz) zcat "$1" ;;
    *) cat "$1" ;;
  esac
}

# shellcheck disable=SC2317 # xargs calls it
# convert FILE: into PETSc's format, under the file's first name in $binaries; nothing where it has no values.
convert() {
  local name=${1##*/}
  [[ "$(show "$1" 2>/dev/null | head -n 1)" != *pattern* ]] || return 0
  to_petsc "$converter" "$1" "$binaries/${name%%.*}"
}

if [ -n "${SMOKE:-}" ]; then
  grid 5 20 0
  grid 7 8 0.5
  exit $failed
fi
for n in 45 100 300 500 1000 2000; do grid 5 $n 0; done
for n in 17 27 50 80 100 160; do grid 7 $n 0; done
for n in 20 50 65 80; do grid 27 $n 0; done
for n in 100 300 700 1000; do grid 5 $n 0.5; done
for n in 17 30 50 80 100 160; do grid 7 $n 0.5; done
for n in 15 33; do grid 27 $n 0 3; done

[ -n "$converter" ] || exit $failed
export -f convert show to_petsc
export binaries converter
files=("${TASKDAG_MATRIX_DIR:?}"/*.mtx*)
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -I FILE bash -c 'convert FILE || echo "FILE was not converted"'
for file in "${files[@]}"; do
  name=${file##*/} name=${name%%.*}
  [ -s "$binaries/$name" ] || continue
  if [[ "$(show "$file" 2>/dev/null | head -n 1)" == *symmetric* ]]; then
    all "$name" cg icc -f "$binaries/$name"
  else
    all "$name" bcgs ilu -f "$binaries/$name"
  fi
done
exit $failed

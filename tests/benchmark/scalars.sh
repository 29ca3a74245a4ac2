#!/usr/bin/env bash
# Solves by a PETSc whose scalars are complex, floats or, to compare, doubles: its own ILU(0), ours in its loop, and ours in our
# loop, by a program that knows PETSc alone; rows to CSV. Iterations are to be equal (one apart; two in a hundred above a
# hundred), with floats, whose sums round, one in ten apart.
# usage: scalars.sh PLAIN PLUGIN CSV
#   PLAIN, PLUGIN        taskdag_plain, which knows PETSc alone, and libpetsctaskdag.so of a build for such a PETSc
#   SCALARS              complex, single or double [complex]
#   BINARIES             a folder of real matrices in PETSc's format; complex ones have their entries turned [none]
#   MAT_TYPE             PETSc's matrix type [aijcusparse]
#   ONLY                 an extended regular expression for the problems to solve [all of them]
#   LIMIT                seconds for one solve [60]
#   SMOKE                anything: small grids, to see that it runs
# Exit status 1 if a solve of ours fails where PETSc's does not, or iterations differ.
set -uo pipefail
[ $# -eq 3 ] || { sed -n '2,14s/^# \?//p' "$0" >&2 && exit 2; }
solve=$1 plugin=$2 csv=$3 scalars=${SCALARS:-complex}
mat_type=${MAT_TYPE:-aijcusparse} LIMIT=${LIMIT:-60}

# shellcheck source=tests/benchmark/solves.sh
source "$(dirname "${BASH_SOURCE[0]}")/solves.sh"
echo "program,problem,rows,method,preconditioner,loop,iterations,set_up_s,solve_s,us_per_iteration,residual,status,$machine_columns" >"$csv"

# one PROBLEM METHOD PRECONDITIONER LOOP OPTION...
one() {
  local time later
  MAY_FAIL=1 run_solve "$solve" -dll_append "$plugin" -mat_type "$mat_type" -ksp_rtol 1e-6 -ksp_max_it 2000 -repeat 3 -view \
    -ksp_type "$2" "${@:5}"
  grep -q "loop: by TaskDAG" "$log" || [ "$4" = petsc ] || [ "$status" != ok ] || status="not our loop"
  time=$(us_per_iteration)
  later=$(value 'later set-up')
  printf '%-26s %-5s %-12s %-5s %6s iterations, set-up %s s, solve %s s, %s us an iteration, %s\n' "${@:1:4}" "$(value iterations)" \
    "$later" "$(value solve)" "$time" "$status"
  echo "$scalars,$1,$(value rows),$2,$3,$4,$(value iterations),$later,$(value solve),$time,$(value residual),$status,$machine" >>"$csv"
}

# each PROBLEM METHOD OPTION...: PETSc's factor and loop, our factor in its loop, both ours.
each() {
  local theirs ours=(-pc_type taskdag -pc_taskdag_type ilu -pc_taskdag_ordering natural)
  [[ "$1" =~ ${ONLY:-.} ]] || return 0
  one "$1" "$2" "PETSc's ilu" petsc "${@:3}" -pc_type ilu
  theirs="$(value iterations) $status"
  one "$1" "$2" "ilu" petsc "${@:3}" "${ours[@]}" -taskdag_ksp off
  one "$1" "$2" "ilu" ours "${@:3}" "${ours[@]}" -taskdag_ksp on
  same_counts "$theirs" "$(value iterations) $status" "$allowed" || { echo "  differs: $theirs, $(value iterations) $status" && failed=1; }
  [ -z "${SMOKE:-}" ] || [ "$status" = ok ] || failed=1
  [ "$scalars" = complex ] || one "$1" "$2" "ilu in single" ours "${@:3}" "${ours[@]}" -pc_taskdag_precision single -taskdag_ksp on
}

# all PROBLEM OPTION...: complex: Helmholtz' equation with damping, and a Hermitian matrix; real: with wind, and without.
all() {
  if [ "$scalars" = complex ]; then
    each "$1 helmholtz" gmres "${@:2}" -k2 0.5+0.3i
    each "$1 helmholtz" bcgs "${@:2}" -k2 0.5+0.3i
    each "$1 hermitian" cg "${@:2}" -phase 0.5
  else
    each "$1 wind" gmres "${@:2}" -wind 1.0
    each "$1 wind" bcgs "${@:2}" -wind 1.0
    each "$1" cg "${@:2}"
  fi
}

cubes=(64 96 128)
allowed=0
turned=()
[ -z "${SMOKE:-}" ] || cubes=(8)
[ "$scalars" != complex ] || turned=(-phase 0.5)
[ "$scalars" != single ] || allowed=10
for n in "${cubes[@]}"; do all "7-point $n^3" -stencil 7 -n "$n"; done
for file in ${BINARIES:+"$BINARIES"/*}; do
  each "$(basename "$file")" gmres -f "$file" "${turned[@]}"
  each "$(basename "$file")" bcgs -f "$file" "${turned[@]}"
done
exit $failed

#!/usr/bin/env bash
# Krylov solves to 1e-6 with PETSc: its own preconditioners, its factorisation from TaskDAG, and the preconditioner
# taskdag in several orders; rows to CSV.
# usage: ksp.sh PLAIN PLUGIN CSV [SOLVE]
#   PLAIN, PLUGIN        taskdag_plain, which knows PETSc alone, and libpetsctaskdag.so of a build
#   SOLVE                examples/solve, which turns a matrix into PETSc's format
#   TASKDAG_MATRIX_DIR   where G3_circuit.mtx[.xz|.gz] is
#   MAT_TYPE             PETSc's matrix type [aijcusparse]
#   OURS                 further options for the solves with TaskDAG
#   ONLY                 an extended regular expression for the problems to solve [all of them]
#   LIMIT                seconds for one solve [120]
#   SMOKE                anything: small grids, to see that it runs
# Exit status 1 if a solve fails.
set -uo pipefail
if [ $# -lt 3 ] || [ $# -gt 4 ]; then sed -n '2,13s/^# \?//p' "$0" >&2 && exit 2; fi
solve=$1 plugin=$2 csv=$3 converter=${4:-}
mat_type=${MAT_TYPE:-aijcusparse}
if [ -n "${SMOKE:-}" ]; then flat=30 cube=6 small=4 fill_order=taskdag_bmc; else flat=1000 cube=100 small=36 fill_order=auto; fi
finite=$((cube * 4 / 5))

# shellcheck source=tests/benchmark/solves.sh
source "$(dirname "${BASH_SOURCE[0]}")/solves.sh"
echo "program,problem,method,preconditioner,solver,iterations,set_up_s,solve_s,residual,cold_set_up_s,first_solve_s,ordering,status,$machine_columns" >"$csv"

# ordering: the order of the rows that -ksp_view names.
ordering() { sed -nE 's/^ *matrix ordering: *//p' "$log" | head -n 1 | sed 's/,/;/g'; }

# one PROBLEM METHOD PRECONDITIONER SOLVER OPTION...
one() {
  local problem=$1 method=$2 preconditioner=$3 solver=$4
  run_solve "$solve" -dll_append "$plugin" -mat_type "$mat_type" -ksp_rtol 1e-6 -repeat 3 -view "${@:5}"
  printf '%-26s %-5s %-8s %-15s %6s iterations, set-up %s s (cold %s s), solve %s s, residual %s, %s %s\n' "$problem" "$method" \
    "$preconditioner" "$solver" "$(value iterations)" "$(value 'later set-up')" \
    "$(value set-up)" "$(value solve)" "$(value residual)" "$status" "$(ordering)"
  echo "ksp,$problem,$method,$preconditioner,$solver,$(value iterations),$(value 'later set-up'),$(value solve),$(
    value residual),$(value set-up),$(value 'first solve'),$(ordering),$status,$machine" >>"$csv"
}

# all PROBLEM METHOD ilu|icc OPTION...: the factorisation that suits the problem, and what competes with it. The solution
# is random. Around 0 it is noise, and a Krylov method finds the most of it in few iterations whatever the preconditioner;
# around 1 it is what PETSc's own random vectors are, up to a factor, and has a smooth part, as applications have.
# In the variables: the orderings to try, those to try in single precision, too, whether to show the factorisation that does not suit, and levels of fill inside
# blocks to try, with which ordering.
all() {
  local problem=$1 method=$2 pc=$3 name=ILU\(0\) other=icc other_name=ICC\(0\) ours order levels
  [[ "$problem" =~ ${ONLY:-.} ]] || return 0
  if [ "$pc" = icc ]; then name=ICC\(0\) other=ilu other_name=ILU\(0\); fi
  read -r -a ours <<<"${OURS:-}"
  one "$problem" "$method" "$name" PETSc "${@:4}" -ksp_type "$method" -pc_type "$pc"
  one "$problem" "$method" "$name" TaskDAG "${@:4}" -ksp_type "$method" -pc_type "$pc" \
    -pc_factor_mat_solver_type taskdag "${ours[@]}"
  for order in "${orders[@]}"; do
    one "$problem" "$method" "$name" "taskdag $order" "${@:4}" -ksp_type "$method" -pc_type taskdag \
      -pc_taskdag_type "$pc" -pc_taskdag_ordering "$order" "${ours[@]}"
  done
  for order in "${single[@]}"; do
    one "$problem" "$method" "$name" "taskdag $order single" "${@:4}" -ksp_type "$method" -pc_type taskdag \
      -pc_taskdag_type "$pc" -pc_taskdag_ordering "$order" -pc_taskdag_precision single "${ours[@]}"
  done
  for levels in "${fill[@]}"; do
    # On host threads auto keeps the natural order, which has no blocks.
    MAY_FAIL=1 one "$problem" "$method" "${name/0/$levels}" "taskdag $fill_order fill $levels" "${@:4}" -ksp_type "$method" \
      -pc_type taskdag -pc_taskdag_type "$pc" -pc_taskdag_ordering "$fill_order" -pc_factor_levels "$levels" -pc_taskdag_fill blocks "${ours[@]}"
  done
  one "$problem" "$method" Jacobi Jacobi "${@:4}" -ksp_type "$method" -pc_type jacobi
  one "$problem" "$method" GAMG GAMG "${@:4}" -ksp_type "$method" -pc_type gamg
  # Does not suit the problem; shown because a user may try it.
  [ -z "$unsuitable" ] ||
    MAY_FAIL=1 one "$problem" "$method" "$other_name" "PETSc $other" "${@:4}" -ksp_type "$method" -pc_type "$other"
}

orders=(natural auto taskdag_bmc) single=(taskdag_bmc) unsuitable=shown fill=()
grid=(-stencil 5 -n "$flat")
windy=(-stencil 7 -n "$cube" -wind 0.5)
circuit=$(find "${TASKDAG_MATRIX_DIR:-/nonexistent}" -name 'G3_circuit.mtx*' 2>/dev/null | head -n 1)
if [ -n "${SMOKE:-}" ] || [ -z "$converter" ]; then circuit=''; fi
if [ -n "$circuit" ]; then
  binaries=$(mktemp -d)
  trap 'rm -rf "$log" "$binaries"' EXIT
  to_petsc "$converter" "$circuit" "$binaries/G3_circuit"
  circuit=$binaries/G3_circuit
fi
all "5-point $flat^2" cg icc "${grid[@]}" -mean 0
if [ -n "$circuit" ]; then
  all G3_circuit cg icc -f "$circuit" -mean 0
else
  echo "skipped: G3_circuit"
fi
all "7-point $cube^3 wind" bcgs ilu "${windy[@]}" -mean 0
all "27-point $finite^3" cg icc -stencil 27 -n "$finite" -mean 0
all "27-point 3 unknowns $small^3" cg icc -stencil 27 -n "$small" -dof 3 -mean 0
orders=(natural auto) single=() unsuitable='' fill=(1)
all "5-point $flat^2 mean 1" cg icc "${grid[@]}" -mean 1
[ -z "$circuit" ] || all "G3_circuit mean 1" cg icc -f "$circuit" -mean 1
all "7-point $cube^3 wind mean 1" bcgs ilu "${windy[@]}" -mean 1
exit $failed

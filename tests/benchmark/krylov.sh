#!/usr/bin/env bash
# Krylov solves with PETSc's loop and with ours around the same preconditioner, of PETSc's GAMG with PETSc's cycle and with
# ours, by a program that knows PETSc alone; rows to CSV. Iterations are to be equal (one apart; two in a hundred above a hundred).
# usage: krylov.sh PLAIN PLUGIN CSV
#   PLAIN, PLUGIN        taskdag_plain, which knows PETSc alone, and libpetsctaskdag.so of a build
#   BINARIES             a folder of matrices in PETSc's format: solved, too [none]
#   MULTIGRID            taskdag_multigrid: elasticity with its rigid body motions, too; set-ups are later ones [none]
#   HYPRE                anything: CG with BoomerAMG of hypre, too, of a PETSc that has it; by PETSc's loop
#   MAT_TYPE             PETSc's matrix type [aijcusparse]
#   RANKS                numbers of ranks; with several, of which the first is what others are held against, on grids in
#                        slabs [1]
#   MPIEXEC              [mpiexec -n]
#   ONLY                 an extended regular expression for the problems to solve [all of them]
#   ONLY_SOLVER          likewise for the solvers
#   LIMIT                seconds for one solve [60]
#   SMOKE                anything: small grids, to see that it runs
# Exit status 1 if a solve of ours fails where PETSc's does not, or iterations differ.
set -uo pipefail
[ $# -eq 3 ] || { sed -n '2,19s/^# \?//p' "$0" >&2 && exit 2; }
solve=$1 plugin=$2 csv=$3
mat_type=${MAT_TYPE:-aijcusparse} LIMIT=${LIMIT:-60}
vec_type=standard
[[ "$mat_type" != *cusparse ]] || vec_type=cuda

# shellcheck source=tests/benchmark/solves.sh
source "$(dirname "${BASH_SOURCE[0]}")/solves.sh"
read -r -a launch <<<"${MPIEXEC:-mpiexec -n}"
read -r -a ranks <<<"${RANKS:-1}"
echo "program,problem,rows,ranks,solver,loop,iterations,set_up_s,solve_s,us_per_iteration,residual,first_set_up_s,first_solve_s,form,status,$machine_columns" >"$csv"

# one PROBLEM SOLVER LOOP RANKS OPTION...
one() {
  local iterations time form later start=()
  [ "$4" = 1 ] || start=("${launch[@]}" "$4")
  run_solve "${start[@]}" "${program:-$solve}" -dll_append "$plugin" -mat_type "$mat_type" -ksp_rtol 1e-6 -ksp_max_it 10000 -repeat 3 -view "${@:5}"
  iterations=$(value iterations)
  time=$(us_per_iteration)
  form=$(sed -nE 's/^ *loop: *([^,]*).*/\1/p' "$log" | head -n 1)
  later=$(value 'later set-up')
  printf '%-22s %-16s %-5s %s ranks, %6s iterations, solve %s s, %s us an iteration, first %s + %s s, %s %s\n' "$1" "$2" "$3" "$4" "$iterations" \
    "$(value solve)" "$time" "$(value set-up)" "$(value 'first solve')" "$form" "$status"
  echo "krylov,$1,$(value rows),$4,$2,$3,$iterations,${later:-$(value set-up)},$(value solve),$time,$(value residual),$(
    value set-up),$(value 'first solve'),$form,$status,$machine" >>"$csv"
}

# pair PROBLEM SOLVER OPTION...: on each number of ranks.
pair() {
  local count
  [[ "$1" =~ ${ONLY:-.} && "$2" =~ ${ONLY_SOLVER:-.} ]] || return 0
  for count in "${ranks[@]}"; do compare "$1" "$2" "$count" "${@:3}"; done
}

# compare PROBLEM SOLVER RANKS OPTION...: PETSc's loop, then ours.
compare() {
  local theirs ours
  MAY_FAIL=1 one "$1" "$2" petsc "${@:3}" -taskdag_ksp off
  theirs="$(value iterations) $status"
  MAY_FAIL=1 one "$1" "$2" ours "${@:3}" -taskdag_ksp on -taskdag_mg
  ours="$(value iterations) $status"
  same_counts "$theirs" "$ours" || { echo "  differs: $theirs, $ours" && failed=1; }
}

# all PROBLEM spd|other OPTION...
all() {
  local problem=$1 kind=$2 taskdag=(-pc_type taskdag -pc_taskdag_type)
  if [ "$kind" = spd ]; then
    pair "$problem" "cg jacobi" "${@:3}" -ksp_type cg -pc_type jacobi
    pair "$problem" "cg icc" "${@:3}" -ksp_type cg "${taskdag[@]}" icc
    pair "$problem" "cg gamg" "${@:3}" -ksp_type cg -pc_type gamg
    [ -z "${HYPRE:-}" ] || hypre "$problem" "${@:3}"
    [ ${#ranks[@]} = 1 ] || across "$problem" "${@:3}"
  fi
  pair "$problem" "bcgs ilu" "${@:3}" -ksp_type bcgs "${taskdag[@]}" ilu
  pair "$problem" "gmres ilu" "${@:3}" -ksp_type gmres "${taskdag[@]}" ilu
}

# hypre PROBLEM OPTION...
hypre() {
  [[ "$1" =~ ${ONLY:-.} && "cg hypre" =~ ${ONLY_SOLVER:-.} ]] || return 0
  MAY_FAIL=1 one "$1" "cg hypre" petsc 1 "${@:2}" -ksp_type cg -pc_type hypre -taskdag_ksp off
}

# across PROBLEM OPTION...: factors by blocks of each rank, and over all ranks in the same order.
across() {
  local order=(-pc_taskdag_ordering taskdag_bmc) whole=(-pc_taskdag_across on)
  pair "$1" "cg icc bmc" "${@:2}" -ksp_type cg "${taskdag[@]}" icc "${order[@]}"
  pair "$1" "cg icc bmc across" "${@:2}" -ksp_type cg "${taskdag[@]}" icc "${order[@]}" "${whole[@]}"
  pair "$1" "cg icc across" "${@:2}" -ksp_type cg "${taskdag[@]}" icc "${whole[@]}"
}

flat=(45 250 500 1000 2000) cubes=(30 60 100) still=(60 100 160) bricks=(20 40)
[ ${#ranks[@]} = 1 ] || { flat=(500 1000 2000) cubes=(100 200) still=(64 100 160 200); }
[ -z "${SMOKE:-}" ] || { flat=(20) cubes=(6) still=(7) bricks=(6); }
for n in "${flat[@]}"; do all "5-point $n^2" spd -stencil 5 -n "$n"; done
for n in "${still[@]}"; do all "7-point $n^3" spd -stencil 7 -n "$n"; done
for n in "${cubes[@]}"; do all "7-point $n^3 wind" other -stencil 7 -n "$n" -wind 0.5; done
for file in ${BINARIES:+"$BINARIES"/*}; do all "$(basename "$file")" spd -f "$file"; done
for n in ${MULTIGRID:+"${bricks[@]}"}; do
  program=$MULTIGRID pair "hexahedra $n^3 elasticity" "cg gamg" -problem elasticity -n "$n" -warm_up -dm_mat_type "$mat_type" \
    -dm_vec_type "$vec_type" -ksp_type cg -pc_type gamg
done
exit $failed

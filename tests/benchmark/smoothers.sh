#!/usr/bin/env bash
# CG with PETSc's multigrid to 1e-6, by smoother: PETSc's Chebyshev with Jacobi, PETSc's SOR (which sweeps on the host),
# and TaskDAG's; rows to CSV.
# usage: smoothers.sh SOLVE MULTIGRID PLUGIN CSV
#   SOLVE, MULTIGRID, PLUGIN   examples/solve, taskdag_multigrid and libpetsctaskdag.so of a build
#   TASKDAG_MATRIX_DIR   where files are; without it they are left out
#   MAT_TYPE, VEC_TYPE   PETSc's types [aijcusparse, cuda]
#   ONLY                 an extended regular expression for the problems to solve [all of them]
#   ONLY_SMOOTHER        likewise for the smoothers
#   LIMIT                seconds for one solve [120]
#   SMOKE                anything: small grids and no files, to see that it runs
# Exit status 1 if a solve fails.
set -uo pipefail
[ $# -eq 4 ] || { sed -n '2,14s/^# \?//p' "$0" >&2 && exit 2; }
solve=$1 multigrid=$2 plugin=$3 csv=$4
if [ -n "${SMOKE:-}" ]; then
  flat=40 cube=10 large=12 nodes=9 levels=3 bricks=6
else
  flat=1000 cube=100 large=160 nodes=129 levels=5 bricks=40
fi

# shellcheck source=tests/benchmark/solves.sh
source "$(dirname "${BASH_SOURCE[0]}")/solves.sh"
echo "program,problem,smoother,iterations,set_up_s,solve_s,ms_per_iteration,residual,status,$machine_columns" >"$csv"

# one PROBLEM SMOOTHER COMMAND...
one() {
  local problem=$1 smoother=$2 time iterations each
  [[ "$problem" =~ ${ONLY:-.} && "$smoother" =~ ${ONLY_SMOOTHER:-.} ]] || return 0
  run_solve "${@:3}" -dll_append "$plugin" -ksp_type cg -ksp_rtol 1e-6 -ksp_norm_type unpreconditioned -ksp_max_it 500
  time=$(sed -nE 's/^solve, median of [0-9]+: ([^ ]+).*/\1/p' "$log" | head -n 1)
  [ -n "$time" ] || time=$(value solve)
  iterations=$(value iterations)
  each=$(awk -v t="${time:-0}" -v n="${iterations:-0}" 'BEGIN { if (n > 0) printf "%.3f", 1000 * t / n }')
  printf '%-16s %-28s %4s iterations, set-up %s s, solve %s s, %s ms an iteration, residual %s, %s\n' "$problem" "$smoother" \
    "$iterations" "$(value set-up)" "$time" "$each" "$(value residual)" "$status"
  echo "smoothers,$problem,$smoother,$iterations,$(value set-up),$time,$each,$(value residual),$status,$machine" >>"$csv"
}

# all PROBLEM COMMAND...: every smoother. The steps of Richardson's iteration are symmetric sweeps, so the cycle is
# symmetric; PETSc makes two of them.
all() {
  local side sweeps repeat=(-warm_up -repeat 3) ours=(-mg_levels_ksp_type richardson -mg_levels_pc_type taskdag)
  local chebyshev=(-mg_levels_ksp_type chebyshev -mg_levels_pc_type taskdag)
  # Forward before the coarse correction, backward after it: half the sweeps, and the cycle is symmetric all the same.
  local coloured=(-pc_mg_distinct_smoothup)
  for side in levels levels_up; do
    coloured+=("-mg_${side}_ksp_type" richardson "-mg_${side}_ksp_max_it" 1 "-mg_${side}_pc_type" taskdag
      "-mg_${side}_pc_taskdag_type" sor "-mg_${side}_pc_taskdag_ordering" taskdag_color)
  done
  coloured+=(-mg_levels_pc_taskdag_sor_local_forward -mg_levels_up_pc_taskdag_sor_local_backward)
  one "$1" "chebyshev jacobi" "${@:2}" "${repeat[@]}" -mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi
  one "$1" "PETSc sor" "${@:2}" -repeat 1 -mg_levels_ksp_type richardson -mg_levels_pc_type sor
  one "$1" "PETSc sor by -taskdag_mat_sor" "${@:2}" "${repeat[@]}" -mg_levels_ksp_type richardson \
    -mg_levels_pc_type sor -taskdag_mat_sor
  one "$1" "taskdag sor" "${@:2}" "${repeat[@]}" "${ours[@]}" -mg_levels_pc_taskdag_type sor
  one "$1" "taskdag sor by blocks" "${@:2}" "${repeat[@]}" "${ours[@]}" -mg_levels_pc_taskdag_type sor \
    -mg_levels_pc_taskdag_ordering taskdag_bmc -mg_levels_ksp_max_it 1
  one "$1" "taskdag sor coloured" "${@:2}" "${repeat[@]}" "${ours[@]}" -mg_levels_pc_taskdag_type sor \
    -mg_levels_pc_taskdag_ordering taskdag_color -mg_levels_ksp_max_it 1
  one "$1" "taskdag sor coloured halves" "${@:2}" "${repeat[@]}" "${coloured[@]}"
  one "$1" "taskdag sor once" "${@:2}" "${repeat[@]}" "${ours[@]}" -mg_levels_pc_taskdag_type sor -mg_levels_ksp_max_it 1
  one "$1" "chebyshev taskdag dic" "${@:2}" "${repeat[@]}" "${chebyshev[@]}" -mg_levels_pc_taskdag_type dic
  one "$1" "chebyshev taskdag dic blocks" "${@:2}" "${repeat[@]}" "${chebyshev[@]}" -mg_levels_pc_taskdag_type dic \
    -mg_levels_pc_taskdag_ordering taskdag_bmc
  one "$1" "taskdag l1-jacobi" "${@:2}" "${repeat[@]}" "${ours[@]}" -mg_levels_pc_taskdag_type jacobi \
    -mg_levels_pc_taskdag_jacobi_type rowl1
  one "$1" "chebyshev PETSc pbjacobi" "${@:2}" "${repeat[@]}" -mg_levels_ksp_type chebyshev -mg_levels_pc_type pbjacobi
  one "$1" "chebyshev taskdag block jacobi" "${@:2}" "${repeat[@]}" "${chebyshev[@]}" -mg_levels_pc_taskdag_type jacobi \
    -mg_levels_pc_taskdag_jacobi_type block
  # Two steps of Richardson's iteration, each damped: blocks are no bound of the matrix by themselves.
  one "$1" "taskdag block jacobi" "${@:2}" "${repeat[@]}" "${ours[@]}" -mg_levels_pc_taskdag_type jacobi \
    -mg_levels_pc_taskdag_jacobi_type block -mg_levels_pc_taskdag_jacobi_damping 0.67
  for sweeps in 2 3; do
    one "$1" "taskdag jacobi chebyshev $sweeps" "${@:2}" "${repeat[@]}" "${ours[@]}" -mg_levels_ksp_max_it 1 \
      -mg_levels_pc_taskdag_type jacobi -mg_levels_pc_taskdag_jacobi_type rowl1 \
      -mg_levels_pc_taskdag_jacobi_weights chebyshev -mg_levels_pc_taskdag_jacobi_sweeps "$sweeps"
  done
}

types=(-mat_type "${MAT_TYPE:-aijcusparse}")
grid_types=(-dm_mat_type "${MAT_TYPE:-aijcusparse}" -dm_vec_type "${VEC_TYPE:-cuda}")
# on_grid TITLE PROBLEM NODES OPTION...
on_grid() { all "$1" "$multigrid" -problem "$2" -n "$3" "${grid_types[@]}" "${@:4}"; }

all "5-point $flat^2" "$solve" "${types[@]}" -stencil 5 -nx "$flat" -pc_type gamg
all "7-point $cube^3" "$solve" "${types[@]}" -stencil 7 -nx "$cube" -pc_type gamg
all "7-point $large^3" "$solve" "${types[@]}" -stencil 7 -nx "$large" -pc_type gamg
on_grid "jumps $nodes^3 PCMG" jumps "$nodes" -pc_type mg -pc_mg_levels "$levels" -pc_mg_galerkin both
on_grid "elasticity $bricks^3" elasticity "$bricks" -pc_type gamg
# cuSPARSE's product of matrices (CUDA 13.0), which GAMG's set-up takes for MatPtAP(), does not end now and then here.
on_grid "anisotropic $cube^3" anisotropic "$cube" -pc_type gamg -matptap_backend_cpu
files=(G3_circuit wheelset_elast_r0)
[ -n "${SMOKE:-}" ] && files=()
for file in "${files[@]}"; do
  for path in "${TASKDAG_MATRIX_DIR:-/nonexistent}/$file".mtx*; do
    [ -e "$path" ] && all "$file" "$solve" "${types[@]}" -f "$path" -pc_type gamg
  done
done
exit "$failed"

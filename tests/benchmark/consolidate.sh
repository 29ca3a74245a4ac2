#!/usr/bin/env bash
# CG to 1e-6 on several ranks that share one GPU: a block of ICC(0) for each rank, their blocks put together
# (-pc_taskdag_consolidate), and PETSc's Jacobi; without MPS, and with it where it can be started. Rows to CSV.
# usage: consolidate.sh SOLVE PLUGIN CSV
#   SOLVE, PLUGIN        examples/solve and libpetsctaskdag.so of a build
#   MAT_TYPE             PETSc's matrix type [aijcusparse]
#   MPIEXEC              [mpiexec -n]
#   RANKS                [1 2 4]
#   LIMIT                seconds for one solve [120]
#   SMOKE                anything: a small grid, to see that it runs
# Exit status 1 if a solve fails.
set -uo pipefail
[ $# -eq 3 ] || { sed -n '2,12s/^# \?//p' "$0" >&2 && exit 2; }
solve=$1 plugin=$2 csv=$3
if [ -n "${SMOKE:-}" ]; then cube=12; else cube=160; fi
# shellcheck source=tests/benchmark/solves.sh
source "$(dirname "${BASH_SOURCE[0]}")/solves.sh"
read -r -a launch <<<"${MPIEXEC:-mpiexec -n}"
read -r -a ranks <<<"${RANKS:-1 2 4}"
echo "program,problem,ranks,mps,preconditioner,consolidate,iterations,set_up_s,solve_s,residual,status,$machine_columns" >"$csv"

# one RANKS MPS PRECONDITIONER CONSOLIDATE OPTION...
one() {
  local time
  run_solve "${launch[@]}" "$1" "$solve" -dll_append "$plugin" -mat_type "${MAT_TYPE:-aijcusparse}" -stencil 7 -nx "$cube" \
    -ksp_type cg -ksp_rtol 1e-6 -ksp_norm_type unpreconditioned -ksp_max_it 2000 -warm_up -repeat 3 "${@:5}"
  time=$(value 'solve, median of 3')
  printf '%s ranks, MPS %-3s %-8s %-4s %5s iterations, set-up %s s, solve %s s, residual %s, %s\n' "$1" "$2" "$3" "$4" \
    "$(value iterations)" "$(value set-up)" "$time" "$(value residual)" "$status"
  echo "consolidate,7-point $cube^3,$1,$2,$3,$4,$(value iterations),$(value set-up),$time,$(value residual),$status,$machine" >>"$csv"
}

# all MPS
all() {
  local count form ours=(-pc_type taskdag -pc_taskdag_type icc -pc_taskdag_ordering natural)
  for count in "${ranks[@]}"; do
    one "$count" "$1" jacobi '' -pc_type jacobi
    for form in off on; do
      [ "$count $form" != "1 on" ] || continue
      one "$count" "$1" icc "$form" "${ours[@]}" -pc_taskdag_consolidate "$form"
    done
  done
}

all no
# The server's files are this script's own, so that no other server is met or ended.
CUDA_MPS_PIPE_DIRECTORY=$(mktemp -d)
CUDA_MPS_LOG_DIRECTORY=$CUDA_MPS_PIPE_DIRECTORY
export CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
if nvidia-cuda-mps-control -d 2>/dev/null; then
  all yes
  echo quit | timeout 20 nvidia-cuda-mps-control >/dev/null 2>&1
else
  echo "MPS cannot be started here"
fi
rm -rf "$CUDA_MPS_PIPE_DIRECTORY"
exit "$failed"

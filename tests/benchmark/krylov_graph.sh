#!/usr/bin/env bash
# Krylov iterations as CUDA graphs, by preconditioner: whether PETSc lets them be captured, whether a replay computes the
# same, and microseconds of a solve with and without; rows to CSV.
# usage: krylov_graph.sh PROGRAM PLUGIN CSV
#   PROGRAM, PLUGIN      taskdag_krylov_graph and libpetsctaskdag.so of a build with CUDA
#   ONLY                 an extended regular expression for the problems [all of them]
#   ONLY_PC              likewise for the preconditioners
#   LIMIT                seconds for one problem with one preconditioner [120]
#   SMOKE                anything: small grids on PETSc's default stream, where its solves are right, to see that it runs
# Exit status 1 if a replay computes something else or a solve without a graph fails; 77 without a GPU. A capture that
# fails is a row with the error as its status.
set -uo pipefail
[ $# -eq 3 ] || { sed -n '2,12s/^# \?//p' "$0" >&2 && exit 2; }
solve=$1 plugin=$2 csv=$3 # solve: the program that is asked for PETSc's version
flat=250 large=1000 cube=100 repeat=21
stream=()
[ -n "${SMOKE:-}" ] && flat=20 large=30 cube=8 repeat=3 stream=(-root_device_context_stream_type default)

# shellcheck source=tests/benchmark/solves.sh
source "$(dirname "${BASH_SOURCE[0]}")/solves.sh"
columns=back_to_back_us,with_wait_us,kernels,other_nodes,error,status
echo "program,problem,rows,ksp,iterations,pc,mode,form,$columns,$machine_columns" >"$csv"

# one PROBLEM PRECONDITIONER OPTION...
one() {
  local problem=$1 pc=$2 rows method iterations rest
  [[ "$problem" =~ ${ONLY:-.} && "$pc" =~ ${ONLY_PC:-.} ]] || return 0
  run_solve "$solve" "${@:3}" -dll_append "$plugin" -repeat "$repeat" "${stream[@]}"
  if grep -q '^skipped:' "$log"; then
    cat "$log"
    exit 77
  fi
  rows=$(value rows)
  echo "$problem, $pc: $rows rows, stream: $(value stream), $status"
  while IFS=, read -r method iterations rest; do
    echo "  $method $iterations: $rest"
    echo "krylov_graph,$problem,$rows,$method,$iterations,$pc,$rest,$machine" >>"$csv"
  done < <(sed -n 's/^row: //p' "$log")
  [ "$status" = ok ] && return 0
  grep -v '^row: ' "$log" | tail -n 25
  echo "krylov_graph,$problem,$rows,,,$pc,,,,,,,,$status,$machine" >>"$csv"
}

# all PROBLEM OPTION...: the bounds are those of the preconditioned matrix, roughly.
all() {
  local taskdag=(-pc_type taskdag -pc_taskdag_type)
  one "$1" "taskdag icc" "${@:2}" "${taskdag[@]}" icc -emax 1.2
  one "$1" "taskdag sor" "${@:2}" "${taskdag[@]}" sor -emax 1.2
  one "$1" "taskdag jacobi" "${@:2}" "${taskdag[@]}" jacobi -emax 2.1
  one "$1" "petsc jacobi" "${@:2}" -pc_type jacobi -emax 2.1
  one "$1" "petsc icc" "${@:2}" -pc_type icc -emax 1.2
}

all "5-point $flat^2" -stencil 5 -nx "$flat"
# What is expected to stand against a capture, each alone: the legacy stream, and PETSc's timers, which wait.
MAY_FAIL=1
one "5-point $flat^2" "taskdag icc on the default stream" -stencil 5 -nx "$flat" -pc_type taskdag -pc_taskdag_type icc \
  -methods chebyshev -root_device_context_stream_type default
one "5-point $flat^2" "taskdag icc with -log_view_gpu_time" -stencil 5 -nx "$flat" -pc_type taskdag \
  -pc_taskdag_type icc -methods chebyshev -log_view :/dev/null -log_view_gpu_time
MAY_FAIL=
all "5-point $large^2" -stencil 5 -nx "$large"
all "7-point $cube^3" -stencil 7 -nx "$cube"
exit "$failed"

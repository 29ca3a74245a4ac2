#!/usr/bin/env bash
# Device memory of ILU(0), natural order and blocks, double and single, beside its time: once set up and at the most, by
# the library's own count and over the factor's values and columns; beside PETSc's, above what its Jacobi takes. Rows to
# CSV, and a table last.
# usage: memory.sh MEMORY CSV [PLAIN PLUGIN]
#   MEMORY          taskdag_memory of a build
#   PLAIN, PLUGIN   taskdag_plain, which knows PETSc alone, and libpetsctaskdag.so: then whole programs, too, by what
#                   nvidia-smi says that the device has in use
#   SMOKE           anything: small grids, to see that it runs
# Exit status 1 if a program fails.
set -uo pipefail
[ $# -eq 2 ] || [ $# -eq 4 ] || { sed -n '2,11s/^# \?//p' "$0" >&2 && exit 2; }
memory=$1 csv=$2 solve=${3:-$1} plugin=${4:-}
export LIMIT=${LIMIT:-300}
# shellcheck source=tests/benchmark/solves.sh
source "$(dirname "${BASH_SOURCE[0]}")/solves.sh"
run_solve "$memory" ${SMOKE:+--smoke}
[[ "$status" != "exit status 77"* ]] || exit 77
sed "1s/\$/,$machine_columns/; 2,\$s|\$|,$machine|" "$log" >"$csv"
awk -F, '
  NR == 1 { printf "%-12s %-8s %-7s %-8s %9s %14s %14s %10s %9s %9s %9s\n", "problem", "order", "values", "schedule",
            "factor MB", "held", "most", "device MB", "set-up ms", "later ms", "apply ms"; next }
  { printf "%-12s %-8s %-7s %-8s %9.0f %8.0f %4.2fx %8.0f %4.2fx %10.0f %9.1f %9.2f %9.3f\n", $1, $2, $3, $4, $7, $8, $9,
           $10, $11, $12, $13, $14, $15 }' "$csv"
[ -n "$plugin" ] || exit "$failed"

in_use() { nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits -i 0 | head -n 1; }

# most OPTION...: MiB that the device has in use at the most while the program runs.
most() {
  local looks samples
  samples=$(mktemp)
  nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits -i 0 -lms 10 >"$samples" 2>/dev/null &
  looks=$!
  run_solve "$solve" -dll_append "$plugin" -mat_type aijcusparse -ksp_type gmres -ksp_max_it 30 -ksp_rtol 1e-1 \
    -repeat 3 "${grid[@]}" "$@"
  kill "$looks" 2>/dev/null
  wait "$looks" 2>/dev/null
  sort -n "$samples" | tail -n 1
  rm -f "$samples"
}

in_use >/dev/null || exit "$failed"
ours=(-pc_type taskdag -pc_taskdag_type ilu)
printf '\n%-12s %-28s %10s\n' "MiB above" "Jacobi of PETSc" ""
for problem in "7 ${SMOKE:+40}" "5 ${SMOKE:+100}"; do
  read -r points n <<<"$problem"
  [ -n "$n" ] || n=$([ "$points" = 7 ] && echo 200 || echo 2000)
  grid=(-stencil "$points" -n "$n" -wind 0.5)
  least=$(most -pc_type jacobi)
  row() { printf '%-12s %-28s %10d\n' "$points-point $n" "$1" $(($(most "${@:2}") - least)); }
  row "petsc ilu" -pc_type ilu
  row "taskdag jacobi" -pc_type taskdag -pc_taskdag_type jacobi
  for order in natural taskdag_bmc; do
    for precision in double single; do
      row "taskdag ilu $order $precision" "${ours[@]}" -pc_taskdag_ordering "$order" -pc_taskdag_precision "$precision"
    done
  done
done
exit "$failed"

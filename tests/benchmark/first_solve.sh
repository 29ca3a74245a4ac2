#!/usr/bin/env bash
# Where the time of a set-up and a first solve in a fresh process goes, by what needs no profiler: fresh processes beside
# later ones in the same process, with code loaded when it is first used and all at the start, the events of -log_view of
# the first and of later ones, the libraries that are in the process, and the device code that there is to load.
# usage: first_solve.sh PLAIN PLUGIN [OPTION...]
#   PLAIN, PLUGIN        taskdag_plain, which knows PETSc alone, and libpetsctaskdag.so of a build
#   OPTION...            of the solve [-stencil 5 -n 45 -ksp_type cg -pc_type taskdag]
#   MAT_TYPE             PETSc's matrix type [aijcusparse]
#   FRESH                processes, of which the one with the shortest sum counts [5]
set -uo pipefail
[ $# -ge 2 ] || { sed -n '2,9s/^# \?//p' "$0" >&2 && exit 2; }
solve=$1 plugin=$2
shift 2
[ $# -gt 0 ] || set -- -stencil 5 -n 45 -ksp_type cg -pc_type taskdag
log=$(mktemp) && trap 'rm -f "$log"' EXIT

run() { "$solve" -dll_append "$plugin" -mat_type "${MAT_TYPE:-aijcusparse}" -ksp_rtol 1e-6 "$@" >"$log" 2>&1; }
value() { sed -nE "s/^$1: ([0-9.e+-]+).*/\1/p" "$log" | head -n 1; }

# fresh NAME OPTION...: milliseconds of set-up and first solve, least sum, and what the same takes later.
fresh() {
  local name=$1 k best="" line
  shift
  for ((k = 0; k < ${FRESH:-5}; ++k)); do
    run "$@" || { sed 's/^/  /' "$log" && return 1; }
    line=$(awk -v a="$(value set-up)" -v b="$(value 'first solve')" -v c="$(value 'later set-up')" -v d="$(value solve)" \
      'BEGIN { printf "%.3f %.3f %.3f %.3f %.3f", 1e3 * (a + b), 1e3 * a, 1e3 * b, 1e3 * c, 1e3 * d }')
    [ -n "$best" ] && awk -v x="${line%% *}" -v y="${best%% *}" 'BEGIN { exit x < y }' || best=$line
  done
  read -r -a ms <<<"$best"
  printf '%-34s set-up + first solve %8s ms = %s + %s; later %s + %s\n' "$name" "${ms[@]}"
}

echo "# $*"
fresh "as it is" "$@" || exit 1
CUDA_MODULE_LOADING=EAGER fresh "all code at the start" "$@"
fresh "a preconditioner of PETSc" "$@" -pc_type jacobi -taskdag_ksp off
fresh "our loop around it" "$@" -pc_type jacobi -taskdag_ksp on
fresh "ILU(0) in our loop" "$@" -pc_taskdag_type ilu
fresh "GMRES" "$@" -ksp_type gmres
fresh "no sweeps by one block" "$@" -pc_taskdag_one_block_rows 0

echo "# events of a process with a first solve alone, and with one later (count, seconds)"
for repeat in 0 1; do
  run "$@" -repeat "$repeat" -log_view || continue
  awk -v n="$repeat" '/^(TaskDAG|KSPSolve|KSPSetUp|PCSetUp|PCApply|MatMult|MatAssemblyEnd|CUDA|DCtxCreate|DCtxSetUp)/ {
    printf "  later: %d  %-20s %6s %s\n", n, $1, $2, $4 }' "$log"
done

echo "# CUDA's libraries in the process: linked by PETSc (start), opened later (dlopen)"
LD_DEBUG=files run "$@" -repeat 0
sed -nE 's/.*file=([^ ]*lib(cublas|cublasLt|cusparse|cusolver|cufft|curand|cudart|nvJitLink|taskdag|petsctaskdag)[^ ]*) \[0\];  (needed by|dynamically loaded by) .*/  \3 \1/p' \
  "$log" | sort | uniq -c

echo "# device code: files (kB) of the library, the largest first"
library=$(dirname "$plugin")/libtaskdag.so
if command -v cuobjdump >/dev/null && [ -e "$library" ]; then
  folder=$(mktemp -d) && (
    cd "$folder" && cuobjdump -xelf all "$library" >/dev/null 2>&1
    find . -type f -printf '%s %f\n' | sort -rn | awk '{ sum += $1; if (NR <= 12) printf "  %7.0f %s\n", $1 / 1024, $2 }
      END { printf "  %7.0f in %d files\n", sum / 1024, NR }'
  )
  rm -r "$folder"
fi

#!/usr/bin/env bash
# CG to 1e-6 with Jacobi and with ICC(0) under each -pc_taskdag_icc_shift, on host threads; rows to CSV.
# usage: icc_shift.sh SOLVE PLUGIN CSV MATRIX...
#   SOLVE, PLUGIN   examples/solve and libpetsctaskdag.so of a build
#   MATRIX          symmetric definite Matrix Market files
#   LIMIT           seconds for one solve [100]
# The norm "preconditioned" is PETSc's default and another one for each preconditioner; "unpreconditioned" is the
# residual's own, the same for all.
set -uo pipefail
[ $# -ge 4 ] || { sed -n '2,8s/^# \?//p' "$0" >&2 && exit 2; }
solve=$1 plugin=$2 csv=$3
shift 3
commit=${TASKDAG_COMMIT:-$(git -C "$(dirname "$0")" rev-parse --short HEAD)}
petsc=$("$solve" -version 2>/dev/null | sed -nE 's/.*Version:? ([0-9.]+).*/\1/p' | head -n 1)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
[ -s "$csv" ] ||
  echo "program,matrix,norm,preconditioner,ordering,iterations,reason,residual,shift,attempts,growth,set_up_s,solve_s,commit,petsc,date" >"$csv"

# value PATTERN: what the first group of the pattern matches in the log.
value() { sed -nE "s/$1/\1/p" "$log" | head -n 1; }

# one FILE NORM PRECONDITIONER ORDERING OPTION...
one() {
  local name=${1##*/}
  timeout --foreground "${LIMIT:-100}" "$solve" -dll_append "$plugin" -f "$1" -mean 1 -ksp_type cg -ksp_rtol 1e-6 -ksp_max_it 5000 \
    -ksp_norm_type "$2" -pc_taskdag_backend host -ksp_view "${@:5}" >"$log" 2>&1 || [ $? = 2 ] || echo "reason: no end" >>"$log"
  echo "icc_shift,${name%%.*},$2,$3,$4,$(value '^iterations: ([0-9]+).*'),$(value '^reason: (.*)'),$(value '^residual: (.*)'),$(
    value '.*shifted by ([0-9.e+-]+) times.*'),$(value '.*attempts: ([0-9]+)'),$(value '.*unit diagonal: (.*)'),$(
    value '^set-up: ([^ ]+) s'),$(value '^solve: ([^ ]+) s'),$commit,$petsc,$(date -u +%F)" | tee -a "$csv"
}

for file in "$@"; do
  for norm in preconditioned unpreconditioned; do
    one "$file" "$norm" Jacobi "" -pc_type jacobi
    for ordering in natural taskdag_rcm taskdag_bmc; do
      for shift in petsc scaled; do
        one "$file" "$norm" "ICC(0) $shift" "$ordering" -pc_type taskdag -pc_taskdag_type icc -pc_taskdag_icc_shift "$shift" \
          -pc_taskdag_ordering "$ordering"
      done
    done
  done
done

#!/usr/bin/env bash
# What the scripts share that measure Krylov solves with a program, taskdag_plain or examples/solve: to be sourced with
# $solve set to it.
#   commit, gpu, driver, cuda, petsc, date: the last columns of their rows
# shellcheck disable=SC2034 # they are for the script that sources this one
: "${solve:?the program}"
first_of() { "$@" 2>/dev/null | head -n 1; }
commit=${TASKDAG_COMMIT:-$(first_of git -C "$(dirname "${BASH_SOURCE[0]}")" rev-parse --short HEAD)}
gpu=$(first_of nvidia-smi --query-gpu=name --format=csv,noheader)
driver=$(first_of nvidia-smi --query-gpu=driver_version --format=csv,noheader)
cuda=$(nvidia-smi 2>/dev/null | sed -nE 's/.*CUDA Version: *([0-9.]+).*/\1/p')
petsc=$("$solve" -version 2>/dev/null | sed -nE 's/.*Version:? ([0-9.]+).*/\1/p' | head -n 1)
machine="$commit,$gpu,$driver,$cuda,$petsc,$(date -u +%F)"
machine_columns=commit,gpu,driver,cuda,petsc,date
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0

# value NAME: what stands behind "NAME: " in the log, without its unit and without commas.
value() { sed -nE "s/^$1: ([^ ]+.*)/\1/p" "$log" | head -n 1 | sed -E 's/ s$//; s/,/;/g'; }

# run_solve COMMAND...: its output goes to the log, how it ended to $status. In the foreground, here and in other scripts:
# in the script's process group, so that it ends when the script is ended.
run_solve() {
  local code=0
  status=ok
  timeout --foreground "${LIMIT:-120}" "$@" >"$log" 2>&1 || code=$?
  case $code in
    0) ;;
    2) status="no convergence" ;;
    124) status="no end" ;;
    *) status="exit status $code: $(tail -n 1 "$log" | tr ',"' ';_')" ;;
  esac
  [ "$status" = ok ] || [ -n "${MAY_FAIL:-}" ] || failed=1
}

# us_per_iteration: of the later solves in the log; nothing without them.
us_per_iteration() {
  awk -v s="$(value solve)" -v n="$(value iterations)" 'BEGIN { if (n > 0) printf "%.2f", 1e6 * s / n }'
}

# same_counts "ITERATIONS STATUS" "ITERATIONS STATUS" [PERCENT]: whether two solves ended alike, with equal counts, one apart, or
# PERCENT of the first, where it is not given two above a hundred.
same_counts() {
  awk -v theirs="$1" -v ours="$2" -v percent="${3:-0}" 'BEGIN {
    split(theirs, a); split(ours, b)
    if (a[2] != b[2]) exit 1
    if (percent == 0 && a[1] > 100) percent = 2
    allowed = percent * a[1] > 100 ? percent * a[1] / 100 : 1
    exit a[1] - b[1] > allowed || b[1] - a[1] > allowed
  }'
}

# to_petsc SOLVE FILE BINARY: a Matrix Market file in PETSc's format, by examples/solve. Fails where there is none then.
to_petsc() {
  "$1" -f "$2" -mat_type aij -mat_view "binary:$3" -pc_type none -ksp_max_it 1 >/dev/null 2>&1 </dev/null
  [ -s "$3" ]
}

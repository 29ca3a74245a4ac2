# shellcheck shell=bash
# Sourced by the scripts that run `solve`: finding it, running it, reading its report.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
solve=${TASKDAG_SOLVE:-$here/../build/examples/solve}
ranks=${RANKS:-1}
if [ ! -x "$solve" ]; then
  echo "$solve is not there; build first, or let TASKDAG_SOLVE name it" >&2
  exit 1
fi

# run_solve REPORT OPTION...: `solve` on $RANKS ranks [1], its output in the file REPORT.
# Not converging (status 2) is a result; for anything else the output is shown and the script ends.
run_solve() {
  local report=$1 status=0 launch=()
  shift
  [ "$ranks" = 1 ] || launch=("${MPIEXEC:-mpiexec}" -n "$ranks")
  "${launch[@]}" "$solve" "$@" >"$report" 2>&1 || status=$?
  [ "$status" = 0 ] || [ "$(field reason "$report")" != "" ] || {
    cat "$report" >&2
    exit 1
  }
}

# field KEY REPORT: the value of the first line "KEY: value" of a report.
field() { sed -n "s/^$1: //p" "$2" | head -n 1; }

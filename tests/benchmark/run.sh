#!/usr/bin/env bash
# All benchmarks on a GPU machine: rows to OUT as CSV, a short table last. See docs/benchmarks.md.
# usage: tests/benchmark/run.sh [BUILD [OUT [PART...]]]     defaults: build, build/benchmark, all parts
#   PART                 sptrsv more transposed rhs ilu0 many ksp soak
#   TASKDAG_MATRIX_DIR   folder of further matrices (.mtx, .mtx.gz, .mtx.xz)
#   SCHEDULES            schedules of sptrsv [all]
#   LIMIT                seconds for one part [900]
#   RESUME               anything: keep the rows that are in OUT, measure what is missing
# Exit status 1 if something failed, hung or gave a wrong result; all parts run all the same.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${1:-$here/../../build}
out=${2:-$build/benchmark}
parts=("${@:3}")
[ ${#parts[@]} -gt 0 ] || parts=(sptrsv more transposed rhs ilu0 many ksp soak)
limit=${LIMIT:-900}
bench=$build/tests/benchmark/taskdag_bench
mkdir -p "$out"
TASKDAG_COMMIT=${TASKDAG_COMMIT:-$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)}
export TASKDAG_COMMIT
[ -n "${RESUME:-}" ] || rm -f "$out"/{sptrsv,ilu0,many,soak,ksp}.csv
failed=0

# measure FILE PART OPTION...: rows to FILE. After a hang (status 4) it goes on behind what hung.
measure() {
  local file=$out/$1 end=$((SECONDS + limit)) attempt status=0
  echo "## ${*:2}"
  for attempt in 1 2 3 4 5 6 7 8; do
    status=0
    timeout --foreground "$((end > SECONDS ? end - SECONDS : 1))" "$bench" "${@:2}" --csv "$file" --resume || status=$?
    [ "$status" -eq 4 ] || break
    echo "## going on after hang $attempt"
  done
  [ "$status" -eq 0 ] || echo "## status $status: ${*:2}"
  [ "$status" -eq 0 ] || failed=1
}

read -r -a schedules <<<"${SCHEDULES:-all}"
for part in "${parts[@]}"; do
  case $part in
    sptrsv) measure sptrsv.csv sptrsv --repeat 7 --time-limit-ms 300 --schedule "${schedules[@]}" ;;
    more) measure sptrsv.csv sptrsv --all --repeat 7 --time-limit-ms 300 ;;
    transposed) measure sptrsv.csv sptrsv --table --transposed --repeat 7 --time-limit-ms 300 ;;
    rhs) measure sptrsv.csv sptrsv --table --rhs 8 --repeat 7 --time-limit-ms 300 ;;
    ilu0) measure ilu0.csv ilu0 --repeat 7 ;;
    many) measure many.csv many --table --repeat 7 --time-limit-ms 200 ;;
    ksp) "$here/ksp.sh" "$build/examples/solve" "$build/lib/libpetsctaskdag.so" "$out/ksp.csv" || failed=1 ;;
    soak) measure soak.csv soak ;;
    *) echo "unknown part $part: sptrsv more transposed rhs ilu0 many ksp soak" >&2 && exit 2 ;;
  esac
done

shopt -s nullglob
files=("$out"/{sptrsv,ilu0,ksp,soak}.csv)
rows=()
for file in "${files[@]}"; do [ -f "$file" ] && rows+=("$file"); done
if [ ${#rows[@]} -gt 0 ]; then
  python3 "$here/report.py" --plots "$out" "${rows[@]}" >"$out/report.md" || failed=1
  python3 "$here/report.py" --short "${rows[@]}" || failed=1
fi
exit $failed

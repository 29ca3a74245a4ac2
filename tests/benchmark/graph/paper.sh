#!/usr/bin/env bash
# The paper's experiments (docs/papers.md#chen-et-al-atos): rows by part to OUT/graph-PART.csv, a short table last.
# usage: tests/benchmark/graph/paper.sh [PROGRAM [PART...]]
#   PROGRAM    taskdag_graph_bench [build/tests/benchmark/graph/taskdag_graph_bench]
#   PART       written heat permuted kernels large   [all of them]
#              written   the algorithms as written against bulk synchronous ones, all graphs
#              heat      as written, all worker and fetch sizes, two graphs; with a timeline
#              permuted  colouring, vertices as numbered, numbered at random and by reverse Cuthill-McKee
#              kernels   registers and occupancy of our forms; those of the others come with their part
#              large     graphs of the paper's size
#   OUT        folder of the rows [.]
#   BACKEND    cuda or host [cuda]
#   SMOKE      anything: small graphs, to see that all of it runs
#   LIMIT      seconds for a part [60]
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=${1:-$here/../../../build/tests/benchmark/graph/taskdag_graph_bench}
shift || true
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(written heat permuted kernels large)
out=${OUT:-.}
TASKDAG_COMMIT=${TASKDAG_COMMIT:-$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)}
export TASKDAG_COMMIT
mkdir -p "$out"
failed=0

graph() { graphs+=(--graph "$1"); }

# part NAME OPTION...: rows to graph-NAME.csv, kernels to graph-NAME-kernels.csv, the program's lines to graph-NAME.log.
part() {
  local name=$1
  timeout "${LIMIT:-60}" "$program" --backend "${BACKEND:-cuda}" --csv "$out/graph-$name.csv" \
    --kernels "$out/graph-$name-kernels.csv" "${@:2}" >"$out/graph-$name.log" 2>&1 && return
  echo "part $name failed: status $?: $(tail -n 1 "$out/graph-$name.log")" >&2
  failed=1
}

rows=()
for name in "${parts[@]}"; do
  graphs=()
  size=()
  begin=$SECONDS
  case $name in
    written) options=(--forms written --workers 32-1 --workers 256-64 --discrete 32-1 --discrete 256-64 --repeat 2) ;;
    heat)
      options=(--forms written --repeat 2 --timeline "$out/graph-heat-timeline.csv")
      graph "R-MAT 16" && graph delaunay_n16
      ;;
    permuted)
      options=(--forms written --algorithm colouring --permute random --permute rcm --workers 32-1 --workers 256-64
        --discrete 32-1 --discrete 256-64 --repeat 2)
      graph "5-point 1000^2" && graph "R-MAT 18" && graph ca-CondMat && graph rgg_n_2_15_s0
      ;;
    kernels)
      options=(--forms table --rounds 1 --repeat 0)
      graph "R-MAT 16"
      ;;
    large)
      options=(--forms written --workers 32-1 --workers 256-64 --discrete 256-64 --repeat 1)
      graph "roads 3100^2" && graph "R-MAT 20"
      size=(--large)
      ;;
    *) echo "unknown part $name: written heat permuted kernels large" >&2 && exit 1 ;;
  esac
  if [ -n "${SMOKE:-}" ]; then
    graphs=()
    size=(--smoke)
  fi
  part "$name" "${size[@]}" "${graphs[@]}" "${options[@]}"
  echo "$name: $((SECONDS - begin)) s"
  case $name in heat | kernels) ;; *) rows+=("$out/graph-$name.csv") ;; esac  # those have a line for each size
done
[ ${#rows[@]} -eq 0 ] || python3 "$here/report.py" --short "${rows[@]}" || failed=1
exit $failed

#!/usr/bin/env bash
# The experiments of docs/papers/papers.md#chen-et-al-atos: files of rows as tests/benchmark/papers/tables.py names them to
# OUT, a short table last.
# usage: tests/benchmark/graph/paper.sh [PROGRAM [PART...]]
#   PROGRAM    taskdag_graph_bench [build/tests/benchmark/graph/taskdag_graph_bench]
#   PART       written heat permuted kernels idle timeline large rival   [all of them; rival only with RIVAL]
#              written   the algorithms as written against bulk synchronous ones, all graphs
#              heat      as written, all worker and fetch sizes, two graphs; with a timeline, for report.py's plots
#              permuted  colouring, vertices as numbered, numbered at random and by reverse Cuthill-McKee
#              kernels   registers and occupancy of our forms; those as written come with their part
#              idle      PageRank whose idle workers look for residues, beside the same without; all graphs
#              timeline  throughput over time of four graphs, in 50 steps a run: the paper's figures 1 to 3
#              large     graphs of the paper's size
#              rival     our bulk synchronous forms, those of 256-64 and RIVAL's, all graphs
#   OUT        folder of the rows [.]
#   GPU        what the names of the files begin with [h100]
#   BACKEND    cuda or host [cuda]
#   RIVAL      a shared library to measure beside ours (rival_interface.h)
#   SMOKE      anything: small graphs, to see that all of it runs
#   LIMIT      seconds for a part [60]
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=${1:-$here/../../../build/tests/benchmark/graph/taskdag_graph_bench}
shift || true
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(written heat permuted kernels idle timeline large ${RIVAL:+rival})
out=${OUT:-.}
TASKDAG_COMMIT=${TASKDAG_COMMIT:-$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)}
export TASKDAG_COMMIT
mkdir -p "$out"
failed=0

graph() { graphs+=(--graph "$1"); }

# part NAME OPTION...: the program's lines to OUT/graph-NAME.log.
part() {
  timeout --foreground "${LIMIT:-60}" "$program" --backend "${BACKEND:-cuda}" "${@:2}" >"$out/graph-$1.log" 2>&1 && return
  echo "part $1 failed: status $?: $(tail -n 1 "$out/graph-$1.log")" >&2
  failed=1
}

prefix=$out/${GPU:-h100}-graph
rows=()
for name in "${parts[@]}"; do
  graphs=()
  size=()
  begin=$SECONDS
  case $name in
    written)
      options=(--forms written --workers 32-1 --workers 256-64 --discrete 32-1 --discrete 256-64 --repeat 2
        --csv "$prefix-written.csv" --kernels "$prefix-written-kernels.csv")
      rows+=("$prefix-written.csv")
      ;;
    heat)
      options=(--forms written --repeat 2 --csv "$prefix-written-heat.csv" --timeline "$prefix-written-timeline.csv")
      graph "R-MAT 16" && graph delaunay_n16
      ;;
    permuted)
      options=(--forms written --algorithm colouring --permute random --permute rcm --workers 32-1 --workers 256-64
        --discrete 32-1 --discrete 256-64 --repeat 2 --csv "$prefix-permuted.csv")
      rows+=("$prefix-permuted.csv")
      graph "5-point 1000^2" && graph "R-MAT 18" && graph ca-CondMat && graph rgg_n_2_15_s0
      ;;
    kernels)
      options=(--forms table --rounds 1 --repeat 0 --kernels "$prefix-kernels.csv")
      graph "R-MAT 16"
      ;;
    idle)
      options=(--forms table --algorithm pagerank --workers 32-8 --discrete none --repeat 3 --csv "$prefix-idle.csv")
      rows+=("$prefix-idle.csv")
      ;;
    timeline)
      options=(--forms written --workers 32-1 --workers 256-64 --repeat 1 --bins 50 --csv "$prefix-timeline-runs.csv"
        --timeline "$prefix-timeline.csv")
      graph "5-point 1000^2" && graph delaunay_n16 && graph "R-MAT 16" && graph "R-MAT 18"
      ;;
    large)
      options=(--forms written --workers 32-1 --workers 256-64 --discrete 256-64 --repeat 1 --csv "$prefix-large.csv")
      rows+=("$prefix-large.csv")
      graph "roads 3100^2" && graph "R-MAT 20"
      size=(--large)
      ;;
    rival)
      options=(--forms table --algorithm bfs --algorithm pagerank --workers 256-64 --rounds 16 --repeat 3
        --rival "${RIVAL:?a shared library}" --csv "$prefix-rival.csv")
      rows+=("$prefix-rival.csv")
      ;;
    *) echo "unknown part $name: written heat permuted kernels idle timeline large rival" >&2 && exit 1 ;;
  esac
  if [ -n "${SMOKE:-}" ]; then
    graphs=()
    size=(--smoke)
  fi
  part "$name" "${size[@]}" "${graphs[@]}" "${options[@]}"
  echo "$name: $((SECONDS - begin)) s"
done
[ ${#rows[@]} -eq 0 ] || python3 "$here/report.py" --short "${rows[@]}" || failed=1
exit $failed

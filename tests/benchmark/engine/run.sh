#!/usr/bin/env bash
# Benchmarks of the task engine: rows to OUT as CSV, what the kernels cost to OUT with "-kernels" before the extension,
# a short table last. Every row comes from a run whose result its program has checked; a run that fails or takes too
# long has a row with "no" under checked, and the script ends with status 1.
# usage: tests/benchmark/engine/run.sh [PROGRAMS [PART...]]
#   PROGRAMS   directory of the example programs [build/examples]
#   PART       study throughput work latency schedulers dependencies   [all of them]
#              tuning: other blocks, rings and layouts for the wavefront's --best
#   OUT        file of the rows [engine.csv]
#   BACKEND    cuda or host [cuda]
#   SMOKE      anything: small sizes, to see that all of it runs
#   LIMIT      seconds for one command [120]
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
programs=${1:-$here/../../../build/examples}
shift || true
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(study throughput work latency schedulers dependencies)
out=${OUT:-engine.csv}
kernels=${out%.csv}-kernels.csv
backend=${BACKEND:-cuda}
limit=${LIMIT:-120}
if [ -n "${SMOKE:-}" ]; then
  study=40 large=60 traced=30 repeat=1 roots=20 few_roots=10 teams=(--threads 2) blocks=() watchdog=20000 all_rings=(2) tile=8 capacity=4096
else
  # No watchdog: it costs an atomic operation per turn; LIMIT ends what hangs.
  # 224 warps (28 blocks of 8; the study has 220), and 220, 110 or 55 rings.
  study=2000 large=10000 traced=1000 repeat=3 roots=32768 few_roots=1024 teams=() blocks=(--blocks 28) watchdog=0
  all_rings=(220 110 55) tile=32 capacity=1048576
fi
[ "$backend" = cuda ] || blocks=()

commit=${TASKDAG_COMMIT:-$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)}
if [ "$backend" = cuda ]; then
  gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
  driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
  cuda=$(nvidia-smi | sed -n 's/.*CUDA Version: *\([0-9.]*\).*/\1/p')
else
  gpu="$(nproc) host threads" driver='' cuda=''
fi
machine="$commit,$gpu,$driver,$cuda,$(date -u +%F)"
mkdir -p "$(dirname "$out")"
echo "commit,gpu,driver,cuda,date,experiment,program,variant,grid,scheduler,tasks,seconds,tasks_per_second,cells_per_second,cas_per_task,atomics_per_task,memory_per_task,latency_p50_ns,latency_p99_ns,checked" >"$out"
echo "commit,gpu,driver,cuda,date,program,variant,scheduler,kernel,launches,threads,registers,local_bytes,shared_bytes,blocks_per_sm" >"$kernels"
log=$(mktemp)
errors=$(mktemp)
trap 'rm -f "$log" "$errors"' EXIT
failed=0

# execute COMMAND...: its output in $log, its errors in $errors and, where it fails, on stderr.
execute() {
  timeout --foreground "$limit" stdbuf -oL "$@" >"$log" 2>"$errors" && return
  local status=$?
  failed=1
  echo "status $status: $*: $(tail -n 1 "$errors")" >&2
  return "$status"
}

# kernel_rows PROGRAM VARIANT SCHEDULER FILE: from the lines of describe(report).
kernel_rows() {
  sed -nE "s/^  kernel (.*): ([0-9]+) launches, ([0-9]+) threads, ([0-9]+) registers, ([0-9]+) B local, ([0-9]+) B shared, ([0-9]+) blocks per SM.*/$(
    printf '%s,%s,%s,%s' "$machine" "$1" "$2" "$3" | sed 's/[&/\\]/\\&/g'
  ),\1,\2,\3,\4,\5,\6,\7/p" "$4" | tail -n "${5:-8}" >>"$kernels"
}

# wavefront EXPERIMENT VARIANT SIDE SCHEDULER OPTION...: VARIANT describes the options.
wavefront() {
  local experiment=$1 variant=$2 side=$3 scheduler=$4
  echo "$experiment: wavefront, $variant, $side x $side, $scheduler"
  if execute "$programs/wavefront" --no-header --kernels --backend "$backend" "${teams[@]}" --watchdog "$watchdog" \
    --rows "$side" --columns "$side" --scheduler "$scheduler" "${@:5}"; then
    awk -F, -v OFS=, -v machine="$machine" -v what="$experiment,wavefront,$variant" '{
      print machine, what, $5 "x" $6, $4, $13, $15, $16, $17, $18, $19, $20, $21, $22, $24 }' "$log" >>"$out"
    kernel_rows wavefront "$variant" "$scheduler" "$errors"
  else
    echo "$machine,$experiment,wavefront,$variant,${side}x$side,$scheduler,,,,,,,,,,no" >>"$out"
  fi
}

# generic EXPERIMENT TREE DEPENDENCIES SCHEDULER WORKER FLOPS
generic() {
  local experiment=$1 tree=$2 dependencies=$3 scheduler=$4 worker=$5 flops=$6
  local variant="$tree tree $dependencies $worker workers $flops FLOPs" k seconds tasks
  [ "$tree" != irregular ] || tree=$here/../../../examples/engine/5_generic_test/data/irregular.json
  echo "$experiment: generic test, $variant, $scheduler"
  for ((k = 0; k < repeat; ++k)); do
    if execute "$programs/generic_test" --tree "$tree" --dependencies "$dependencies" --roots "$roots" --flops "$flops" \
      --scheduler "$scheduler" --worker "$worker" --backend "$backend" "${teams[@]}" --watchdog "$watchdog" --no-stamps \
      --queue-capacity "$capacity" --storage-capacity "$capacity"; then
      read -r tasks seconds < <(sed -nE 's/^([0-9]+) tasks in ([0-9.e+-]+) s,.*/\1 \2/p' "$log")
      awk -v machine="$machine" -v what="$experiment,generic_test,$variant,$roots roots,$scheduler" -v tasks="$tasks" \
        -v seconds="$seconds" 'BEGIN { print machine "," what "," tasks "," seconds "," tasks / seconds ",,,,,,,yes" }' \
        >>"$out"
    else
      echo "$machine,$experiment,generic_test,$variant,$roots roots,$scheduler,,,,,,,,,,no" >>"$out"
    fi
  done
  kernel_rows generic_test "$variant" "$scheduler" "$log"
}

# The study's order of its algorithms: warps of which a lane works, no child stays with its worker; with the counts.
part_study() {
  local queue rings warps=(--worker warp --no-continue "${blocks[@]}")
  for queue in scanning single; do
    wavefront study "$queue" "$study" megakernel --queue "$queue" "${warps[@]}"
    wavefront study-counts "$queue" "$study" megakernel --queue "$queue" "${warps[@]}" --count
  done
  for queue in multi-a multi-b; do
    for rings in "${all_rings[@]}"; do
      wavefront study "$queue $rings rings" "$study" megakernel --queue "$queue" "${warps[@]}" --rings "$rings" --repeat "$repeat"
    done
    wavefront study-counts "$queue ${all_rings[0]} rings" "$study" megakernel --queue "$queue" "${warps[@]}" \
      --rings "${all_rings[0]}" --count
  done
  for queue in shared stealing; do
    wavefront study "$queue" "$study" megakernel --queue "$queue" "${warps[@]}" --repeat "$repeat"
    wavefront study-counts "$queue" "$study" megakernel --queue "$queue" "${warps[@]}" --count
  done
  wavefront study best "$study" megakernel --best --repeat "$repeat"
  wavefront study-counts best "$study" megakernel --best --count
}

# The study's grid, without computation.
part_throughput() {
  local queue scheduler
  wavefront throughput best "$large" megakernel --best --repeat "$repeat"
  wavefront throughput "best by diagonals" "$large" megakernel --best --by-diagonals --repeat "$repeat"
  for queue in shared stealing; do
    for scheduler in megakernel controller timesliced; do
      wavefront throughput "$queue" "$large" "$scheduler" --queue "$queue" --repeat "$repeat"
    done
    wavefront throughput "$queue controller as a chain" "$large" controller --queue "$queue" --controller chain
    wavefront throughput "$queue without continuation" "$large" megakernel --queue "$queue" --no-continue --repeat "$repeat"
  done
  wavefront tiles "stealing tiles of $tile" "$large" megakernel --queue stealing --tile "$tile" --repeat "$repeat"
  wavefront tiles "shared tiles of $tile" "$large" megakernel --queue shared --tile "$tile" --repeat "$repeat"
}

# For the choices behind --best: stealing with a ring per warp (8 a block), one shared queue, and both layouts.
part_tuning() {
  local count
  for count in 40 80 132 200 264 396; do
    wavefront tuning "stealing $count blocks" "$large" megakernel --queue stealing --blocks "$count" --rings $((8 * count))
    wavefront tuning "stealing $count blocks by diagonals" "$large" megakernel --queue stealing --blocks "$count" \
      --rings $((8 * count)) --by-diagonals
    wavefront tuning "shared $count blocks" "$large" megakernel --queue shared --blocks "$count"
    wavefront tuning "shared $count blocks by diagonals" "$large" megakernel --queue shared --blocks "$count" --by-diagonals
  done
  for count in 64 256; do
    wavefront tuning "stealing 132 blocks $count rings" "$large" megakernel --queue stealing --blocks 132 --rings "$count"
  done
}

part_work() {
  local work queue
  for work in 64 1024 16384; do
    wavefront work "best work $work" "$study" megakernel --best --work "$work" --repeat "$repeat"
    for queue in multi-b shared stealing; do
      wavefront work "$queue work $work" "$study" megakernel --queue "$queue" --work "$work" --repeat "$repeat"
    done
  done
}

part_latency() {
  local scheduler
  for scheduler in megakernel controller timesliced; do
    wavefront latency "shared without continuation" "$traced" "$scheduler" --queue shared --no-continue --trace
    wavefront latency shared "$traced" "$scheduler" --queue shared --trace
    [ "$scheduler" != controller ] || wavefront latency "shared controller as a chain" "$traced" "$scheduler" --queue shared \
      --controller chain --trace
    wavefront latency "stealing without continuation" "$traced" "$scheduler" --queue stealing --no-continue --trace
  done
  wavefront latency best "$traced" megakernel --best --trace
}

# MHive's first finding: a controller on the device is faster than slices from the host.
part_schedulers() {
  local scheduler worker flops
  for flops in 64 4096; do
    for worker in thread warp; do
      for scheduler in timesliced controller megakernel; do
        generic schedulers small individual "$scheduler" "$worker" "$flops"
        generic schedulers large individual "$scheduler" "$worker" "$flops"
      done
    done
  done
}

# MHive's second finding: individual dependencies are faster than phases where the work is irregular. In the irregular
# tree five tasks of a thousand take a thousand times as long as the others, in each phase other roots'; with few roots, a
# phase is as long as one of them.
part_dependencies() {
  local tree scheduler dependencies flops all_roots=$roots
  for tree in small large; do
    for flops in 64 4096; do
      for scheduler in timesliced controller megakernel; do
        for dependencies in phases individual; do
          generic dependencies "$tree" "$dependencies" "$scheduler" thread "$flops"
        done
      done
    done
  done
  for roots in $few_roots "$all_roots"; do
    for scheduler in timesliced controller megakernel; do
      for dependencies in phases individual; do
        generic dependencies irregular "$dependencies" "$scheduler" warp 65536
      done
    done
  done
  roots=$all_roots
}

for part in "${parts[@]}"; do
  case $part in
    study) part_study ;;
    throughput) part_throughput ;;
    work) part_work ;;
    tuning) part_tuning ;;
    latency) part_latency ;;
    schedulers) part_schedulers ;;
    dependencies) part_dependencies ;;
    *) echo "unknown part $part: study throughput tuning work latency schedulers dependencies" >&2 && exit 1 ;;
  esac
done
python3 "$here/summarise" "$out"
exit $failed

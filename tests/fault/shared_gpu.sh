#!/usr/bin/env bash
# Every CUDA schedule on a GPU that it does not have to itself: beside a kernel that holds all multiprocessors but one, in
# turns with another process, and, where MPS can be started, with a share of the threads.
# usage: shared_gpu.sh FAULT_DIGEST
# A schedule has to end, with the bits that it gives alone. (Bits may change with the number of multiprocessors that the
# process sees: runs that see as many are compared.) Exit status 77: no GPU.
set -uo pipefail

program=$(realpath "$1")
work=$(mktemp -d)
mps=''
failures=0

quit_mps() {
  [ -n "$mps" ] || return 0
  echo quit | timeout 20 nvidia-cuda-mps-control >/dev/null 2>&1
  mps=''
}
trap 'quit_mps; rm -rf "$work"' EXIT

# digest NAME [ARGUMENT...]: a run of the program, its lines in $work/NAME; it may hang: then it is killed, and the last
# line names what came before.
digest() {
  local name=$1
  shift
  timeout -k 5 100 "$program" "$@" >"$work/$name" 2>"$work/$name.notes"
}

# judge NAME STATUS: that run against the first one that saw as many multiprocessors.
judge() {
  local name=$1 status=$2 seen first
  seen=$(sed -n 's/^multiprocessors: //p' "$work/$name")
  first=$work/first.$seen
  sed 's/^/note: /' "$work/$name.notes"
  if [ "$status" != 0 ]; then
    echo "wrong: $name: status $status; its last line: $(tail -n 1 "$work/$name")"
    failures=$((failures + 1))
  elif [ ! -e "$first" ]; then
    cp "$work/$name" "$first"
    echo "$name: $(grep -c 'triangle\|factor' "$work/$name") schedules, $seen multiprocessors"
  elif ! diff "$first" "$work/$name"; then
    echo "wrong: $name: other bits than alone"
    failures=$((failures + 1))
  else
    echo "$name: the same bits, $seen multiprocessors"
  fi
}

digest alone
status=$?
if [ "$status" = 77 ]; then
  cat "$work/alone"
  exit 77
fi
judge alone "$status"

digest beside_a_kernel --hog --turns 1
judge beside_a_kernel $?

digest two_processes_1 &
one=$!
digest two_processes_2 &
two=$!
wait "$one"
judge two_processes_1 $?
wait "$two"
judge two_processes_2 $?

start_mps() {
  command -v nvidia-cuda-mps-control >/dev/null || { echo "skipped: MPS: no nvidia-cuda-mps-control" && return 1; }
  export CUDA_MPS_PIPE_DIRECTORY=$work/mps CUDA_MPS_LOG_DIRECTORY=$work/mps
  mkdir -p "$work/mps"
  if ! timeout 20 nvidia-cuda-mps-control -d >"$work/mps/start" 2>&1; then
    echo "skipped: MPS does not start: $(tail -n 1 "$work/mps/start")"
    return 1
  fi
  mps=started
  # The server starts with its first client.
  if ! timeout -k 5 60 "$program" --turns 1 >"$work/mps/first" 2>&1; then
    echo "skipped: MPS takes no client: $(tail -n 1 "$work/mps/first")"
    return 1
  fi
}

if start_mps; then
  for share in 10 25 50; do
    # Twice: other numbers of multiprocessors have nothing else to be compared with.
    for turn in 1 2; do
      CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=$share digest "mps_${share}_percent_$turn"
      judge "mps_${share}_percent_$turn" $?
    done
  done
  CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50 digest mps_beside_1 &
  one=$!
  CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50 digest mps_beside_2 &
  two=$!
  wait "$one"
  judge mps_beside_1 $?
  wait "$two"
  judge mps_beside_2 $?
else
  # A server that takes nobody must not stay: programs would go on asking it.
  quit_mps
fi

echo "$failures wrong"
[ "$failures" = 0 ]

#!/usr/bin/env bash
# Runs a program of the engine in many ways and checks each run: host threads 1, 2 and 4, with queues and storages that
# hold everything, with such that begin with one place and grow, and without children that stay with their worker.
# usage: each_way.sh REGEX SCHEDULER COMMAND [ARGUMENT...]
set -euo pipefail
expect="$(dirname "$0")/../../../tests/expect.sh"
regex=$1 scheduler=$2
shift 2
for threads in 1 2 4; do
  for way in "" "--queue-capacity 1 --storage-capacity 1" "--queue-capacity 3 --no-continue"; do
    # shellcheck disable=SC2086  # a way is several words
    "$expect" 0 "$regex" "$@" --backend host --threads $threads --scheduler "$scheduler" --watchdog 20000 $way
  done
done

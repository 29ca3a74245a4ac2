#!/usr/bin/env bash
# The protocol of Böhnlein et al. 2025 on host threads (docs/papers/papers.md): the most telling rows first, until the time is up.
# Each row is written as soon as it is there; the same command again goes on where the last one stopped.
#
# usage: host_protocol.sh PROGRAM ROWS.csv [SECONDS]
# PROGRAM: taskdag_host_schedules. ROWS-schedules.csv gets what making schedules one at a time takes.
# SPMP, HDAGG, HDAGG_GROUPED: rivals as shared libraries (host_schedules/rivals); without them the re-made ones stand alone.
# TASKDAG_MATRIX_DIR: real matrices. SOLVE_MS: most time for the solves of a schedule. ATTEMPTS: how often these
# are repeated where they scatter. AT_ONCE: matrices in memory.
# SMOKE=1: small matrices. Exit status 1 where a result was wrong, or a rival crashed.
set -euo pipefail
if [ $# -lt 2 ]; then
  sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
program=$1 rows=$2 seconds=${3:-1000000}
begin=$SECONDS wrong=0
export TASKDAG_COMMIT=${TASKDAG_COMMIT:-$(git -C "$(dirname "${BASH_SOURCE[0]}")" rev-parse --short HEAD 2> /dev/null || echo unknown)}
processors=$(nproc)
export TASKDAG_MACHINE=${TASKDAG_MACHINE:-$processors processors, $(lscpu | sed -n 's/^Model name: *//p' | tr -d '"')}
most=$((processors < 16 ? processors : 16))
fewer=()
for cores in 8 4 2; do
  if [ "$cores" -lt "$most" ]; then fewer+=("$cores"); fi
done
usual=(--repeat 100 --solve-ms "${SOLVE_MS:-200}" --attempts "${ATTEMPTS:-3}" --at-once "${AT_ONCE:-32}")
some=3 draws=10
large=(--set large) random=(--set erdos-renyi-dense --set narrow-band) text=(--set erdos-renyi)
if [ -n "${SMOKE:-}" ]; then
  usual=(--repeat 3 --rows 300 --at-once 3) some=1 draws=2
  large=(--set narrow-band --seeds 1)
fi
rival() { if [ -n "$1" ]; then echo --rival "$1"; fi; }
read -ra spmp <<< "$(rival "${SPMP:-}")"
read -ra hdagg <<< "$(rival "${HDAGG:-}")"
read -ra grouped <<< "$(rival "${HDAGG_GROUPED:-}")"

# The last schedules are ours, not the paper's.
forms=() ablations=() list=()
for name in "locking" "locking, no Funnel" "pivotal-path" "pivotal-path, no Funnel" p2p hdagg "locking, waits" "locking, runs, waits"; do
  forms+=(--schedule "$name")
done
for name in "locking, as dealt" "locking, no fill-up" "locking, no reduction" "locking, full reduction"; do
  ablations+=(--schedule "$name")
done
for name in "locking" "pivotal-path"; do list+=(--schedule "$name"); done
ablations+=(--group alpha)

# step WHAT CORES ARGUMENT...
step() {
  local what=$1 cores=$2 left=$((seconds - (SECONDS - begin))) status=0
  shift 2
  if [ "$left" -lt 2 ]; then
    echo "time is up before: $what"
    exit "$wrong"
  fi
  echo "== $what, $cores cores, $left s left"
  # What is over time by more than it takes to make some schedules is ended: rows are whole all the same.
  timeout --foreground "$((left + 2))" "$program" --cores "$cores" --csv "$rows" --append --seconds "$left" "${usual[@]}" "$@" || status=$?
  if [ "$status" = 124 ]; then
    echo "time is up in: $what"
    exit "$wrong"
  fi
  if [ "$status" = 1 ] || [ "$status" -gt 128 ]; then
    echo "wrong results, which have no rows, or a crash, in: $what" >&2
    wrong=1
  elif [ "$status" != 0 ]; then
    exit "$status"
  fi
}

echo "$TASKDAG_MACHINE"
step "table 7.1, large" "$most" "${large[@]}" "${forms[@]}" "${spmp[@]}"
if [ ${#hdagg[@]} -gt 0 ]; then
  step "HDagg, large, where making it is quick" "$most" "${large[@]}" --schedule serial "${hdagg[@]}" --most-work 3e8
fi
step "table 7.1, random, $some draws" "$most" "${random[@]}" --seeds "$some" "${forms[@]}" "${spmp[@]}" "${hdagg[@]}"
step "table 7.4, large" "$most" "${large[@]}" --group reordering
for cores in "${fewer[@]}"; do step "table 7.6, large" "$cores" "${large[@]}" "${list[@]}" "${spmp[@]}"; done
step "ablations, large" "$most" "${large[@]}" "${ablations[@]}"
step "auto, large" "$most" "${large[@]}" --schedule plan --schedule auto
step "auto, the other real matrices" "$most" --set real --schedule plan --schedule auto --schedule "locking, waits" --schedule "locking, runs, waits"
for cores in "${fewer[@]}"; do
  if [ "$cores" = 8 ]; then
    step "table 7.2" 8 --set narrow-band --seeds "$some" "${forms[@]}" "${spmp[@]}" "${hdagg[@]}"
  fi
done
step "table 7.4, random, $some draws" "$most" "${random[@]}" --seeds "$some" --group reordering
step "table 7.1, random, $draws draws" "$most" "${random[@]}" --first-seed "$((some + 1))" --seeds "$draws" "${forms[@]}" "${spmp[@]}" "${hdagg[@]}"
step "ablations, random, $some draws" "$most" "${random[@]}" --seeds "$some" "${ablations[@]}" --schedule plan --schedule auto
if [ ${#hdagg[@]} -gt 0 ]; then
  step "HDagg, large" "$most" "${large[@]}" --schedule serial "${hdagg[@]}"
fi
if [ ${#grouped[@]} -gt 0 ]; then
  step "HDagg with its grouping" "$most" "${large[@]}" "${random[@]}" --seeds "$some" --schedule serial "${grouped[@]}"
fi
step "table 7.4, random, $draws draws" "$most" "${random[@]}" --first-seed "$((some + 1))" --seeds "$draws" --group reordering
step "the probabilities of the paper's text, $draws draws" "$most" "${text[@]}" --seeds "$draws" "${forms[@]}" "${spmp[@]}" "${hdagg[@]}"
for cores in "${fewer[@]}"; do
  if [ "$cores" = 8 ]; then
    step "table 7.2, $draws draws" 8 --set narrow-band --first-seed "$((some + 1))" --seeds "$draws" "${forms[@]}" "${spmp[@]}" "${hdagg[@]}"
  fi
done
rows="${rows%.csv}-schedules.csv"
step "table 7.7" "$most" "${large[@]}" --schedule-times "${forms[@]}" --at-once 8
exit "$wrong"

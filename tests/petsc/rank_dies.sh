#!/usr/bin/env bash
# Runs a test in which one of two ranks is killed, with an mpiexec that lets the other one live, which is to say so.
# usage: rank_dies.sh MPIEXEC PROGRAM TEST
# Exit status 77 where mpiexec is not Open MPI's: others end all ranks.
set -uo pipefail
[ $# -eq 3 ] || { sed -n '2,4s/^# \?//p' "$0" >&2 && exit 2; }
"$1" --version 2>&1 | grep -q 'OpenRTE\|Open MPI' || exit 77

output=$(timeout 150 "$1" --enable-recovery -n 2 "$2" --gtest_also_run_disabled_tests "--gtest_filter=$3" 2>&1)
grep -q 'noticed the end of another rank' <<<"$output" && exit 0
echo "$output"
exit 1

#!/usr/bin/env bash
# Runs a command and checks its exit status and its output.
# usage: expect.sh STATUS REGEX COMMAND [ARGUMENT...]
#   REGEX is a bash regular expression; it may match across lines. Status 77 of the command is handed on: skipped.
set -uo pipefail
status=$1 regex=$2
shift 2
output=$("$@" 2>&1)
got=$?
printf '%s\n' "$output"
[ "$got" != 77 ] || exit 77
if [ "$got" != "$status" ]; then
  echo "expect.sh: the exit status is $got, not $status"
  exit 1
fi
if ! [[ $output =~ $regex ]]; then
  echo "expect.sh: the output does not match $regex"
  exit 1
fi

#!/bin/bash
# usage: valgrind.sh PROGRAM FILTER
# Runs the tests of a GoogleTest program under valgrind: what reads or writes memory that it has given back fails, also
# where the test sees nothing of it. Exit status 77: no valgrind here.
set -u
if ! command -v valgrind >/dev/null; then
  echo "skipped: no valgrind on this machine"
  exit 77
fi
# Of uninitialised values MPI has many of its own, and so it has of memory that it keeps.
exec valgrind --quiet --error-exitcode=9 --leak-check=no --undef-value-errors=no "$1" --gtest_filter="$2"

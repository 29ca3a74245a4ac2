#!/usr/bin/env bash
# Builds the table workshop outside of the project, against the installed product, as docs/engine.md says, and runs it.
# usage: outside.sh PREFIX BUILD_FOLDER [CMAKE_OPTION...]
set -euo pipefail
prefix=$1 build=$2
shift 2
rm -rf "$build"
cmake -S "$(dirname "$0")/outside" -B "$build" -DCMAKE_PREFIX_PATH="$prefix" "$@"
cmake --build "$build"
"$build/table" --backend host --tables 10

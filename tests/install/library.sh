#!/usr/bin/env bash
# A C++ program finds the installed library with find_package(taskdag).
set -euo pipefail
build=$TASKDAG_WORK/library
rm -rf "$build"
cmake -S "$TASKDAG_SOURCE/tests/install/library" -B "$build" -G Ninja -DCMAKE_PREFIX_PATH="$TASKDAG_PREFIX"
cmake --build "$build"
"$build/use_library"

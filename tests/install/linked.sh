#!/usr/bin/env bash
# The C example, as it is installed, is built as a project of its own against the installed plugin, and solves its problem.
set -euo pipefail
build=$TASKDAG_WORK/linked
rm -rf "$build"
PKG_CONFIG_PATH=$PETSC_DIR/lib/pkgconfig:${PKG_CONFIG_PATH:-} \
  cmake -S "$TASKDAG_PREFIX/share/doc/taskdag/examples/3_linked_app" -B "$build" -G Ninja -DCMAKE_PREFIX_PATH="$TASKDAG_PREFIX"
cmake --build "$build"
"$build/linked_app" -ksp_view | tee "$build/output.txt"
grep -q CONVERGED_RTOL "$build/output.txt"
grep -q 'type: taskdag' "$build/output.txt"

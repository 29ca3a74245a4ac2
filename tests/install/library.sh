#!/usr/bin/env bash
# The C++ example, as it is installed, is built with find_package(taskdag) and by pkg-config, and solves its problem.
set -euo pipefail
example=$TASKDAG_PREFIX/share/doc/taskdag/examples/8_library
build=$TASKDAG_WORK/library
rm -rf "$build"
cmake -S "$example" -B "$build" -G Ninja -DCMAKE_PREFIX_PATH="$TASKDAG_PREFIX"
cmake --build "$build"
"$build/library_app" 50

PKG_CONFIG_PATH=$(dirname "$(find "$TASKDAG_PREFIX" -name taskdag.pc)")
export PKG_CONFIG_PATH
read -ra flags < <(pkg-config --cflags --libs taskdag)
"$CXX" -std=c++20 "$example/library_app.cpp" -o "$build/by_pkg_config" "${flags[@]}"
env -u LD_LIBRARY_PATH "$build/by_pkg_config" 50 0.5

#!/usr/bin/env bash
# Without options the library and the plugin are built, and what only tests, examples and libtaskdag_io need is not asked
# for; each of these asks for it.
set -euo pipefail
build=$TASKDAG_WORK/defaults

# configure_without PACKAGE... [-- CMAKE-ARGUMENT...]: where none of the packages is.
configure_without() {
  local missing=()
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    missing+=("-DCMAKE_DISABLE_FIND_PACKAGE_$1=ON")
    shift
  done
  rm -rf "$build"
  cmake -S "$TASKDAG_SOURCE" -B "$build" -G Ninja -DTASKDAG_CUDA=OFF "${missing[@]}" "${@:2}" >"$build.txt" 2>&1
}

configure_without GTest CLI11 LibArchive ZLIB || { cat "$build.txt" && exit 1; }
if grep -E -- "-Werror|\"file\": \"$TASKDAG_SOURCE/(tests|examples|src/io)/" "$build/compile_commands.json"; then
  echo "the default is a developer's build"
  exit 1
fi
echo "sources that are compiled: $(grep -c '"file":' "$build/compile_commands.json")"

asks_for() {
  if configure_without "$2" -- "-D$1=ON"; then
    echo "$1 does not ask for $2"
    exit 1
  fi
  grep -m 1 "CMAKE_DISABLE_FIND_PACKAGE_$2" "$build.txt"
}
asks_for TASKDAG_IO LibArchive
asks_for TASKDAG_IO ZLIB
asks_for TASKDAG_EXAMPLES CLI11
asks_for TASKDAG_TESTS GTest

#!/usr/bin/env bash
# Builds SpMP (https://github.com/IntelLabs/SpMP, Apache 2.0), whose sources are in SOURCE, as a rival of
# taskdag_host_schedules. ARCH: the processor to build for [native].
# usage: spmp.sh SOURCE OUT    then: taskdag_host_schedules --rival OUT
set -euo pipefail
if [ $# != 2 ] || [ ! -f "$1/LevelSchedule.hpp" ]; then
  sed -n '2,4s/^# //p' "$0" >&2
  exit 2
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
${CXX:-g++} -O3 -march="${ARCH:-native}" -DNDEBUG -fopenmp -std=c++11 -w -shared -fPIC -Wl,--no-undefined -I"$1" -I"$here/.." -o "$2" \
  "$here/spmp.cpp" "$1"/*.cpp "$1"/reordering/*.cpp "$1"/synk/{barrier,synk}.cpp
echo "$2"

#!/usr/bin/env bash
# Builds HDagg (https://github.com/sympiler/aggregation, MIT), whose sources are in SOURCE, as a rival of
# taskdag_host_schedules. METIS is not needed. ARCH: the processor to build for [native].
# usage: hdagg.sh SOURCE OUT [grouped]    then: taskdag_host_schedules --rival OUT
# grouped: with HDagg's own grouping of rows, which the programs of Böhnlein et al. leave out.
set -euo pipefail
if [ $# -lt 2 ] || [ ! -f "$1/src/hdagg/hdagg.cpp" ]; then
  sed -n '2,5s/^# //p' "$0" >&2
  exit 2
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
grouped=0
if [ "${3:-}" = grouped ]; then grouped=1; fi
${CXX:-g++} -O3 -march="${ARCH:-native}" -DNDEBUG -DENABLE_OPENMP -DHDAGG_GROUPED=$grouped -fopenmp -std=c++11 -w -shared \
  -fPIC -Wl,--no-undefined -I"$1/include" -I"$1/include/aggregation" -I"$here/.." -o "$2" "$here/hdagg.cpp" \
  "$1/src/hdagg/hdagg.cpp" "$1/src/lbc_csc_dag.cpp" "$1/src/lbc_utils.cpp" "$1"/utils/{BCSCMatrix,sparse_utilities,sparse_inspector,utils}.cpp
echo "$2"

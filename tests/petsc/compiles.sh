#!/usr/bin/env bash
# Whether the plugin's sources compile with the headers of a PETSc that is not configured, such as its main, by clang++.
# usage: compiles.sh PETSC-FOLDER    its sources; the configuration is that of the PETSc that pkg-config finds
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/borrowed.sh"
headers=$(cd "$1/include" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
borrow_configuration "$work"
python3 -B petsc_plugin/declared/generate.py "$work/declared"
find petsc_plugin -name '*.cpp' -print0 |
  xargs -0 -P "$(nproc)" -n 1 clang++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -DOMPI_SKIP_MPICXX "${mpi[@]}" \
    -isystem "$work" -isystem "$headers" -Ipetsc_plugin -Ipetsc_plugin/include -Iinclude "-I$work/declared/include"
sed -nE 's/^#define PETSC_VERSION_(RELEASE|MAJOR|MINOR|SUBMINOR) +([0-9]+)/\1 \2/p' "$headers/petscversion.h" | tr '\n' ' '
echo ": all sources compile"

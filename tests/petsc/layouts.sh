#!/usr/bin/env bash
# Which releases of PETSc lay out alike the private structures that the plugin reads: all of a minor version, as a rule.
# usage: layouts.sh CLONE-OF-PETSC TAG...
# Prints a line for each group of tags that follow each other with one layout, and what changed before the next group. The
# configuration (petscconf.h) is that of the PETSc that pkg-config finds; needs clang.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/borrowed.sh"
clone=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
borrow_configuration "$work"

# layout_of FOLDER: offset and name of each member, whatever its type.
layout_of() {
  clang -x c -fsyntax-only -w -Xclang -fdump-record-layouts "-I$1/include" "-I$1" "-I$work" "${mpi[@]}" - <<'C' |
#include <petsc/private/pcmgimpl.h>
#include <petsc/private/kspimpl.h>
#include <petsc/private/matimpl.h>
#include <src/ksp/ksp/impls/cheby/chebyshevimpl.h>
#include <src/ksp/pc/impls/sor/sor.c>
unsigned long sizes[] = {sizeof(struct _p_KSP), sizeof(struct _p_PC), sizeof(struct _p_Mat), sizeof(struct _p_MatCoarsen),
                         sizeof(PC_MG), sizeof(PC_MG_Levels), sizeof(PC_SOR), sizeof(KSP_Chebyshev), sizeof(struct _n_PetscLayout)};
C
    sed -nE 's/^ *([0-9]+|) *\| .* ([][A-Za-z0-9_()*]+)$/\1 \2/p; s/^ *([0-9]+) \| ([a-z]+ [^ ]+)$/\1 \2/p; s/^.*\[(sizeof=[0-9]+).*/\1/p'
}

group=()
for tag; do
  mkdir "$work/$tag"
  git -C "$clone" archive "$tag" include src/ksp/ksp/impls/cheby/chebyshevimpl.h src/ksp/pc/impls/sor/sor.c | tar x -C "$work/$tag"
  layout_of "$work/$tag" >"$work/$tag.txt"
  if [ ${#group[@]} -gt 0 ] && ! cmp -s "$work/${group[-1]}.txt" "$work/$tag.txt"; then
    echo "alike: ${group[*]}"
    diff "$work/${group[-1]}.txt" "$work/$tag.txt" | grep '^[<>]' | head -n "${LINES_OF_CHANGES:-6}" || true
    group=()
  fi
  group+=("$tag")
  rm -r "${work:?}/$tag"
done
echo "alike: ${group[*]}"

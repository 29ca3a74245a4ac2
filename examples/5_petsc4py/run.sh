#!/usr/bin/env bash
# Runs solve.py, or the script that TASKDAG_SCRIPT names, with the first Python that has petsc4py.
# usage: run.sh PLUGIN [PETSc options]
# Exit status 77, skipped: no Python has it, or it was built for another PETSc than PLUGIN.
set -euo pipefail
script=${TASKDAG_SCRIPT:-solve.py}
[[ $script == /* ]] || script=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/$script

petsc_library() { ldd "$1" | sed -n 's/^\s*\(libpetsc[^ ]*\.so\.[^ ]*\) .*/\1/p' | head -n 1; }

for python in python3 /usr/bin/python3; do
  extension=$("$python" -c 'import petsc4py.lib; print(petsc4py.lib.ImportPETSc().__file__)' 2>/dev/null) || continue
  if [ "$(petsc_library "$extension")" != "$(petsc_library "$1")" ]; then
    echo "skipped: petsc4py uses $(petsc_library "$extension"), $1 uses $(petsc_library "$1")"
    exit 77
  fi
  "$python" "$script" "$@"
  exit
done
echo "skipped: petsc4py is not installed"
exit 77

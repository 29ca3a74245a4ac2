#!/usr/bin/env bash
# A PETSc program that knows nothing of TaskDAG loads the installed plugin and uses each thing that it registers.
set -euo pipefail
build=$TASKDAG_WORK/plain_petsc
plugin=$(find "$TASKDAG_PREFIX" -name libpetsctaskdag.so)
rm -rf "$build"
PKG_CONFIG_PATH=$PETSC_DIR/lib/pkgconfig:${PKG_CONFIG_PATH:-} \
  cmake -S "$TASKDAG_SOURCE/tests/install/plain_petsc" -B "$build" -G Ninja
cmake --build "$build"

# solves WORD OPTION...: converges in one iteration (the factor of a tridiagonal matrix is exact), and -ksp_view says WORD.
solves() {
  "$build/plain_petsc" -dll_append "$plugin" -ksp_view "${@:2}" | tee "$build/output.txt"
  grep -q '^CONVERGED_RTOL after 1 iterations' "$build/output.txt"
  grep -q -- "$1" "$build/output.txt"
}
solves 'type: taskdag' -pc_type taskdag
solves 'type: taskdag' -pc_type taskdag -pc_taskdag_type icc -ksp_type cg
solves 'package used to perform factorization: taskdag' -pc_type ilu -pc_factor_mat_solver_type taskdag
solves 'taskdag_rcm' -pc_type ilu -pc_factor_mat_ordering_type taskdag_rcm

# The same from PETSC_OPTIONS, and on two ranks in the blocks of block Jacobi.
PETSC_OPTIONS="${PETSC_OPTIONS:-} -dll_append $plugin" "$build/plain_petsc" -pc_type taskdag | grep CONVERGED_RTOL
"${MPIEXEC:-mpiexec}" -n 2 "$build/plain_petsc" -dll_append "$plugin" -pc_type bjacobi -sub_pc_type taskdag |
  grep CONVERGED_RTOL

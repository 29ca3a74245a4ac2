#!/usr/bin/env bash
# The examples that people copy, as they are installed: each compiled against what is installed, and run.
set -euo pipefail
examples=$TASKDAG_PREFIX/share/doc/taskdag/examples
plugin=$(find "$TASKDAG_PREFIX" -name libpetsctaskdag.so)
work=$TASKDAG_WORK/copied
rm -rf "$work"
mkdir -p "$work"
PKG_CONFIG_PATH=$(dirname "$plugin")/pkgconfig:$PETSC_DIR/lib/pkgconfig:${PKG_CONFIG_PATH:-}
export PKG_CONFIG_PATH
unset LD_LIBRARY_PATH

echo "== make"
cp -r "$examples/3_linked_app" "$work/make"
make -C "$work/make"
"$work/make/linked_app" | grep CONVERGED_RTOL
if PKG_CONFIG_PATH='' make -B -C "$work/make" >"$work/make.txt" 2>&1; then
  echo "make goes on without TaskDAG"
  exit 1
fi
grep petsctaskdag "$work/make.txt"

# Every option of the files counts: none is misspelt, or read by another type than the one that is chosen.
# solves FILE: for the solver without a prefix.
solves() {
  "$work/make/linked_app" -options_file "$1" -ksp_rtol 1e-10 -ksp_view -options_left | tee "$work/solved.txt" | grep -i -E "unused|CONVERGED_RTOL"
  grep -q "There are no unused options" "$work/solved.txt"
  grep -q "type: taskdag" "$work/solved.txt"
}
echo "== options files"
for file in "$examples"/9_options/*.options; do
  prefixes=$(sed -n 's/^-\([Up]_\).*/\1/p' "$file" | sort -u)
  [ -n "$prefixes" ] || solves "$file"
  for prefix in $prefixes; do
    sed -n "s/^-$prefix/-/p" "$file" >"$work/$prefix.options"
    solves "$work/$prefix.options"
  done
done

# may_skip COMMAND...: status 77 is that of an example that lacks something here and says so.
may_skip() {
  "$@" || [ $? = 77 ]
}
echo "== Python, Fortran"
may_skip "$examples/5_petsc4py/run.sh" "$plugin"
may_skip env TASKDAG_SCRIPT=settings.py "$examples/5_petsc4py/run.sh" "$plugin"
may_skip env TASKDAG_PLUGIN="$plugin" TASKDAG_SCRIPT="$examples/tutorials/2_time_steps.py" "$examples/5_petsc4py/run.sh" "$plugin"
may_skip "$examples/7_fortran/run.sh" "$plugin"

echo "== Slurm"
PETSC_OPTIONS="${PETSC_OPTIONS:-} -dll_append $plugin" TASKDAG_SOLVE=$work/make/linked_app \
  LAUNCH="${MPIEXEC:-mpiexec} -n 2" "$examples/4_slurm/solve.slurm" -ksp_rtol 1e-10 | grep CONVERGED_RTOL

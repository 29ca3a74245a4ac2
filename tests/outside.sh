#!/usr/bin/env bash
# Programs of other projects, unmodified, as Debian packages them: by options alone a solve with our preconditioner takes as
# many iterations as with PETSc's own.
# usage: outside.sh PLUGIN [dolfinx] [deal.II]     PLUGIN: libpetsctaskdag.so for Debian's PETSc
#   Installs what is missing; deal.II brings 190 packages. Without a name: both.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../.ci/machine.sh"
plugin=$(realpath "$1")
programs=("${@:2}")
[ ${#programs[@]} -gt 0 ] || programs=(dolfinx deal.II)
failed=0

# counts OPTIONS COMMAND...: the iterations of its solves, in one line.
counts() {
  PETSC_OPTIONS="${PETSC_OPTIONS:-} -dll_append $plugin $1" timeout 300 "${@:2}" 2>&1 |
    sed -nE 's/.*(converged in|Krylov iterations:) ([0-9]+).*/\2/p' | tr '\n' ' '
}

# same NAME PETSC'S-OPTIONS OUR-OPTIONS COMMAND...
same() {
  local theirs ours
  theirs=$(counts "$2" "${@:4}")
  ours=$(counts "$3" "${@:4}")
  echo "$1: $2: $theirs; $3: $ours"
  [ -n "$theirs" ] && [ "$theirs" = "$ours" ] || failed=1
}

natural="-pc_type taskdag -pc_taskdag_ordering natural -pc_taskdag_type"

# On one rank: with more its partition, and with it the count, differs from run to run.
try_dolfinx() {
  local problem
  for problem in poisson elasticity; do
    local command=(dolfinx-scaling-test --problem_type "$problem" --scaling_type strong --ndofs 20000 -ksp_type cg -ksp_rtol 1e-8)
    same "dolfinx, $problem" "-pc_type icc" "$natural icc -pc_taskdag_icc_shift petsc" "${command[@]}"
    same "dolfinx, $problem" "-pc_type icc" "-pc_type icc -pc_factor_mat_solver_type taskdag" "${command[@]}"
    same "dolfinx, $problem" "-pc_type sor -mat_no_inode" "-pc_type taskdag -pc_taskdag_type sor" "${command[@]}"
    same "dolfinx, $problem" "-pc_type gamg -pc_gamg_use_sa_esteig 0 -mg_levels_pc_type jacobi" \
      "-pc_type gamg -pc_gamg_use_sa_esteig 0 -mg_levels_pc_type taskdag -mg_levels_pc_taskdag_type jacobi" "${command[@]}"
  done
}

try_dealii() {
  local ranks folder
  folder=$(mktemp -d)
  cp /usr/share/doc/libdeal.ii-doc/examples/step-17/* "$folder"
  cmake -S "$folder" -B "$folder" -DCMAKE_BUILD_TYPE=Release >"$folder/build.txt" 2>&1
  cmake --build "$folder" >>"$folder/build.txt"
  for ranks in 1 2; do
    # shellcheck disable=SC2016 # for the shell that is started
    same "deal.II step-17, ranks: $ranks" "-pc_type bjacobi -sub_pc_type ilu" "$natural ilu" \
      bash -c 'cd "$1" && mpiexec -n "$2" ./step-17' . "$folder" "$ranks"
  done
  rm -rf "$folder"
}

install_missing build "${programs[@]}"
for program in "${programs[@]}"; do
  case $program in
    dolfinx) try_dolfinx ;;
    deal.II) try_dealii ;;
    *) echo "unknown program $program; there are: dolfinx deal.II" >&2 && exit 2 ;;
  esac
done
exit $failed

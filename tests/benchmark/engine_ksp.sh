#!/usr/bin/env bash
# Iterations of KSP solves whose sweeps and factorisation are programs of the task engine, under each scheduler and each
# way of waiting, on several ranks, beside the schedule flat's; rows to CSV.
# usage: engine_ksp.sh SOLVE PLUGIN CSV
#   SOLVE, PLUGIN        examples/solve and libpetsctaskdag.so of a build
#   MAT_TYPE             PETSc's matrix type [aijcusparse]
#   MPIEXEC              [mpiexec -n]
#   RANKS, PCS, ORDERS   [1 2 4], [ilu icc], [natural taskdag_rcm taskdag_bmc]
#   LIMIT                seconds for one solve [120]
# Exit status 1 if a solve fails or its iterations are not those of flat.
set -uo pipefail
[ $# -eq 3 ] || { sed -n '2,9s/^# \?//p' "$0" >&2 && exit 2; }
solve=$1 plugin=$2 csv=$3
# shellcheck source=tests/benchmark/solves.sh
source "$(dirname "${BASH_SOURCE[0]}")/solves.sh"
read -r -a launch <<<"${MPIEXEC:-mpiexec -n}"
read -r -a ranks <<<"${RANKS:-1 2 4}"
read -r -a pcs <<<"${PCS:-ilu icc}"
read -r -a orders <<<"${ORDERS:-natural taskdag_rcm taskdag_bmc}"
echo "program,problem,preconditioner,ordering,ranks,scheduler,dependencies,iterations,flat_iterations,solve_s,status,$machine_columns" >"$csv"

# one RANKS PC ORDERING SCHEDULER DEPENDENCIES OPTION...: iterations to $iterations
one() {
  local grid=(-stencil 7 -nx 30 -ksp_type cg)
  [ "$2" = icc ] || grid=(-stencil 7 -nx 30 -wind 0.5 -ksp_type gmres)
  run_solve "${launch[@]}" "$1" "$solve" -dll_append "$plugin" -mat_type "${MAT_TYPE:-aijcusparse}" "${grid[@]}" -ksp_rtol 1e-8 \
    -pc_type taskdag -pc_taskdag_type "$2" -pc_taskdag_ordering "$3" "${@:6}"
  iterations=$(value iterations)
  [ "$4" != flat ] || flat=$iterations
  if [ "$status" = ok ] && [ "$iterations" != "$flat" ]; then status="other iterations" failed=1; fi
  echo "engine_ksp,7-point 30^3,$2,$3,$1,$4,$5,$iterations,$flat,$(value solve),$status,$machine" >>"$csv"
  [ "$status" = ok ] || { echo "$*: $status ($iterations, flat: $flat)"; tail -n 15 "$log"; }
}

for count in "${ranks[@]}"; do
  for pc in "${pcs[@]}"; do
    for order in "${orders[@]}"; do
      flat=
      one "$count" "$pc" "$order" flat '' -pc_taskdag_schedule "${FLAT:-flat}"
      for scheduler in megakernel controller timesliced; do
        for dependencies in ordered individual phases; do
          one "$count" "$pc" "$order" "$scheduler" "$dependencies" -pc_taskdag_schedule engine -pc_taskdag_factor_schedule engine \
            -pc_taskdag_engine_scheduler "$scheduler" -pc_taskdag_engine_dependencies "$dependencies"
        done
      done
    done
  done
done
awk -F, 'NR > 1 { n++; ok += $11 == "ok" } END { print n " solves, " ok " as they should be" }' "$csv"
exit "$failed"

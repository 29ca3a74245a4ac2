#!/usr/bin/env bash
# examples/4_slurm/solve.slurm with 1, 2, 4 and 8 ranks a GPU, in the environment of a Slurm job with one GPU and eight
# cores. MPI's launcher stands in for srun.
# usage: slurm.sh SOLVE LAUNCHER
set -euo pipefail
export TASKDAG_SOLVE=$1 launcher=$2
export SLURM_JOB_NUM_NODES=1 SLURM_GPUS_ON_NODE=1 SLURM_CPUS_ON_NODE=8
script=$(dirname "${BASH_SOURCE[0]}")/../examples/4_slurm/solve.slurm

srun() {
  local ranks options=()
  while [[ $1 == --* ]]; do
    options+=("$1")
    [[ $1 != --ntasks=* ]] || ranks=${1#--ntasks=}
    shift
  done
  echo "srun ${options[*]}"
  "$launcher" -n "$ranks" "$@"
}
export -f srun

for ranks in 1 2 4 8; do
  output=$(RANKS_PER_GPU=$ranks "$script" -nx 12)
  echo "$output"
  grep -q -- "^srun .*--ntasks-per-node=$ranks --cpus-per-task=$((8 / ranks))\$" <<<"$output"
  grep -q "ranks: $ranks\b" <<<"$output"
  grep -q CONVERGED_RTOL <<<"$output"
done
# More ranks than cores are refused before anything is started.
if output=$(RANKS_PER_GPU=9 "$script" -nx 12 2>&1) || [ "$output" != "9 ranks, but 8 cores on a node" ]; then
  echo "9 ranks on 8 cores: $output"
  exit 1
fi

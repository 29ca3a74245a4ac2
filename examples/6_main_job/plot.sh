#!/usr/bin/env bash
# Plots two residual histories with what this machine has: gnuplot, matplotlib, or characters on the terminal.
# usage: plot.sh TITLE PETSC.csv TASKDAG.csv OUTPUT-without-suffix
set -euo pipefail
title=$1 petsc=$2 taskdag=$3 output=$4

if command -v gnuplot >/dev/null; then
  gnuplot <<PLOT
set datafile separator ','
set terminal svg size 800,500 background 'white'
set output '$output.svg'
set title '$title' noenhanced
set xlabel 'iteration'
set ylabel 'residual norm'
set logscale y
set format y '10^{%T}'
plot '$petsc' skip 1 using 1:2 with lines lw 4 lc rgb '#bbbbbb' title 'PETSc', \
     '$taskdag' skip 1 using 1:2 with lines lw 1.5 lc rgb '#1f5fbf' title 'TaskDAG'
PLOT
  echo "residual history: $output.svg"
elif python3 -c 'import matplotlib' 2>/dev/null; then
  MPLBACKEND=Agg python3 - "$title" "$petsc" "$taskdag" "$output.png" <<'PLOT'
import csv
import sys

import matplotlib.pyplot as plt

title, petsc, taskdag, output = sys.argv[1:]
for path, label, width in ((petsc, "PETSc", 4), (taskdag, "TaskDAG", 1.5)):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    plt.semilogy([int(r["iteration"]) for r in rows], [float(r["residual_norm"]) for r in rows], label=label, lw=width)
plt.title(title)
plt.xlabel("iteration")
plt.ylabel("residual norm")
plt.legend()
plt.savefig(output, dpi=120)
PLOT
  echo "residual history: $output.png"
else
  # One line for about every twentieth iteration; the bar's length is the logarithm of TaskDAG's residual.
  paste -d, "$petsc" "$taskdag" | awk -F, '
    NR > 1 { n++; it[n] = $3; a[n] = $2; b[n] = $4 }
    END {
      step = n > 20 ? int(n / 20) : 1
      printf "%9s %12s %12s\n", "iteration", "PETSc", "TaskDAG"
      for (i = 1; i <= n; i += step) {
        bar = ""
        if (b[i] > 0 && b[n] > 0) for (k = 0; k < 4 * log(b[i] / b[n]) / log(10); k++) bar = bar "#"
        printf "%9s %12.3e %12.3e %s\n", it[i], a[i], b[i], bar
      }
    }' | tee "$output.txt"
  echo "residual history: $output.txt"
fi

#!/usr/bin/env python3
"""Heat that spreads in a material whose conductivity changes with time: a new matrix each step, in the same places.

usage: time_steps.py PLUGIN [PETSc options]     -n: grid points per direction, -steps: time steps
Shows what the first set-up costs, what later ones cost, where only the numeric phase is repeated, and what solves cost.
Exit status: 0 solved, 2 not converged.
"""
import sys
import time

import numpy as np
import petsc4py

if len(sys.argv) < 2:
    sys.exit(__doc__)
petsc4py.init([sys.argv[0], "-dll_append", sys.argv[1], *sys.argv[2:]])
from petsc4py import PETSc  # noqa: E402  (only after init)


def rows_of(n, first, last, conductivity):
    """I + K of rows first to last - 1 of an n x n grid, in the form of CSR: where entries are, and what they are."""
    row = np.arange(first, last)
    columns = np.stack([row - n, row - 1, row, row + 1, row + n], axis=1)
    there = np.stack([row >= n, row % n > 0, row >= 0, row % n < n - 1, row < n * n - n], axis=1)
    values = np.full(columns.shape, -conductivity)
    values[:, 2] = 1.0 + 4.0 * conductivity
    starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    return starts.astype(PETSc.IntType), columns[there].astype(PETSc.IntType), values[there]


def timed(call, *arguments):
    begin = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - begin


def main():
    options = PETSc.Options()
    n, steps = options.getInt("n", 200), options.getInt("steps", 5)
    a = PETSc.Mat().createAIJ([n * n, n * n], nnz=5)
    first, last = a.getOwnershipRange()
    u, b = a.createVecs()
    u.set(1.0)

    ksp = PETSc.KSP().create()
    ksp.setType("cg")
    ksp.setTolerances(rtol=1e-8)
    ksp.getPC().setType("taskdag")
    options.setValue("pc_taskdag_type", options.getString("pc_taskdag_type", "icc"))
    ksp.setFromOptions()

    for step in range(steps):
        a.setValuesCSR(*rows_of(n, first, last, 10.0 * (1.0 + 0.5 * step)))
        a.assemble()
        u.copy(b)
        ksp.setOperators(a)
        set_up, solve = timed(ksp.setUp), timed(ksp.solve, b, u)
        PETSc.Sys.Print(f"step {step}: set-up {1e3 * set_up:.2f} ms, solve {1e3 * solve:.2f} ms, "
                        f"{ksp.getIterationNumber()} iterations, heat {u.sum() / n / n:.4f}")
        if ksp.getConvergedReason() <= 0:
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Chooses what TaskDAG does in Python, with the module petsctaskdag, and solves a Poisson problem.

usage: settings.py PLUGIN [PETSc options]
The module lies in share/taskdag/python beside the folder of the plugin, in a build and where TaskDAG is installed.
Exit status: 0 solved, 2 not converged.
"""
import os
import sys

import petsc4py

if len(sys.argv) < 2:
    sys.exit(__doc__)
petsc4py.init([sys.argv[0], *sys.argv[2:]])
from petsc4py import PETSc  # noqa: E402  (only after init)

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(sys.argv[1])), "..", "share", "taskdag", "python"))
import petsctaskdag  # noqa: E402

petsctaskdag.load(sys.argv[1])  # PETSc does so itself with -dll_append

n = 40
a = PETSc.Mat().createAIJ([n * n, n * n], nnz=5)
first, last = a.getOwnershipRange()
for row in range(first, last):
    a[row, row] = 4.0
    for column, there in ((row - 1, row % n > 0), (row + 1, row % n < n - 1), (row - n, row >= n), (row + n, row < n * n - n)):
        if there:
            a[row, column] = -1.0
a.assemble()

ksp = PETSc.KSP().create()
ksp.setOperators(a)
ksp.setType("cg")
pc = ksp.getPC()
pc.setType("taskdag")
petsctaskdag.set(pc, type="icc", threads=1, ordering="natural", tune=False)
ksp.setFromOptions()

x, b = a.createVecs()
x.set(1.0)
a.mult(x, b)
ksp.solve(b, x)

chosen = {name: petsctaskdag.get(pc, name) for name in ("type", "threads", "ordering", "tune", "jacobi_damping")}
PETSc.Sys.Print(f"{chosen}, reason {ksp.getConvergedReason()}, iterations {ksp.getIterationNumber()}")
try:
    petsctaskdag.set(pc, threads=-1)
except PETSc.Error as error:
    PETSc.Sys.Print(f"threads=-1 is refused with code {error.ierr}")
sys.exit(0 if ksp.getConvergedReason() > 0 else 2)

#!/usr/bin/env python3
"""Loads TaskDAG into petsc4py and solves a Poisson problem with it.

usage: solve.py PLUGIN [PETSc options]
PLUGIN is the path of libpetsctaskdag.so, built for the PETSc that petsc4py uses. -n sets the grid points per direction.
Exit status: 0 solved, 2 not converged, 77 petsc4py is not installed.
"""
import sys

try:
    import petsc4py
except ImportError:
    print("skipped: petsc4py is not installed")
    sys.exit(77)

if len(sys.argv) < 2:
    sys.exit(__doc__)
petsc4py.init([sys.argv[0], "-dll_append", sys.argv[1], *sys.argv[2:]])
from petsc4py import PETSc  # noqa: E402  (only after init)


def poisson(n):
    """The five-point matrix of an n x n grid."""
    a = PETSc.Mat().createAIJ([n * n, n * n], nnz=5)
    first, last = a.getOwnershipRange()
    for row in range(first, last):
        x, y = row % n, row // n
        a[row, row] = 4.0
        if x > 0:
            a[row, row - 1] = -1.0
        if x < n - 1:
            a[row, row + 1] = -1.0
        if y > 0:
            a[row, row - n] = -1.0
        if y < n - 1:
            a[row, row + n] = -1.0
    a.assemble()
    return a


def main():
    a = poisson(PETSc.Options().getInt("n", 50))
    x, b = a.createVecs()
    x.set(1.0)
    a.mult(x, b)

    ksp = PETSc.KSP().create()
    ksp.setOperators(a)
    ksp.setType("cg")
    ksp.setTolerances(rtol=1e-10)
    ksp.getPC().setType("taskdag")
    PETSc.Options().setValue("pc_taskdag_type", "icc")
    ksp.setFromOptions()
    x.set(0.0)
    ksp.solve(b, x)

    x.shift(-1.0)
    error = x.norm(PETSc.NormType.NORM_INFINITY)
    print(f"reason {ksp.getConvergedReason()} after {ksp.getIterationNumber()} iterations, largest error {error:.2e}")
    return 0 if ksp.getConvergedReason() > 0 and error < 1e-6 else 2


if __name__ == "__main__":
    sys.exit(main())

"""What the tutorials share: the matrix of a square grid, and a clock."""
import time

import numpy as np
from petsc4py import PETSc


def fill(a, n, diffusion=1.0, across=1.0, wind=0.0, shift=0.0):
    """Puts shift − diffusion · (∂²/∂x² + across · ∂²/∂y²) + wind · ∂/∂x on an n x n grid into a, an n² x n² matrix.

    Five entries a row, of a grid of distance 1 with zero around it; wind is taken upwind. Each rank sets its own rows.
    """
    first, last = a.getOwnershipRange()
    row = np.arange(first, last)
    columns = np.stack([row - n, row - 1, row, row + 1, row + n], axis=1)
    there = np.stack([row >= n, row % n > 0, row >= 0, row % n < n - 1, row < n * n - n], axis=1)
    values = np.full(columns.shape, -float(diffusion))
    values[:, [0, 4]] *= across
    values[:, 1] -= wind
    values[:, 2] = shift + 2.0 * diffusion * (1.0 + across) + wind
    starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    a.setValuesCSR(starts.astype(PETSc.IntType), columns[there].astype(PETSc.IntType), values[there])
    a.assemble()


def matrix(n, **terms):
    """That matrix, of the type that -mat_type says."""
    a = PETSc.Mat().create()
    a.setSizes([n * n, n * n])
    a.setFromOptions()
    a.setPreallocationNNZ(5)
    fill(a, n, **terms)
    return a


def milliseconds(call, *arguments):
    begin = time.perf_counter()
    call(*arguments)
    return 1e3 * (time.perf_counter() - begin)


def set_options(options, prefix):
    """Options, a text such as "-ksp_type cg -pc_type ilu", for what has the prefix alone."""
    PETSc.Options().insertString(f"-prefix_push {prefix} {options} -prefix_pop" if prefix else options)


def solver(a, options, prefix):
    """A KSP for a with options, which the prefix keeps apart from those of others."""
    set_options(options, prefix)
    ksp = PETSc.KSP().create(a.getComm())
    ksp.setOptionsPrefix(prefix)
    ksp.setOperators(a)
    ksp.setFromOptions()
    return ksp

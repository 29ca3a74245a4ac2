# %% [markdown]
# # Poisson in three lines
#
# TaskDAG is a plugin: PETSc loads it when it starts, and from then on knows a preconditioner of type `taskdag`.
# `TASKDAG_PLUGIN` is the path of `libpetsctaskdag.so`; the module file sets it.

# %%
import os

import petsc4py

petsc4py.init(["poisson", "-dll_append", os.environ["TASKDAG_PLUGIN"]])  # the first line
from petsc4py import PETSc

# %% [markdown]
# A problem: −Δu = 1 on the unit square, u = 0 around it, with five-point differences. `grid.py` beside this file has the
# matrix, in thirty lines of NumPy.

# %%
import grid

n = 300
a = grid.matrix(n)
x, b = a.createVecs()
b.set(1.0 / (n + 1) ** 2)

ksp = PETSc.KSP().create()
ksp.setOperators(a)
ksp.setType("cg")
ksp.setTolerances(rtol=1e-8)

# %%
ksp.getPC().setType("taskdag")  # the second line
ksp.solve(b, x)                 # the third line

highest = x.max()[1]
PETSc.Sys.Print(f"{ksp.getIterationNumber()} iterations, residual {ksp.getResidualNorm():.1e}")
PETSc.Sys.Print(f"u in the middle {highest:.6f} (of the equation itself: 0.073671)")
assert ksp.getConvergedReason() > 0 and abs(highest - 0.073671) < 1e-4

# %% [markdown]
# That is all. A program that calls `setFromOptions()` needs no line of its own: `-pc_type taskdag` on its command line, or in
# `PETSC_OPTIONS`, does the same.
#
# What has been chosen, where it ran and why, `-ksp_view` tells:

# %%
ksp.view()

# %% [markdown]
# No type was given, so the preconditioner looked at the matrix and took one. [Choosing](4_choosing.py) shows what else there
# is to take, and the next tutorial [what it costs](2_time_steps.py).
#
# On a GPU, with a PETSc that has CUDA, the same file runs with `PETSC_OPTIONS="-mat_type aijcusparse"`: matrix, vectors and
# preconditioner are on the GPU then.

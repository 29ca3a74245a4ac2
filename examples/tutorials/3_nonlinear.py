# %% [markdown]
# # A nonlinear problem
#
# The Bratu problem, −Δu = λ eᵘ, by PETSc's Newton method (`SNES`): each of its steps solves with a new Jacobian matrix. The
# preconditioner is set by options alone; nothing in the program knows of it.

# %%
import os

import petsc4py

petsc4py.init(["nonlinear", "-dll_append", os.environ["TASKDAG_PLUGIN"]])
from petsc4py import PETSc

import grid

n, lam = 200, 6.0
h2 = 1.0 / (n + 1) ** 2
laplace = grid.matrix(n)


def residual(snes, u, f):
    laplace.mult(u, f)
    source = u.duplicate()
    u.copy(source)
    source.exp()
    f.axpy(-lam * h2, source)


def jacobian(snes, u, a, p):
    laplace.copy(p)
    d = u.duplicate()
    u.copy(d)
    d.exp()
    d.scale(-lam * h2)
    p.setDiagonal(d, addv=PETSc.InsertMode.ADD_VALUES)
    p.assemble()


# %%
def newton(options, prefix):
    """Solves it; prints the Newton steps, the inner iterations and the time."""
    grid.set_options(options, prefix)
    u, f = laplace.createVecs()
    u.set(0.0)
    snes = PETSc.SNES().create()
    snes.setOptionsPrefix(prefix)
    snes.setFunction(residual, f)
    snes.setJacobian(jacobian, laplace.duplicate(copy=True))
    snes.setFromOptions()
    time = grid.milliseconds(snes.solve, None, u)
    steps, inner = snes.getIterationNumber(), snes.getLinearSolveIterations()
    PETSc.Sys.Print(f"{options}\n  {steps} steps, {inner} inner iterations, "
                    f"{time:.0f} ms, largest u {u.max()[1]:.6f}")
    assert snes.getConvergedReason() > 0
    return snes


common = "-snes_rtol 1e-10 -ksp_type cg -ksp_rtol 1e-4 "
newton(common + "-pc_type icc", "petsc_")
newton(common + "-pc_type taskdag -pc_taskdag_type icc", "icc_");

# %% [markdown]
# The counts are equal: it is the same factor, computed and applied another way. The first Newton step sets up all of it, the
# later ones its values alone. An old factor may do, too: it saves set-ups and may cost inner iterations. Here the Jacobian
# matrices differ by so little that it costs none.

# %%
lag = "-snes_lag_preconditioner -2 "
newton(common + lag + "-pc_type taskdag -pc_taskdag_type icc", "lag_");

# %% [markdown]
# (−2: made once, in the first step.) Far from the solution inner solves need not be accurate; Eisenstat and Walker's rule
# chooses how accurate, and `taskdag` alone chooses the preconditioner:

# %%
newton("-snes_rtol 1e-10 -ksp_type cg -snes_ksp_ew -pc_type taskdag", "auto_");

# %% [markdown]
# In a program of your own all of this is options: `./app -dll_append PLUGIN -pc_type taskdag`. Inside `fieldsplit`, `asm` or
# `gamg` the names take PETSc's prefixes, such as `-fieldsplit_0_pc_type taskdag`.

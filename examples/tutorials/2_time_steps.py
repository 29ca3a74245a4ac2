# %% [markdown]
# # Time steps: what set-up costs, and what later solves cost
#
# Heat spreads in a plate whose conductivity changes with time. Each implicit step solves (1 + c(t) (−Δ)) u' = u: a new matrix
# each time, with entries in the same places.

# %%
import os

import petsc4py

petsc4py.init(["time_steps", "-dll_append", os.environ["TASKDAG_PLUGIN"]])
from petsc4py import PETSc

import grid

n, steps = 300, 5


def conductivity(step):
    return 10.0 * (1.0 + 0.5 * step)


# %% [markdown]
# A set-up has two parts. The *symbolic* one looks at where the entries are: it finds the pattern of the factors, and which row
# waits for which. The *numeric* one computes the factors' values. When a matrix gets new values in the same places, the
# second part alone is repeated; nothing has to be asked for.

# %%
def march(options, prefix):
    a = grid.matrix(n, shift=1.0, diffusion=conductivity(0))
    u, b = a.createVecs()
    u.set(1.0)
    ksp = grid.solver(a, "-ksp_type cg -ksp_rtol 1e-8 " + options, prefix)
    PETSc.Sys.Print(f"{options}\n  step  set-up    solve  iterations  heat left")
    for step in range(steps):
        grid.fill(a, n, shift=1.0, diffusion=conductivity(step))
        ksp.setOperators(a)
        u.copy(b)
        set_up, solve = grid.milliseconds(ksp.setUp), grid.milliseconds(ksp.solve, b, u)
        its, heat = ksp.getIterationNumber(), u.sum() / n / n
        PETSc.Sys.Print(f"  {step:4d} {set_up:4.1f} ms {solve:5.1f} ms  {its:10d}  {heat:9.4f}")
        assert ksp.getConvergedReason() > 0
    return ksp


ksp = march("-pc_type taskdag -pc_taskdag_type icc", "taskdag_")

# %% [markdown]
# Beside it PETSc's own ICC, and Jacobi, which has next to no set-up and takes more iterations:

# %%
march("-pc_type icc", "icc_")
march("-pc_type jacobi", "jacobi_");

# %% [markdown]
# The times are of the machine that made this page. Where the matrix stays as it is, nothing is set up again:

# %%
x, b = ksp.getOperators()[0].createVecs()
b.set(1.0)
for _ in range(3):
    set_up, solve = grid.milliseconds(ksp.setUp), grid.milliseconds(ksp.solve, b, x)
    PETSc.Sys.Print(f"set-up {set_up:.2f} ms, solve {solve:.1f} ms")

# %% [markdown]
# And where it changes little, an old factor may do for some steps: `ksp.getPC().setReusePreconditioner(True)`, or
# `-ksp_reuse_preconditioner`, keeps it. It is a trade of iterations for set-ups.
#
# `-log_view` shows what the phases take in a whole run: `TaskDAGSymbolic`, `TaskDAGNumeric`.

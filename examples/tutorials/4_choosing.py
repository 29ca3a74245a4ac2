# %% [markdown]
# # Choosing a preconditioner
#
# Three problems, and for each what PETSc has, what TaskDAG has, and what `-pc_type taskdag` takes when nothing is said.
# [choosing.md](../../docs/choosing.md) has the rules and measurements on GPUs; this page is about looking for yourself.

# %%
import os

import petsc4py

petsc4py.init(["choosing", "-dll_append", os.environ["TASKDAG_PLUGIN"]])
from petsc4py import PETSc

import grid

# %% [markdown]
# What counts is time, not iterations, and which time depends on what you do: of a set-up and a first solve where there is one
# system to solve, of a later solve where there are many with one matrix.

# %%
candidates = {
    "PETSc jacobi": "-pc_type jacobi",
    "PETSc ILU, ICC": "-pc_type {factor}",
    "PETSc gamg": "-pc_type gamg",
    "jacobi": "-pc_type taskdag -pc_taskdag_type jacobi",
    "ILU, ICC": "-pc_type taskdag -pc_taskdag_type {factor}",
    "one level of fill": "-pc_type taskdag -pc_taskdag_type {factor} -pc_factor_levels 1",
    "SOR": "-pc_type taskdag -pc_taskdag_type sor {sor}",
    "taskdag alone": "-pc_type taskdag",
}


def compare(title, a, method, factor, sor=""):
    """Prints a row for each candidate; returns the KSP of the last one."""
    x, b = a.createVecs()
    b.set(1.0)
    PETSc.Sys.Print(f"{title}; milliseconds")
    PETSc.Sys.Print(f"  {'':18}  set-up  1st solve  2nd solve  iterations")
    for number, (name, options) in enumerate(candidates.items()):
        words = f"-ksp_type {method} -ksp_rtol 1e-6 -ksp_max_it 300 {options}"
        ksp = grid.solver(a, words.format(factor=factor, sor=sor), f"{title.split()[0]}_{number}_")
        set_up = grid.milliseconds(ksp.setUp)
        first, second = (grid.milliseconds(ksp.solve, b, x) for _ in range(2))
        failed = "" if ksp.getConvergedReason() > 0 else "  no solution"
        PETSc.Sys.Print(f"  {name:18} {set_up:7.1f} {first:10.1f} {second:10.1f}"
                        f"  {ksp.getIterationNumber():10d}{failed}")
    assert ksp.getConvergedReason() > 0
    return ksp


# %% [markdown]
# Diffusion alone, symmetric: conjugate gradients, with ICC as the factor and SOR swept forward and back. On a fine grid
# multigrid needs far fewer iterations than all others: take it for such problems, and if you like with a smoother of ours
# ([the next tutorial](5_multigrid.py)).

# %%
compare("diffusion", grid.matrix(150), "cg", "icc", "-pc_taskdag_sor_symmetric");

# %% [markdown]
# A short step in time: the diagonal is large, and a few iterations of anything do. What is cheap to set up is ahead.

# %%
compare("step in time", grid.matrix(150, shift=2.0), "cg", "icc", "-pc_taskdag_sor_symmetric");

# %% [markdown]
# Strong wind, not symmetric: Jacobi and multigrid with its defaults do not converge, and a factor that is swept along the wind
# is a good one. (Counts of BiCGStab may differ by a few: rounding decides.)

# %%
ksp = compare("wind", grid.matrix(150, wind=5.0), "bcgs", "ilu")

# %% [markdown]
# What `taskdag` alone has taken, and why, is in `-ksp_view`:

# %%
ksp.getPC().view()

# %% [markdown]
# The choice is for the machine that it runs on: on host threads a factor costs some iterations, on a GPU hundreds, so that
# Jacobi is taken more often there. With many solves it watches their times, and changes where the other one promises more.

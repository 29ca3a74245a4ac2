# %% [markdown]
# # Smoothing in multigrid
#
# PETSc's algebraic multigrid, GAMG, makes the coarse grids; on each of them a smoother damps what is rough in the error. By
# default that is Chebyshev's iteration with Jacobi. Any preconditioner can take Jacobi's place, by the prefix `mg_levels_`.

# %%
import os

import petsc4py

petsc4py.init(["multigrid", "-dll_append", os.environ["TASKDAG_PLUGIN"]])
from petsc4py import PETSc

import grid


def compare(a, smoothers, prefix):
    """Prints a row for each smoother; returns the last KSP."""
    x, b = a.createVecs()
    b.set(1.0)
    PETSc.Sys.Print(" set-up   solve  iterations  smoother")
    for number, smoother in enumerate(smoothers):
        words = "-ksp_type cg -ksp_rtol 1e-8 -pc_type gamg -pc_gamg_use_sa_esteig 0 " + smoother
        ksp = grid.solver(a, words, f"{prefix}_{number}_")
        set_up, solve = grid.milliseconds(ksp.setUp), grid.milliseconds(ksp.solve, b, x)
        its = ksp.getIterationNumber()
        PETSc.Sys.Print(f"{set_up:7.1f} {solve:7.1f}  {its:10d}  {smoother}")
        assert ksp.getConvergedReason() > 0
    return ksp


# %% [markdown]
# First the same smoother by PETSc and by us: counts are equal. (`-pc_gamg_use_sa_esteig 0`: an estimate of eigenvalues that
# GAMG has at hand counts for PETSc's own Jacobi alone; so both make one.)

# %%
a = grid.matrix(300)
compare(a, ["-mg_levels_pc_type jacobi",
            "-mg_levels_pc_type taskdag -mg_levels_pc_taskdag_type jacobi"], "same");

# %% [markdown]
# Then smoothers that do more a step. SOR needs no Chebyshev around it: `richardson` takes its sweeps as they are. For
# conjugate gradients the whole has to be symmetric, therefore they go forward and back.

# %%
ours = "-mg_levels_pc_type taskdag -mg_levels_pc_taskdag_type "
icc = ours + "icc"
sor = ours + ("sor -mg_levels_pc_taskdag_sor_symmetric "
              "-mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1")
compare(a, [sor, icc], "more");

# %% [markdown]
# On an easy problem there is not much to gain: each iteration costs more. Where diffusion is much stronger in one direction,
# Jacobi smooths slowly, and a factor saves half of the iterations:

# %%
PETSc.Sys.Print("diffusion in x a hundred times that in y")
a = grid.matrix(300, across=0.01)
ksp = compare(a, ["-mg_levels_pc_type jacobi", sor, icc], "across")

# %% [markdown]
# Whether that pays depends on where it runs: [smoothers.md](../../docs/smoothers.md) has what was measured on GPUs. What is on a
# level, `-ksp_view` shows; in Python the PC has it:

# %%
smoother = ksp.getPC().getMGSmoother(ksp.getPC().getMGLevels() - 1)
smoother.view()

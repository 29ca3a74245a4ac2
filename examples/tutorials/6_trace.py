# %% [markdown]
# # Tracing a solve, and reading the picture
#
# Each row of a factor waits for the rows that its entries name. The task engine can run factorisation and sweeps as tasks of
# some rows each, and keep when each one began and ended, and which worker had it.

# %%
import json
import os

import petsc4py

petsc4py.init(["trace", "-dll_append", os.environ["TASKDAG_PLUGIN"]])
from petsc4py import PETSc

import grid

# %% [markdown]
# `engine` is not the fastest schedule, it is the one that can be looked at. The record is written when the solver is
# destroyed.

# %%
def traced(ordering):
    a = grid.matrix(150)
    x, b = a.createVecs()
    b.set(1.0)
    options = ("-ksp_type cg -ksp_max_it 2 -ksp_norm_type none "
               "-pc_type taskdag -pc_taskdag_type icc -pc_taskdag_threads 2 "
               "-pc_taskdag_schedule engine -pc_taskdag_factor_schedule engine "
               f"-pc_taskdag_ordering {ordering} -pc_taskdag_trace {ordering}.json")
    ksp = grid.solver(a, options, ordering + "_")
    ksp.solve(b, x)
    ksp.destroy()


traced("natural")
traced("taskdag_color")

# %% [markdown]
# A file such as `natural.json` opens in [Perfetto](https://ui.perfetto.dev). Beside it lies a picture, `natural.json.svg`
# (where `libtaskdag_papers` is installed). Two iterations apply the preconditioner three times:
#
# ![tasks of the factorisation and the sweeps, natural order](natural.json.svg)
#
# A row is a worker, here a host thread. A bar is a task, or many that follow each other: where they are finer than a pixel,
# the kind that took most of its time. First the factorisation, then the applications, each forward through the factor and
# backward. What to look for:
#
# - *White in all rows* is not ours: the rest of the Krylov method, between two applications.
# - *White in one row* is a worker that had nothing, or no processor: workers take tasks as they come, and on a machine that
#   does other things one of them may have them all.
# - *A bar that is longer than its work*: a task that has begun waits for values of others within itself. In the natural order
#   of a grid rows form a long chain, and workers wait for each other often.
#
# With rows in the order of their colours the chain is four links long, and a worker that has a task can do it at once. The
# preconditioner is another one, and takes more iterations; on a GPU with its thousands of workers that is often worth it.
#
# ![the same in the order of colours](taskdag_color.json.svg)
#
# In numbers, from the files:

# %%
for ordering in ("natural", "taskdag_color"):
    with open(ordering + ".json", encoding="utf-8") as file:
        tasks = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
    PETSc.Sys.Print(ordering)
    for kind, worker in sorted({(task["name"], task["tid"]) for task in tasks}):
        its = [task["dur"] for task in tasks if (task["name"], task["tid"]) == (kind, worker)]
        PETSc.Sys.Print(f"  {kind:29} thread {worker}: {len(its):5d} tasks, "
                        f"{sum(its):6.0f} µs, the longest {max(its):.0f} µs")

# %% [markdown]
# `-ksp_view` has the numbers of tasks and workers without a trace. Jacobi by tasks (`-pc_taskdag_jacobi_form`) is traced in the
# same way, and so are task types of your own: [the engine](../../docs/engine.md#probes).

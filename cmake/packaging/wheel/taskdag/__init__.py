"""TaskDAG's plugin for petsc4py, with the PETSc for which this package was built.

    import sys, taskdag, petsc4py
    petsc4py.init(["app", "-dll_append", taskdag.plugin(), *sys.argv[1:]])     # -pc_type taskdag works from here on

    import petsctaskdag                                                        # after petsc4py.init()
    petsctaskdag.set(pc, type="icc")
"""
import os
from importlib.metadata import version

__version__ = version("taskdag")

# The folder that was installed: lib, include, share.
prefix = os.path.dirname(os.path.abspath(__file__))

# petsctaskdag.py is a module of this package. It finds the plugin from where it lies.
__path__.append(os.path.join(prefix, "share", "taskdag", "python"))


def plugin():
    """The path for -dll_append."""
    return os.path.join(prefix, "lib", "libpetsctaskdag.so")

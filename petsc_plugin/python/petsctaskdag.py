"""TaskDAG for petsc4py: loads the plugin, and sets and gets what a preconditioner of type taskdag does.

    import petsctaskdag
    petsctaskdag.load()                    # after petsc4py.init(); or load("/path/to/libpetsctaskdag.so")
    pc.setType("taskdag")
    petsctaskdag.set(pc, type="icc", threads=2, ordering="natural")
    petsctaskdag.get(pc, "threads")

Names and values are those of the options -pc_taskdag_NAME. Errors of PETSc are raised as petsc4py.PETSc.Error. All of it
needs only petsc4py and the standard library; the plugin must be built for the PETSc that petsc4py uses.
"""
import ctypes
import glob
import os

from petsc4py import PETSc

TYPES = ("ilu", "icc", "jacobi", "sor", "dilu", "dic", "auto")
BACKENDS = ("auto", "cuda", "host")

# The option's name: the function's, behind PCTaskDAG, where {} is Set or Get; and what it takes.
_FUNCTIONS = {
    "type": ("{}Type", TYPES),
    "backend": ("{}Backend", BACKENDS),
    "threads": ("{}Threads", int),
    "consolidate": ("{}Consolidate", str),
    "consolidate_ranks": ("{}ConsolidateRanks", int),
    "schedule": ("{}Schedule", str),
    "tune": ("{}Tune", bool),
    "tune_file": ("{}TuneFile", str),
    "ata_flow": ("{}ATAFlow", str),
    "ata_size": ("{}ATASize", str),
    "ata_rows_share_warps": ("{}ATARowsShareWarps", bool),
    "one_block_rows": ("{}OneBlockRows", int),
    "factor_schedule": ("{}FactorSchedule", str),
    "engine_scheduler": ("{}EngineScheduler", str),
    "engine_dependencies": ("{}EngineDependencies", str),
    "trace": ("{}Trace", str),
    "ordering": ("{}Ordering", str),
    "bmc_block_size": ("{}BMCBlockSize", int),
    "icc_shift": ("{}ICCShift", str),
    "fill": ("{}Fill", str),
    "point_block": ("{}PointBlock", str),
    "precision": ("{}Precision", str),
    "eisenstat": ("{}Eisenstat", bool),
    "eisenstat_scaling": ("{}EisenstatScaling", str),
    "jacobi_sweeps": ("Jacobi{}Sweeps", int),
    "jacobi_damping": ("Jacobi{}Damping", float),
    "jacobi_weights": ("Jacobi{}Weights", str),
    "jacobi_type": ("Jacobi{}Type", str),
    "jacobi_rowl1_scale": ("Jacobi{}Rowl1Scale", float),
    "jacobi_abs": ("Jacobi{}UseAbs", bool),
    "jacobi_form": ("Jacobi{}Form", str),
    "jacobi_part_entries": ("Jacobi{}PartEntries", int),
    "jacobi_long_row": ("Jacobi{}LongRow", int),
    "jacobi_blocks": ("Jacobi{}Blocks", str),
    "jacobi_block_size": ("Jacobi{}BlockSize", int),
    "sor_diagonal_shift": ("SOR{}DiagonalShift", float),
}

_library = None


def _default_path():
    """What a module file says, else the library of the prefix in which this file is installed, else by name."""
    here = os.path.dirname(os.path.abspath(__file__))
    prefix = os.path.normpath(os.path.join(here, "..", "..", ".."))
    found = glob.glob(os.path.join(prefix, "lib*", "**", "libpetsctaskdag.so"), recursive=True)
    return os.environ.get("TASKDAG_PLUGIN") or (found[0] if found else "libpetsctaskdag.so")


def _check(code):
    if code:
        raise PETSc.Error(code)


def load(path=None):
    """Loads the plugin and registers what it has. Collective on PETSC_COMM_WORLD; a second call does nothing."""
    global _library
    library = ctypes.CDLL(path or _default_path())
    _check(library.TaskDAGInitializePackage())
    _library = library


def _loaded():
    if _library is None:
        raise RuntimeError("petsctaskdag.load() comes first")
    return _library


def _find(name, verb):
    library = _loaded()
    if name not in _FUNCTIONS:
        raise KeyError(f"there is no option -pc_taskdag_{name} that is set here; there are: {', '.join(_FUNCTIONS)}")
    function, kind = _FUNCTIONS[name]
    return getattr(library, "PCTaskDAG" + function.format(verb)), kind


def _c_type(kind):
    if kind is int:
        return ctypes.c_int64 if PETSc.IntType().itemsize == 8 else ctypes.c_int32
    return {float: ctypes.c_double, str: ctypes.c_char_p}.get(kind, ctypes.c_int)


def set(pc, **options):  # pylint: disable=redefined-builtin
    """Sets options of a PC of type taskdag; others ignore them."""
    for name, value in options.items():
        function, kind = _find(name, "Set")
        if isinstance(kind, tuple):
            if value not in kind:
                raise ValueError(f"{name} is one of {', '.join(kind)}, not {value!r}")
            value = kind.index(value)
        elif kind is str:
            value = None if value is None else value.encode()
        else:
            value = kind(value)
        _check(function(ctypes.c_void_p(pc.handle), _c_type(kind)(value)))


def get(pc, name):
    """The value of an option of a PC of type taskdag."""
    function, kind = _find(name, "Get")
    place = _c_type(kind)()
    _check(function(ctypes.c_void_p(pc.handle), ctypes.byref(place)))
    if isinstance(kind, tuple):
        return kind[place.value]
    if kind is str:
        return place.value.decode()
    return kind(place.value)


def use_mat_sor(use=True):
    """Whether MatSOR() is TaskDAG's for matrices that get their type from now on, as -taskdag_mat_sor. Collective."""
    _check(_loaded().TaskDAGSetMatSOR(ctypes.c_int(use)))


def set_mat_sor(mat, use=True):
    """The same of one matrix."""
    _check(_loaded().MatTaskDAGSetSOR(ctypes.c_void_p(mat.handle), ctypes.c_int(use)))


def get_mat_sor(mat):
    """Whether MatSOR() of a matrix is TaskDAG's."""
    place = ctypes.c_int()
    _check(_loaded().MatTaskDAGGetSOR(ctypes.c_void_p(mat.handle), ctypes.byref(place)))
    return bool(place.value)

"""The module of that name where TaskDAG is installed without a wheel: taskdag.petsctaskdag."""
import sys

from taskdag import petsctaskdag

sys.modules[__name__] = petsctaskdag

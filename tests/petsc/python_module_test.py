"""The module petsctaskdag with a plugin that PETSc has loaded itself. usage: python_module_test.py PLUGIN"""
import os
import sys
import unittest

import petsc4py

petsc4py.init([sys.argv[0], "-dll_append", sys.argv[1]])
from petsc4py import PETSc  # noqa: E402  (only after init)

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(sys.argv[1])), "..", "share", "taskdag", "python"))
import petsctaskdag  # noqa: E402


def taskdag_pc():
    pc = PETSc.PC().create()
    pc.setType("taskdag")
    return pc


class PythonModule(unittest.TestCase):
    def test_needs_no_load_after_dll_append(self):
        pc = taskdag_pc()
        petsctaskdag.set(pc, type="icc", threads=2)
        self.assertEqual((petsctaskdag.get(pc, "type"), petsctaskdag.get(pc, "threads")), ("icc", 2))

    def test_sets_what_petsc_has_for_sor(self):
        pc = taskdag_pc()
        values = {"type": "sor", "sor_omega": 1.5, "sor_its": 2, "sor_lits": 3, "sor_sweep": "local_forward"}
        petsctaskdag.set(pc, **values)
        self.assertEqual({name: petsctaskdag.get(pc, name) for name in values}, values)

    def test_has_multigrid_inside(self):
        pc = taskdag_pc()
        petsctaskdag.set(pc, type="mg", mg_pc_type="mg")
        inner = petsctaskdag.get_mg(pc)
        self.assertEqual((inner.getType(), inner.getOptionsPrefix()), ("mg", "pc_taskdag_mg_"))
        own = PETSc.PC().create()
        petsctaskdag.set_mg(pc, own)
        self.assertEqual(petsctaskdag.get_mg(pc).handle, own.handle)
        petsctaskdag.set_mg(pc, None)
        self.assertNotEqual(petsctaskdag.get_mg(pc).handle, own.handle)

    def test_refuses_what_it_does_not_know(self):
        pc = taskdag_pc()
        with self.assertRaisesRegex(TypeError, "not a KSP"):
            petsctaskdag.set(PETSc.KSP().create(), type="icc")
        with self.assertRaisesRegex(KeyError, "sor_omega"):
            petsctaskdag.set(pc, nothing=1)
        with self.assertRaisesRegex(ValueError, "local_symmetric"):
            petsctaskdag.set(pc, sor_sweep="sideways")
        with self.assertRaises(PETSc.Error):
            petsctaskdag.set(pc, type="sor", sor_omega=3.0)

    def test_says_its_version(self):
        self.assertRegex(petsctaskdag.__version__, r"^\d+\.\d+\.\d+$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
"""Tests of host_tables.py on made-up rows."""
import contextlib
import io
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import host_tables  # noqa: E402 (after the line that keeps the source folder clean)

HEAD = "cores,set,matrix,schedule,solve_ms,speedup,amortisation,error"


def tables(*rows):
    """Exit status and printed text for rows of taskdag_host_schedules."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([HEAD, *rows, ""]))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            status = host_tables.main([path])
    return status, printed.getvalue()


class Tables(unittest.TestCase):
    ROWS = (
        "16,real,a,serial,8,1,inf,1e-16",
        "16,real,a,locking,2,4,100,1e-16",
        "16,real,a,p2p,4,2,10,1e-16",
        "16,real,b,serial,9,1,inf,1e-16",
        "16,real,b,locking,1,9,300,1e-16",
    )

    def test_means_are_geometric_and_over_whole_sets_only(self):
        status, text = tables(*self.ROWS)
        self.assertEqual(status, 0)
        self.assertIn("| speed-up over one thread | 16: real, 2 |", text)
        self.assertIn("| locking | 6.00 |", text)
        self.assertNotIn("p2p", text)

    def test_ratios_are_to_locking_of_the_same_matrix(self):
        _, text = tables(*self.ROWS, "16,real,b,p2p,4,2.25,20,1e-16")
        self.assertIn("| p2p | 0.35 |", text)  # sqrt(2/4 * 1/4)
        self.assertIn("| p2p | 15 |", text)  # solves until it has paid

    def test_what_making_a_schedule_takes_may_not_be_known(self):
        _, text = tables(*self.ROWS[:4], "16,real,b,locking,1,9,,1e-16")
        self.assertIn("| locking | 6.00 |", text)
        self.assertNotIn("| locking | 100", text)

    def test_a_wrong_result_is_an_error(self):
        for error in ("1e-3", "nan"):
            status, text = tables(*self.ROWS[:4], "16,real,b,locking,1,9,300," + error)
            self.assertEqual(status, 1)
            self.assertIn("1 wrong results", text)


if __name__ == "__main__":
    unittest.main()

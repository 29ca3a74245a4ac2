#!/usr/bin/env python3
"""Tests of report.py on made-up rows."""
import contextlib
import io
import os
import sys
import tempfile
import unittest
from xml.etree import ElementTree

sys.dont_write_bytecode = True
import plots  # noqa: E402 (after the line that keeps the source folder clean)
import report  # noqa: E402

HEAD = ("program,problem,set,class,rows,entries,levels,triangle,transposed,rhs,solver,schedule,chosen,milliseconds,"
        "analysis_ms,ns_per_level,gbytes_per_s,bandwidth_floor_ms,hop_floor_ms,status,gpu,driver,cuda,commit,date")


def solve(problem, solver, schedule, milliseconds, analysis=1.0, group="table", status="ok", triangle="lower"):
    return (f"sptrsv,{problem},{group},wide,10,20,5,{triangle},false,1,{solver},{schedule},flat,{milliseconds},{analysis},"
            f"1,1,0.1,0.2,{status},a GPU,580,13.0,abc,today")


ROWS = [
    solve("one", "cuSPARSE", "", 8.0, analysis=5.0),
    solve("one", "TaskDAG", "auto", 1.0, analysis=20.0),
    solve("one", "TaskDAG", "flat", 2.0),
    solve("one", "TaskDAG", "level-graph", 16.0),
    solve("one", "TaskDAG", "level-launch", 64.0),
    solve("two", "cuSPARSE", "", 4.0),
    solve("two", "TaskDAG", "auto", 2.0),
    solve("two", "TaskDAG", "flat", 1.0),
    solve("three", "cuSPARSE", "", 1.0, group="shared"),
    solve("three", "TaskDAG", "auto", 2.0, group="shared"),
    solve("four", "cuSPARSE", "", 1.0),
    solve("four", "TaskDAG", "auto", "", analysis="", status="wrong result"),
]


class ReportTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.csv = os.path.join(self.folder.name, "rows.csv")
        self.write(ROWS)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, rows, head=HEAD):
        with open(self.csv, "w", encoding="utf-8") as file:
            file.write("\n".join([head] + rows) + "\n")

    def printed(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            report.main([*arguments, self.csv])
        return out.getvalue()

    def test_ratios_are_geometric_means_over_the_sets(self):
        text = self.printed("--short")
        self.assertIn("| lower solve, SpSV, the table | 4.00 | 2.00 (two) | 2 |", text)
        self.assertIn("| lower solve, SpSV, table and shared | 2.00 | 0.50 (three) | 3 |", text)
        self.assertNotIn("all measured", text)

    def test_break_even_counts_both_analyses(self):
        results = report.read([self.csv])
        solvers = results.solves[report.System("one", "lower", False, 1)]
        self.assertEqual(report.break_even(solvers["auto"], solvers["cuSPARSE"]), 3)  # 20 + 3 < 5 + 3 · 8
        self.assertEqual(report.break_even(solvers["cuSPARSE"], solvers["auto"]), float("inf"))
        self.assertIn("3 in the median, never at most", self.printed("--short"))

    def test_a_failed_row_is_listed_and_not_counted(self):
        text = self.printed("--short")
        self.assertIn("- sptrsv four lower TaskDAG auto: wrong result", text)
        self.assertNotIn("(four)", text)

    def test_schedules_stand_beside_each_other(self):
        text = self.printed()
        self.assertIn("| flat | 4.00 | 4.00 (one) | 2 |  | 4.00 |  | 2 |", text)
        self.assertIn("auto against level sets (the fastest of launches, graph and barriers): 16.00", text)

    def test_every_problem_has_a_line(self):
        self.assertIn("| one | wide | 10 | 20 | 5 | 8 |  |  | 1 | flat | 8 | 1 | 1 | 0.1 | 0.2 | 5 | 20 | 3 |", self.printed())

    def written(self, option):
        """A document after its figures were written twice."""
        document = os.path.join(self.folder.name, "document.md")
        with open(document, "w", encoding="utf-8") as file:
            file.write(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
        for _ in range(2):
            self.printed(option, document)
        with open(document, encoding="utf-8") as file:
            return file.read()

    def test_a_document_keeps_what_is_outside_of_the_markers(self):
        for option in ("--figures", "--readme"):
            text = self.written(option)
            self.assertTrue(text.startswith(f"before\n{report.BEGIN}\nMeasured on a GPU"))
            self.assertTrue(text.endswith(f"\n{report.END}\nafter\n"))
            self.assertNotIn("old", text)
        self.assertEqual(self.written("--figures").count("| lower solve, SpSV, the table |"), 1)

    def test_commits_of_one_machine_share_its_line(self):
        def row(gpu, commit):
            return {"program": "ksp", "problem": "one", "solver": "s", "status": "ok", "gpu": gpu, "driver": "1",
                    "commit": commit, "date": "today"}
        results = report.Results([row("a GPU", "b"), row("a GPU", "c"), row("a GPU", "b"), row("another", "b")])
        self.assertEqual(report.machines(results)[0], "Measured on a GPU, driver 1,\ncommit b, today and commit c, today\n"
                         "and another, driver 1,\ncommit b, today.")

    def test_the_readme_has_a_line_for_each_kind_and_set(self):
        text = self.written("--readme")
        self.assertIn("| lower solve, the table | SpSV | 4.00 | 2.00 (two) | 2 |", text)
        self.assertIn("| lower solve, matrices | SpSV | 0.50 | 0.50 (three) | 1 |", text)
        self.assertEqual(text.count("\n|"), 4)

    def test_the_readme_begins_with_the_default_on_what_was_not_fitted(self):
        head = "program,problem,half,method,solver,cold_set_up_s,first_solve_s,best_solve_s,last_choice,status,gpu"
        self.write(["choice,a,other,cg,taskdag,0.1,0.1,0.1,icc,ok,a GPU", "choice,a,other,cg,jacobi,0.1,0.3,0.1,,ok,a GPU",
                    "choice,a,other,cg,taskdag symmetric,0.1,0.3,0.1,icc,ok,a GPU",
                    "choice,a,other,cg,gamg,0.1,0.1,0.1,,no end,a GPU",
                    "choice,b,fit,cg,taskdag,9,0.1,0.1,icc,ok,a GPU", "choice,b,fit,cg,jacobi,0.1,0.3,0.1,,ok,a GPU"], head)
        lines = [line for line in self.written("--readme").splitlines() if line.startswith("|")]
        self.assertTrue(lines[2].startswith("| `-pc_type taskdag` and nothing else"))
        self.assertTrue(lines[2].endswith("| 2.00 | 2.00 (a) | 1 |"))
        self.assertTrue(lines[3].endswith("declared so | the same | 1.00 | 1.00 (a) | 1 |"))
        self.assertNotIn("Failed", self.printed())

    def test_a_document_without_markers_is_refused_and_kept(self):
        document = os.path.join(self.folder.name, "document.md")
        with open(document, "w", encoding="utf-8") as file:
            file.write("text")
        with self.assertRaises(SystemExit):
            self.printed("--figures", document)
        with open(document, encoding="utf-8") as file:
            self.assertEqual(file.read(), "text")

    def test_krylov_rows(self):
        head = "program,problem,method,preconditioner,solver,iterations,set_up_s,solve_s,status,gpu"
        self.write(["ksp,grid,CG,ICC(0),PETSc,40,1,3.0,ok,a GPU", "ksp,grid,CG,ICC(0),TaskDAG,40,1,0.5,ok,a GPU",
                    "ksp,grid,CG,Jacobi,Jacobi,90,0,0.2,ok,a GPU"], head)
        text = self.printed()
        self.assertIn("| grid, CG, ICC(0) | 40 | 3 | 0.5 | 6.0 | 0.2 (90) |", text)
        self.assertIn("| PETSc's aijcusparse | 6.00 | 6.00 (grid) | 1 |", self.written("--readme"))

    def test_krylov_rows_in_an_order_of_ours(self):
        head = "program,problem,method,preconditioner,solver,iterations,set_up_s,solve_s,ordering,status,gpu"
        self.write(["ksp,grid,CG,ICC(0),PETSc,40,1,3.0,natural,ok,a GPU",
                    "ksp,grid,CG,ICC(0),taskdag auto,44,0.05,0.05,taskdag_bmc: 9 blocks,ok,a GPU",
                    "ksp,grid,CG,ICC(1),taskdag auto fill 1,30,0.05,0.03,taskdag_bmc: 9 blocks,ok,a GPU",
                    "ksp,other,CG,ICC(0),taskdag auto,44,0.05,0.05,natural (auto: 7 levels),ok,a GPU",
                    "ksp,grid,CG,Jacobi,Jacobi,90,0,0.2,,ok,a GPU"], head)
        text = self.printed()
        self.assertIn("| grid, ICC(1), fill inside blocks | 0.05 + 0.03 (30) | taskdag_bmc |", text)
        self.assertIn("| other, ICC(0) | 0.05 + 0.05 (44) | natural |", text)
        self.assertIn("| grid, ICC(0) | 0.05 + 0.05 (44) | taskdag_bmc | 1 + 3 (40) | 0 + 0.2 (90) |  | 2.00, 4.00 |", text)

    def test_factorisations(self):
        head = "program,problem,set,rows,entries,levels,what,solver,schedule,milliseconds,analysis_ms,first_ms,status"
        self.write(["ilu0,grid,table,10,20,5,ilu0,csrilu02,,6.0,1,,ok", "ilu0,grid,table,10,20,5,ilu0,TaskDAG,,2.0,1,3,ok",
                    "ilu0,grid,table,10,20,5,apply,cuSPARSE,,5.0,,,ok", "ilu0,grid,table,10,20,5,apply,TaskDAG,auto,1.0,,,ok"],
                   head)
        text = self.printed()
        self.assertIn("| ILU(0), csrilu02, the table | 3.00 | 3.00 (grid) | 1 |", text)
        self.assertIn("| application of the ILU(0), two SpSV, the table | 5.00 |", text)
        self.assertIn("| grid | ilu0 | 10 | 20 | 5 | 6 | 2 | 3 | 3 | 1 | 1 |", text)

    def test_no_rows_are_refused(self):
        self.write([])
        with self.assertRaises(SystemExit):
            report.read([self.csv])

    def test_plots_are_drawings_with_all_problems_and_solvers(self):
        self.printed("--plots", self.folder.name)
        for name, words in (("speedup.svg", {"one", "two", "three"}), ("profile.svg", {"auto", "flat", "cuSPARSE"})):
            root = ElementTree.parse(os.path.join(self.folder.name, name)).getroot()
            self.assertTrue(words <= {element.text for element in root.iter() if element.text}, name)


class CurveTest(unittest.TestCase):
    def test_counts_systems_within_a_factor_of_the_best(self):
        points = plots.curve([1.0, 4.0, None, 100.0], [1.0, 2.0, 1.0, 1.0], 32.0)
        self.assertEqual(points, [(1.0, 0.0), (1.0, 0.0), (1.0, 0.25), (2.0, 0.25), (2.0, 0.5), (32.0, 0.5)])

    def test_scale_holds_all_bars(self):
        self.assertEqual(plots.ticks(0.7, 11.8), [0.5, 1, 2, 5, 10, 20])


if __name__ == "__main__":
    unittest.main()

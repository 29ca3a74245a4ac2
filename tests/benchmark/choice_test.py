#!/usr/bin/env python3
"""Tests of choice.py on made-up rows, and that docs/choosing.md has the counts of the rows here."""
import csv
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import choice  # noqa: E402 (after the line that keeps the source folder clean)

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "results")
CHOOSING = os.path.join(HERE, "..", "..", "docs", "choosing.md")
COLUMNS = ("problem", "solver", "cold_set_up_s", "first_solve_s", "best_solve_s", "first_choice", "last_choice",
           "status")


def row(problem, solver, milliseconds, status="ok"):
    return (problem, solver, 0.0, 1e-3 * milliseconds, 1e-3, "jacobi", "jacobi", status)


def page():
    """docs/choosing.md as one line."""
    with open(CHOOSING, encoding="utf-8") as file:
        return " ".join(file.read().split())


class Choice(unittest.TestCase):
    def files(self, *contents):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        paths = []
        for k, rows in enumerate(contents):
            paths.append(os.path.join(folder.name, f"{k}.csv"))
            with open(paths[-1], "w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([COLUMNS, *rows])
        return paths

    def test_the_process_in_the_middle_counts(self):
        solved, _ = choice.read(self.files([row("a", "jacobi", t) for t in (9, 1, 4)]))
        self.assertAlmostEqual(choice.first(solved["a"]["jacobi"]), 4)
        solved, _ = choice.read(self.files([row("a", "jacobi", t) for t in (9, 1, 4, 2)]))
        self.assertAlmostEqual(choice.first(solved["a"]["jacobi"]), 2)

    def test_a_solver_that_fails_once_has_failed(self):
        solved, unsolved = choice.read(self.files(
            [row("a", "jacobi", 1), row("a", "ilu", 1), row("a", "ilu", 1, "no end"), row("b", "ilu", 1, "no end")]))
        self.assertEqual(list(solved["a"]), ["jacobi"])
        self.assertEqual(unsolved, ["b"])

    def test_a_later_file_has_the_last_word_on_its_problems(self):
        solved, _ = choice.read(self.files(
            [row("a", "jacobi", 1), row("a", "gamg", 1), row("b", "jacobi", 5)], [row("a", "jacobi", 3)]))
        self.assertEqual(list(solved["a"]), ["jacobi"])
        self.assertAlmostEqual(choice.first(solved["a"]["jacobi"]), 3)
        self.assertAlmostEqual(choice.first(solved["b"]["jacobi"]), 5)

    def test_what_is_counted(self):
        def problem(name, auto, own, rival):
            return [row(name, "taskdag auto", auto), row(name, "taskdag icc", own), row(name, "jacobi", rival)]
        solved, _ = choice.read(self.files(
            problem("fastest", 9, 9, 10) + problem("within", 14, 13, 10) + problem("slow", 16, 13, 10) +
            problem("wrong", 14, 11, 10) + [row("no auto", "jacobi", 1)]))
        self.assertEqual(choice.count(solved), (5, 1, 3, 3))

    def test_hypre_is_a_rival(self):
        (_, _, rival, _, ratio), = choice.judge(choice.read(self.files(
            [row("a", "taskdag auto", 10), row("a", "jacobi", 9), row("a", "hypre", 8)]))[0])
        self.assertEqual(rival[1], "hypre")
        self.assertAlmostEqual(ratio, 10 / 8)

    def test_a_solver_can_be_left_out(self):
        solved, unsolved = choice.read(self.files(
            [row("a", "jacobi", 9), row("a", "hypre", 8), row("b", "jacobi", 1, "no end"), row("b", "hypre", 8)]),
            without=["hypre"])
        self.assertEqual({name: list(rows) for name, rows in solved.items()}, {"a": ["jacobi"]})
        self.assertEqual(unsolved, ["b"])

    def test_the_page_has_the_counts_of_the_rows(self):
        files = ("h100-choice.csv", "h100-choice-changed.csv", "h100-choice-natural.csv")
        solved, _ = choice.read([os.path.join(RESULTS, name) for name in files])
        problems, best, within, right = choice.count(solved)
        self.assertEqual((within, right), (problems, problems))
        self.assertIn(
            f"Of {problems} problems that any of them solves `auto` is the fastest on {best}, set-up and first solve; "
            "it is within 1.5 of the fastest and within 1.25 of the best of its own types on all.", page())

    def test_the_page_has_the_counts_of_the_other_gpu(self):
        once = os.path.join(RESULTS, "h200-choice.csv")
        problems, best, within, right = choice.count(choice.read([once])[0])
        self.assertIn(
            f"Of {problems} problems that any of them solves it is the fastest on {best}, within 1.5 of the fastest on "
            f"{within}, within 1.25 of the best of the types that it chooses from on {right}.", page())
        again = os.path.join(RESULTS, "h200-choice-again.csv")
        problems_then, best, within, right = choice.count(choice.read([once, again])[0])
        self.assertEqual(problems_then, problems)
        self.assertIn(f"then it is the fastest on {best}, within 1.5 on {within}, within 1.25 on {right}.", page())
        problems, best, within, _ = choice.count(choice.read([once, again], without=["hypre"])[0])
        self.assertEqual(within, problems)
        self.assertIn(f"(`choice.py --without hypre`) it is the fastest on {best} of {problems}, within 1.5 on all.",
                      page())

    def test_the_lines_of_the_page_are_those_of_the_rows(self):
        names = ("h200-choice.csv", "h200-choice-again.csv")
        of_rows = list(choice.table(choice.read([os.path.join(RESULTS, name) for name in names])[0]))
        with open(CHOOSING, encoding="utf-8") as file:
            lines = file.read().splitlines()
        first = lines.index(of_rows[0])
        of_page = lines[first:lines.index("", first)]
        self.assertGreater(len(of_page), 10)
        for line in of_page:
            self.assertIn(line, of_rows)

    def test_the_page_has_the_counts_of_the_type_alone_on_the_first_gpu(self):
        rows = [os.path.join(RESULTS, "h100-choice-alone.csv")]
        problems, best, within, right = choice.count(choice.read(rows)[0])
        self.assertIn(f"of {problems} problems it is the fastest on {best}, within 1.5 of the fastest on {within}, "
                      f"within 1.25 of the best of its types on {right}.", page())
        problems, best, within, _ = choice.count(choice.read(rows, without=["hypre"])[0])
        self.assertEqual(within, problems)
        self.assertIn(f"Without hypre it is the fastest on {best} of {problems}, within 1.5 on all.", page())


if __name__ == "__main__":
    unittest.main()

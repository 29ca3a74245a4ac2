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
COLUMNS = ("problem", "solver", "cold_set_up_s", "first_solve_s", "best_solve_s", "status")


def row(problem, solver, milliseconds, status="ok"):
    return (problem, solver, 0.0, 1e-3 * milliseconds, 1e-3, status)


def solved_in(*names, without=()):
    """What choice.read() finds solved in these files of results."""
    return choice.read([os.path.join(RESULTS, name) for name in names], without)[0]


def page():
    """docs/choosing.md."""
    with open(CHOOSING, encoding="utf-8") as file:
        return file.read()


def text_of_page():
    """docs/choosing.md as one line."""
    return " ".join(page().split())


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

    def test_the_page_has_the_counts_of_the_older_rows(self):
        problems, best, within, right = choice.count(
            solved_in("h100-choice.csv", "h100-choice-changed.csv", "h100-choice-natural.csv"))
        self.assertEqual((within, right), (problems, problems))
        self.assertIn(
            f"Of {problems} problems that any of them solves `auto` is the fastest on {best}, set-up and first solve; "
            "it is within 1.5 of the fastest and within 1.25 of the best of its own types on all.", text_of_page())

    def test_the_page_has_the_counts_of_the_type_alone(self):
        problems, best, within, right = choice.count(solved_in("h200-choice.csv"))
        self.assertIn(
            f"Of {problems} problems that any of them solves it is the fastest on {best}, within 1.5 of the fastest on "
            f"{within}, within 1.25 of the best of the types that it chooses from on {right}.", text_of_page())
        problems_then, best, within, right = choice.count(solved_in("h200-choice.csv", "h200-choice-again.csv"))
        self.assertEqual(problems_then, problems)
        self.assertIn(f"then it is the fastest on {best}, within 1.5 on {within}, within 1.25 on {right}.",
                      text_of_page())
        problems, best, within, _ = choice.count(
            solved_in("h200-choice.csv", "h200-choice-again.csv", without=["hypre"]))
        self.assertEqual(within, problems)
        self.assertIn(f"(`choice.py --without hypre`) it is the fastest on {best} of {problems}, within 1.5 on all.",
                      text_of_page())

    def test_the_page_has_the_counts_of_the_type_alone_on_the_other_gpu(self):
        problems, best, within, right = choice.count(solved_in("h100-choice-alone.csv"))
        self.assertIn(f"of {problems} problems it is the fastest on {best}, within 1.5 of the fastest on {within}, "
                      f"within 1.25 of the best of its types on {right}.", text_of_page())
        problems, best, within, _ = choice.count(solved_in("h100-choice-alone.csv", without=["hypre"]))
        self.assertEqual(within, problems)
        self.assertIn(f"Without hypre it is the fastest on {best} of {problems}, within 1.5 on all.", text_of_page())

    def test_the_lines_of_the_page_are_those_of_the_rows(self):
        of_rows = list(choice.table(solved_in("h200-choice.csv", "h200-choice-again.csv")))
        lines = page().splitlines()
        first = lines.index(of_rows[0])
        of_page = lines[first:lines.index("", first)]
        self.assertGreater(len(of_page), 10)
        for line in of_page:
            self.assertIn(line, of_rows)


if __name__ == "__main__":
    unittest.main()

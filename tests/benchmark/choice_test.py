#!/usr/bin/env python3
"""Tests of choice.py on made-up rows, and that docs/choosing.md has what the rows here say."""
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
COLUMNS = ("problem", "half", "method", "solver", "cold_set_up_s", "first_solve_s", "best_solve_s", "last_choice",
           "status")


def row(problem, solver, milliseconds, status="ok", half="fit", method="cg"):
    return (problem, half, method, solver, 0.0, 1e-3 * milliseconds, 1e-3, "icc", status)


def solved_in(*names, half=None):
    """What choice.read() finds solved in these files of results."""
    return choice.read([os.path.join(RESULTS, name) for name in names], half)[0]


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
        solved, _ = choice.read(self.files(
            [row("faster", "taskdag", 5), row("faster", "jacobi", 10), row("faster", "gamg", 20),
             row("within", "taskdag", 12), row("within", "icc", 10),
             row("slower", "taskdag", 20), row("slower", "jacobi", 10),
             row("fails", "taskdag", 1, "no end"), row("fails", "jacobi", 10),
             row("alone", "taskdag", 10), row("alone", "jacobi", 1, "no end")]))
        problems, best, within, failed, mean, least = choice.count(solved)
        self.assertEqual((problems, best, within, failed), (5, 2, 3, 1))
        self.assertAlmostEqual(mean, (2.0 * (10 / 12) * 0.5) ** (1 / 3))
        self.assertAlmostEqual(least, 0.5)

    def test_flags_are_for_what_is_symmetric(self):
        solved, _ = choice.read(self.files(
            [row("a", "taskdag", 20), row("a", "taskdag symmetric", 5), row("a", "jacobi", 10),
             row("b", "taskdag", 5, method="bcgs"), row("b", "jacobi", 10, method="bcgs")]))
        self.assertEqual(choice.count(solved)[:2], (2, 1))
        self.assertEqual(choice.count(solved, flags=True)[:2], (2, 2))

    def test_a_half_is_looked_at_alone(self):
        files = self.files([row("a", "jacobi", 1), row("b", "jacobi", 1, half="other")])
        self.assertEqual(list(choice.read(files, "fit")[0]), ["a"])
        self.assertEqual(list(choice.read(files, "other")[0]), ["b"])

    def test_our_own_types_are_no_rivals(self):
        solved, _ = choice.read(self.files([row("a", "taskdag", 10), row("a", "taskdag jacobi", 1), row("a", "icc", 8)]))
        self.assertAlmostEqual(choice.ratio_of(solved["a"], False), 0.8)

    def test_the_page_has_what_the_rows_say(self):
        for gpu in ("h100", "h200"):
            for flags in (False, True):
                self.assertIn(choice.sentence(solved_in(f"{gpu}-choice-plain.csv", half="other"), flags), text_of_page())

    def test_the_lines_of_the_page_are_those_of_the_rows(self):
        of_rows = list(choice.table(solved_in("h200-choice-plain.csv")))
        lines = page().splitlines()
        first = lines.index(of_rows[0])
        of_page = lines[first:lines.index("", first)]
        self.assertGreater(len(of_page), 10)
        for line in of_page:
            self.assertIn(line, of_rows)


if __name__ == "__main__":
    unittest.main()

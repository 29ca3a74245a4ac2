#!/usr/bin/env python3
"""Tests of row_ages.py on a made-up tree with a history of its own."""
import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import row_ages  # noqa: E402 (after the line that keeps the source folder clean)

LIST = """# Rows
| file | command | machine | code that it measures |
|---|---|---|---|
| `a.csv` | `bench \\| sort` | NVIDIA H200, driver 1 | `src/a` |
| `b.csv` | `bench b` | host | `src/a/file.hpp`, `src/b` |

More.
"""


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        self.put("src/a/file.hpp", "1")
        self.put("src/b/file.hpp", "1")
        self.put("README.md", "Rows are in `a.csv`.\n")
        self.put("docs/notes/b.md", "([rows](results/b.csv)), not xa.csv\n")
        self.put("tests/benchmark/results/README.md", LIST)
        self.rows("a.csv", "0000000")
        self.rows("b.csv", "0000000", gpu="")

    def put(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def rows(self, name, commit, gpu="NVIDIA H200"):
        self.put(f"tests/benchmark/results/{name}", f"ms,commit,gpu\n1.5,{commit},{gpu}\n2.5,{commit},{gpu}\n")

    def page(self):
        with open(os.path.join(self.root, "tests/benchmark/results/README.md"), encoding="utf-8") as file:
            return file.read()

    def run_with(self, *words):
        """Status and output."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = row_ages.main(self.root, list(words))
        return status, said.getvalue()


class TheList(Tree):
    def expect_fault(self, *parts):
        status, said = self.run_with("--check")
        self.assertEqual(status, 1)
        for part in parts:
            self.assertIn(part, said)

    def setUp(self):
        super().setUp()
        self.assertEqual(self.run_with("--write")[0], 0)

    def test_is_right_once_it_is_written(self):
        self.assertEqual(self.run_with("--check"), (0, "2 files in the list, as they are\n"))
        self.assertIn("| `bench \\| sort` | NVIDIA H200, driver 1 | `src/a` | 0000000 | [README.md](../../../README.md) |",
                      self.page())
        self.assertIn("| 0000000 | [notes/b.md](../../../docs/notes/b.md) |", self.page())
        self.assertTrue(self.page().endswith("\nMore.\n"))

    def test_has_every_file(self):
        self.rows("c.csv", "0000000")
        self.expect_fault("c.csv is not in the list")

    def test_has_no_other_file(self):
        os.remove(os.path.join(self.root, "tests/benchmark/results/b.csv"))
        self.expect_fault("b.csv is in the list and does not exist")

    def test_has_a_file_once(self):
        self.put("tests/benchmark/results/README.md", self.page().replace("| `b.csv` |", "| `b.csv`, `a.csv` |"))
        self.expect_fault("a.csv is in the list twice")

    def test_names_code_that_is_there(self):
        shutil.rmtree(os.path.join(self.root, "src/b"))
        self.expect_fault("b.csv: src/b does not exist")
        self.put("tests/benchmark/results/README.md", self.page().replace("| `src/a` |", "| |"))
        self.expect_fault("a.csv: the list names no code")

    def test_has_the_commits_gpus_and_documents_of_the_rows(self):
        self.rows("b.csv", "1111111", gpu="NVIDIA H100 80GB HBM3")
        self.expect_fault("b.csv: the rows are of NVIDIA H100 80GB HBM3, the list says host",
                          "b.csv: commits or documents are not those of the rows")
        self.rows("b.csv", "0000000", gpu="")
        self.put("docs/more.md", "`a.csv`")
        self.expect_fault("a.csv: commits or documents are not those of the rows")


class OfThisTree(unittest.TestCase):
    def test_the_list_is_right(self):
        self.assertEqual(row_ages.faults(row_ages.List(row_ages.ROOT)), [])


@unittest.skipUnless(shutil.which("git"), "no git")
class Ages(Tree):
    def git(self, *words):
        names = [f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")]
        done = subprocess.run(["git", "-C", self.root, *words], check=True, text=True, stdout=subprocess.PIPE,
                              env=os.environ | dict.fromkeys(names, "nobody"))
        return done.stdout.strip()

    def commit(self, subject):
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", subject)
        return self.git("rev-parse", "--short", "HEAD")

    def setUp(self):
        super().setUp()
        self.git("init", "--quiet")
        self.first = self.commit("First")
        self.put("src/b/file.hpp", "2")
        self.second = self.commit("Change b")

    def test_rows_are_older_where_their_code_has_changed(self):
        self.rows("a.csv", self.first)
        self.rows("b.csv", self.first, gpu="")
        status, said = self.run_with()
        self.assertEqual(status, 0)
        self.assertIn(f"a.csv: NVIDIA H200\n  {self.first}: no change since\n", said)
        self.assertRegex(said, rf"b.csv: host\n  {self.first}: older: 1 commit since, the last: [0-9-]+, Change b\n")
        self.assertIn("  code: src/a/file.hpp src/b\n  command: `bench b`\n  quoted in: docs/notes/b.md\n", said)
        self.assertIn("2 commits of files: 1 older", said)

    def test_rows_after_the_change_are_not(self):
        self.rows("b.csv", self.second, gpu="")
        self.assertIn(f"  {self.second}: no change since\n", self.run_with("b.csv")[1])

    def test_a_commit_that_is_not_known_is_named(self):
        self.put("tests/benchmark/results/b.csv", "ms\n1.5\n")
        said = self.run_with()[1]
        self.assertIn("a.csv: NVIDIA H200\n  0000000: this history has no such commit\n", said)
        self.assertIn("b.csv: host\n  not noted: no commit in the rows\n", said)
        self.assertIn("0 older than the last change of their code, 2 not known", said)

    def test_without_the_whole_history_it_says_so(self):
        shutil.rmtree(os.path.join(self.root, ".git"))
        self.assertEqual(self.run_with(), (77, "skipped: this is no clone of the whole history\n"))


if __name__ == "__main__":
    unittest.main()

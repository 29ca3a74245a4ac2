#!/usr/bin/env python3
"""Says which measured rows are older than the last change of the code that they measure.

usage: row_ages.py [--check | --write] [NAME.csv...]

The list is the table of results/README.md: files, command, machine, code. Without an option, or for these files alone:
for each commit that rows are of its GPU, what has changed in the code since, the command, and the documents that quote
the rows. Status 77 where this is no clone of the whole history. A change is any commit that touches the code, if only
its comments: which rows to look at, not which are wrong.

--check: whether the list has all files and nothing else, all its paths exist, machines are those of the rows, and the
columns `commit` and `quoted in` are right; the history plays no part. --write puts these columns there.
"""
import argparse
import csv
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
COLUMNS = ["file", "command", "machine", "code that it measures", "commit", "quoted in"]
NO_HISTORY = 77
NO_COMMIT = "not noted"


class NoHistory(Exception):
    """This is not a clone of the whole history."""


def quoted(cell):
    """What stands between backquotes."""
    return re.findall(r"`([^`]+)`", cell)


class Entry:
    """A line of the list: its cells, as they stand there."""

    def __init__(self, line):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        self.cells = cells + [""] * (len(COLUMNS) - len(cells))
        self.files, self.command, self.machine = quoted(cells[0]), cells[1], cells[2]
        self.code = quoted(cells[3]) if len(cells) > 3 else []

    def line(self):
        return f"| {' | '.join(self.cells)} |"


class List:
    """The table of results/README.md in the tree at `root`."""

    def __init__(self, root):
        self.root = root
        self.results = os.path.join(root, "tests", "benchmark", "results")
        self.page = os.path.join(self.results, "README.md")
        with open(self.page, encoding="utf-8") as file:
            self.lines = file.read().split("\n")
        self.begin = next(k for k, line in enumerate(self.lines) if line.startswith("| file |")) + 2
        self.end = next(k for k in range(self.begin, len(self.lines)) if not self.lines[k].startswith("|"))
        self.entries = [Entry(line) for line in self.lines[self.begin:self.end]]

    def rows(self, name):
        with open(os.path.join(self.results, name), newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def commits(self, name):
        """Commits that the rows of a file are of, in the order in which they come; empty where it has no such column."""
        return list(dict.fromkeys(row["commit"] for row in self.rows(name) if row.get("commit")))

    def gpus(self, name):
        """GPUs of the rows. Rows of host threads name none, or the threads."""
        named = {row.get("gpu") or row.get("device") or "" for row in self.rows(name)}
        return sorted(gpu for gpu in named if gpu and "host thread" not in gpu)

    def documents(self, names):
        """Documents with one of these names in them, from the root."""
        pages = [os.path.join(self.root, "README.md")]
        pages += glob.glob(os.path.join(self.root, "docs", "**", "*.md"), recursive=True)
        found = []
        for page in sorted(pages):
            with open(page, encoding="utf-8") as file:
                text = file.read()
            if any(re.search(rf"(?<![\w-]){re.escape(name)}", text) for name in names):
                found.append(os.path.relpath(page, self.root))
        return found


def computed_columns(table, entry):
    """What the columns `commit` and `quoted in` hold."""
    commits = list(dict.fromkeys(commit for name in entry.files for commit in table.commits(name)))
    pages = [f"[{page.removeprefix('docs/')}](../../../{page})" for page in table.documents(entry.files)]
    return [", ".join(commits) or NO_COMMIT, ", ".join(pages) or "–"]


def faults(table):
    """What is wrong with the list, a sentence each."""
    listed = [name for entry in table.entries for name in entry.files]
    there = {os.path.basename(path) for path in glob.glob(os.path.join(table.results, "*.csv"))}
    found = [f"{name} is not in the list" for name in sorted(there - set(listed))]
    found += [f"{name} is in the list twice" for name in sorted(set(listed)) if listed.count(name) > 1]
    for entry in table.entries:
        missing = [name for name in entry.files if name not in there]
        found += [f"{name} is in the list and does not exist" for name in missing]
        where = ", ".join(entry.files)
        if not entry.code:
            found.append(f"{where}: the list names no code that it measures")
        found += [f"{where}: {path} does not exist" for path in entry.code
                  if not os.path.exists(os.path.join(table.root, path))]
        if missing:
            continue
        for gpu in sorted({gpu for name in entry.files for gpu in table.gpus(name)}):
            if not any(word in entry.machine for word in gpu.split() if word != "NVIDIA"):
                found.append(f"{where}: the rows are of {gpu}, the list says {entry.machine}")
        if entry.cells[4:] != computed_columns(table, entry):
            found.append(f"{where}: commits or documents are not those of the rows; row_ages.py --write mends it")
    return found


def write(table):
    """Puts what is computed into the list."""
    for entry in table.entries:
        entry.cells[4:] = computed_columns(table, entry)
    head = [f"| {' | '.join(COLUMNS)} |", "|" + "---|" * len(COLUMNS)]
    table.lines[table.begin - 2:table.end] = head + [entry.line() for entry in table.entries]
    with open(table.page, "w", encoding="utf-8") as file:
        file.write("\n".join(table.lines))


class History:
    """What git knows of the tree. @throws NoHistory"""

    def __init__(self, root):
        self.root = root
        try:
            # A source archive inside of another repository has that one's history, not its own.
            whole = self.git("rev-parse", "--is-shallow-repository", "--show-prefix").split("\n") == ["false", ""]
        except (OSError, subprocess.CalledProcessError):
            whole = False
        if not whole:
            raise NoHistory

    def git(self, *words):
        run = subprocess.run(["git", "-C", self.root, *words], check=True, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL)
        return run.stdout[:-1]

    def changes_since(self, commit, paths):
        """Date and subject of each commit after `commit` that touches the paths, the last one first; None: there is no
        such commit."""
        try:
            return self.git("log", "--format=%cs, %s", f"{commit}..HEAD", "--", *paths).splitlines()
        except subprocess.CalledProcessError:
            return None


def age(changes):
    if changes is None:
        return "this history has no such commit"
    if not changes:
        return "no change since"
    return f"older: {len(changes)} commit{'s' if len(changes) > 1 else ''} since, the last: {changes[0]}"


def report(table, names):
    """Prints the ages of these files' rows, or of all. @throws NoHistory"""
    history = History(table.root)
    count = older = unknown = 0
    for entry in table.entries:
        for name in entry.files:
            if names and name not in names:
                continue
            print(f"{name}: {', '.join(table.gpus(name)) or entry.machine}")
            for commit in table.commits(name) or [NO_COMMIT]:
                changes = None if commit == NO_COMMIT else history.changes_since(commit, entry.code)
                print(f"  {commit}: {age(changes) if commit != NO_COMMIT else 'no commit in the rows'}")
                count, older, unknown = count + 1, older + bool(changes), unknown + (changes is None)
            print(f"  code: {' '.join(entry.code)}\n  command: {entry.command}")
            print(f"  quoted in: {' '.join(table.documents([name])) or 'nothing'}")
    print(f"{count} commits of files: {older} older than the last change of their code, {unknown} not known")


def main(root, words):
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="NAME.csv", help="files of results; none: all")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--check", action="store_true", help="whether the list is right")
    action.add_argument("--write", action="store_true", help="puts commits and documents into the list")
    asked = parser.parse_args(words)
    table = List(root)
    if asked.write:
        write(table)
        table = List(root)
    if asked.check or asked.write:
        found = faults(table)
        print("\n".join(found) or f"{sum(len(entry.files) for entry in table.entries)} files in the list, as they are")
        return 1 if found else 0
    try:
        report(table, [os.path.basename(name) for name in asked.names])
    except NoHistory:
        print("skipped: this is no clone of the whole history")
        return NO_HISTORY
    return 0


if __name__ == "__main__":
    sys.exit(main(ROOT, sys.argv[1:]))

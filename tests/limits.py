#!/usr/bin/env python3
"""Limits that keep the project readable: the length of README.md, what the change log says of the newest version, the
subjects of commits, words that are not to come back, the one place where options of the plugin are read, the papers'
settings in one struct.

usage: limits.py [--self-test]
Subjects are looked at in the last commits, as far as this clone has them. Exit status 1 where a limit is passed.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
README_LINES = 130
NEWEST_WORDS = 600
SUBJECT_COLUMNS, COMMITS = 72, 40
# Sentences about nobody are read twice: what does a thing, or is free of it, has a name.
WORDS = re.compile(r"\b(nobody|somebody|whoever|likewise)\b|\b(the rival's time to ours|up to so many)\b", re.I)
# Words that were coined where the field has one, or that the code had two of: docs/glossary.md has what took their place.
RETIRED = re.compile(r"errand|meeting|outlook", re.I)
# A cell is one of the schedule `cells`; what a core runs between two barriers is its portion.
CELL = re.compile(r"(?<![a-z])cells?(?![a-z])|Cells?(?![a-z])")
CELL_FREE = ("src/dag", "src/kernels/sptrsv/host", "src/kernels/sptrsv/schedules/blocks", "src/papers/boehnlein")
READS_OPTION = re.compile(r"\bPetscOptions(Bool|(Bounded|Range)?(Int|Real)|Scalar|String|EList|Enum|FList)\(")
# The fields of the papers' schedules in the public options: what passes them on knows the struct Study alone.
STUDY = re.compile(r"AtaFlow|AtaSize|ata_rows")
STUDY_FREE = ("src/kernels", "src/solver", "petsc_plugin")
STUDY_DECLARED = "petsc_plugin/declared/table.py"
# Folders and files that are free of them; NOT_YET: the rest, which is to become so.
FREE = ("README.md", "docs/*.md", "include/**/*", "src/**/*", "petsc_plugin/**/*")
NOT_YET = ("docs/CHANGELOG.md",)  # the past


def too_long(readme):
    lines = readme.count("\n")
    return [f"README.md has {lines} lines, more than {README_LINES}"] if lines > README_LINES else []


def long_newest(changes):
    """changes: the change log, newest version first, each under a heading of its own."""
    words = len(re.split(r"^## ", changes, flags=re.M)[1].split())
    return [f"docs/CHANGELOG.md says {words} words of the newest version, more than {NEWEST_WORDS}"] if words > NEWEST_WORDS else []


def long_subjects(log):
    """log: a commit a line, its hash and its subject."""
    commits = [line.partition(" ") for line in log.splitlines()]
    return [f"commit {name}: its subject has {len(subject)} columns, more than {SUBJECT_COLUMNS}: the reason is for its body"
            for name, _, subject in commits if len(subject) > SUBJECT_COLUMNS]


def unwanted_words(texts):
    """texts: file → text."""
    return [f"{file}:{number}: {found[0]}" for file, text in texts.items() for number, line in enumerate(text.split("\n"), 1)
            if (found := WORDS.search(line))]


def retired_words(texts):
    """texts: file → text. In identifiers, too."""
    return [f"{file}:{number}: {line.strip()}" for file, text in texts.items() if file.startswith(("src/", "include/", "petsc_plugin/"))
            for number, line in enumerate(text.split("\n"), 1) if RETIRED.search(line)]


def other_cells(texts):
    """texts: file → text. In identifiers, too."""
    return [f"{file}:{number}: {line.strip()}" for file, text in texts.items() if file.startswith(CELL_FREE)
            for number, line in enumerate(text.split("\n"), 1) if CELL.search(line)]


def other_readers(texts):
    """texts: file → text. An option is declared once where none is read beside those that petsc_plugin/declared has."""
    return [f"{file} reads an option by {found[0]}): it is to be declared in petsc_plugin/declared/table.py"
            for file, text in texts.items() if file != "petsc_plugin/options.cpp" for found in READS_OPTION.finditer(text)]


def study_fields(texts):
    """texts: file → text."""
    return [f"{file} names {found[0]}: it is to pass on taskdag/study.hpp's Study" for file, text in texts.items()
            if file != STUDY_DECLARED and (found := STUDY.search(text))]


def read_log():
    """The last commits; nothing where the sources are no clone."""
    command = ["git", "-C", str(ROOT), "log", "--no-merges", f"--max-count={COMMITS}", "--format=%h %s"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def texts_of(patterns):
    files = {file.relative_to(ROOT) for pattern in patterns for file in ROOT.glob(pattern) if file.is_file()}
    return {str(file): (ROOT / file).read_text(encoding="utf-8") for file in sorted(files)}


def free_texts():
    return {file: text for file, text in texts_of(FREE).items() if not file.startswith(NOT_YET)}


def self_test():
    cases = [
        (too_long("line\n" * README_LINES), 0),
        (too_long("line\n" * (README_LINES + 1)), 1),
        (long_newest("# Log\n\n## 2.0\n\n- word\n\n## 1.0\n\n" + "word " * NEWEST_WORDS), 0),
        (long_newest("# Log\n\n## 2.0\n\n" + "word " * NEWEST_WORDS + "\n## 1.0\n"), 1),
        (long_subjects("abc " + "x" * SUBJECT_COLUMNS + "\ndef short\n"), 0),
        (long_subjects("abc " + "ä" * SUBJECT_COLUMNS + "\n"), 0),
        (long_subjects("abc " + "x" * (SUBJECT_COLUMNS + 1) + "\ndef short\n"), 1),
        (long_subjects(""), 0),
        (unwanted_words({"a.hpp": "// No thread waits.\nint nobodys;\n"}), 0),
        (unwanted_words({"a.hpp": "// Nobody waits.\n", "b.md": "and likewise\nwhoever, somebody\n"}), 3),
        (unwanted_words({"b.md": "The rival's time to ours\n"}), 1),
        (retired_words({"src/a.hpp": "int kErrands = 0;\nint two_meetings;\nint rows;", "docs/a.md": "errand"}), 2),
        (other_cells({"src/dag/a.hpp": "int kMostCells;\nint cell_of;\nint excellent;", "src/a.cpp": "cells"}), 2),
        (other_readers({"petsc_plugin/options.cpp": "PetscOptionsInt(name)", "a.cpp": "PetscOptionsGetInt(name)"}), 0),
        (other_readers({"a.cpp": "PetscCall(PetscOptionsBoundedInt(name, 1));\nPetscOptionsBool(name)"}), 2),
        (study_fields({STUDY_DECLARED: "AtaFlow", "petsc_plugin/a.cpp": "Study study;"}), 0),
        (study_fields({"src/solver/a.cu": "AtaFlow flow;", "src/kernels/a.hpp": "ata_rows_share_warps = true"}), 2),
    ]
    wrong = [number for number, (found, count) in enumerate(cases) if len(found) != count]
    for number in wrong:
        print(f"not as expected: case {number}: {cases[number][0]}")
    print(f"{len(cases) - len(wrong)} of {len(cases)} as expected")
    return bool(wrong)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    log, texts, plugin = read_log(), free_texts(), texts_of(["petsc_plugin/**/*.cpp"])
    found = too_long((ROOT / "README.md").read_text(encoding="utf-8"))
    found += long_newest((ROOT / "docs/CHANGELOG.md").read_text(encoding="utf-8")) + long_subjects(log) + unwanted_words(texts) + retired_words(texts)
    found += other_cells(texts) + other_readers(plugin) + study_fields(texts_of(f"{folder}/**/*.?*" for folder in STUDY_FREE))
    print("\n".join(found) if found else f"{len(log.splitlines())} commits, {len(texts)} files, nothing found")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())

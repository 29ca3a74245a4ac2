#!/usr/bin/env python3
"""A function that is read at one go has no more than 60 lines of code and a cyclomatic complexity of no more than 25.
Those that are longer stand in tests/function_size.txt, each with the reason.

usage: function_size.py [--self-test]
Looks at src, include and petsc_plugin, but for the studies of papers, with lizard (https://pypi.org/project/lizard).
Exit status 1 where a function is above a limit and not listed, or the list names one that is not above.
"""
import pathlib
import re
import sys

import lizard

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = "tests/function_size.txt"
SUFFIXES = {".hpp", ".cuh", ".cpp", ".cu", ".h"}
STUDIES = {"studies", "papers"}
MOST_LINES = 60
MOST_COMPLEXITY = 25
LISTED = re.compile(r"(\S+): \S.*")


def functions_of(file, text):
    """Name, line, lines of code and complexity of each function. lizard knows a language by its file's suffix, and not
    those of CUDA."""
    for found in lizard.analyze_file.analyze_source_code(f"{file}.cpp", text).function_list:
        yield found.name.removeprefix("taskdag::"), found.start_line, found.nloc, found.cyclomatic_complexity


def faults(files, listed):
    """One sentence for each function above a limit that is not listed, and each line of the list that is not needed."""
    unused = set()
    for number, line in enumerate(listed.splitlines(), 1):
        if line and not line.startswith("#"):
            entry = LISTED.fullmatch(line)
            if entry:
                unused.add(entry.group(1))
            else:
                yield f"{LIST}:{number}: expected `function: reason`"
    names = frozenset(unused)
    for file, text in files:
        for name, line, lines, complexity in functions_of(file, text):
            if lines <= MOST_LINES and complexity <= MOST_COMPLEXITY:
                continue
            unused.discard(name)
            if name not in names:
                yield f"{file}:{line}: {name} has {lines} lines of code and complexity {complexity}: split it by purpose"
    for name in sorted(unused):
        yield f"{LIST}: no function {name} is above the limits"


def self_test():
    def function(name, lines, condition="i"):
        body = "".join(f"  i = {condition};  // comment\n\n" for _ in range(lines - 3))
        return f"namespace taskdag::a {{\nint {name}(int i) {{\n{body}  return i;\n}}\n}}\n"

    long = function("longer", MOST_LINES + 1)
    kernel = "namespace taskdag::a {\n__global__ void __launch_bounds__(256)\n    longer(int i) {" + long.split("{", 2)[2]
    cases = [
        ("", "", 0),
        (function("f", MOST_LINES), "", 0),
        (long, "", 1),
        (long, "a::longer: a table", 0),
        (long, "# a comment\n\na::longer: a table\n", 0),
        (long, "longer: a table", 2),
        (long, "a::longer:", 2),
        (long, "a::longer: a table\na::other: a table", 1),
        (kernel, "", 1),
        (kernel, "a::longer: a table", 0),
        (function("f", MOST_LINES), "a::f: a table", 1),
        (function("f", 10, "i ? i : i"), "", 0),
        (function("f", MOST_COMPLEXITY + 3, "i ? i : i"), "", 1),
    ]
    wrong = [n for n, (text, listed, count) in enumerate(cases) if len(list(faults([("a.cu", text)], listed))) != count]
    for n in wrong:
        print(f"case {n} of the self-test: {list(faults([('a.cu', cases[n][0])], cases[n][1]))}")
    return not wrong


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 0 if self_test() else 1
    files = [(str(p.relative_to(ROOT)), p.read_text()) for d in ("src", "include", "petsc_plugin")
             for p in sorted((ROOT / d).rglob("*")) if p.suffix in SUFFIXES and not STUDIES & set(p.parts)]
    found = list(faults(files, (ROOT / LIST).read_text()))
    for sentence in found:
        print(sentence)
    print(f"{len(files)} files, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

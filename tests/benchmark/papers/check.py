#!/usr/bin/env python3
"""Checks that documents hold the tables that tables.py computes from the rows in tests/benchmark/results.

usage: check.py [--write] [DOCUMENT...]      [docs/papers/papers.md and the other documents below]
A table stands between `<!-- papers NAME: begin -->` and `<!-- papers NAME: end -->`. --write puts what is computed there.
Exit status 1 where a document holds something else, names a table that there is none of, or lacks one of its own.
"""
import difflib
import os
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import notes  # noqa: E402,F401 (after the line that keeps the source folder clean; it registers its tables)
import remade  # noqa: E402,F401 (it registers its tables)
import tables  # noqa: E402

DOCS = os.path.normpath(os.path.join(HERE, "..", "..", "..", "docs"))
ELSEWHERE = {"schedules-spsv": "notes/schedules-compared.md", "ata-baselines": "notes/schedules-compared.md",
             "atos-order": "papers/graphs.md", "atos-idle": "papers/graphs.md",
             "icc-shift-residual": "notes/icc-shift.md", "icc-shift-default": "notes/icc-shift.md",
             "mhive-candidates": "papers/orderings-engine.md", "papers-matrices": "papers/data.md",
             "papers-supersteps": "papers/data.md", "rows-in-registers": "notes/factorisation.md"}
BLOCK = re.compile(r"(<!-- papers ([\w-]+): begin -->\n)(.*?)(<!-- papers \2: end -->)", re.S)


def documents():
    """Path → names of the tables that it must hold."""
    wanted = {os.path.join(DOCS, "papers", "papers.md"): [name for name in tables.BLOCKS if name not in ELSEWHERE]}
    for name, document in ELSEWHERE.items():
        wanted.setdefault(os.path.join(DOCS, document), []).append(name)
    return wanted


def filled(text):
    """The text with its tables computed anew, and the names of these. @raises KeyError: no such table"""
    names = [found.group(2) for found in BLOCK.finditer(text)]
    return BLOCK.sub(lambda m: m.group(1) + "\n".join(tables.BLOCKS[m.group(2)]()).strip() + "\n" + m.group(4), text), names


def check(document, wanted, write):
    """@returns what is wrong, as lines"""
    with open(document, encoding="utf-8") as file:
        text = file.read()
    try:
        new, names = filled(text)
    except KeyError as error:
        return [f"{document}: no table is called {error}"]
    faults = [f"{document}: {text.count(f'papers {name}: begin')} tables {name}, not one" for name in wanted
              if names.count(name) != 1]
    markers = len(re.findall(r"<!-- papers [\w-]+: (?:begin|end) -->", text))
    if markers != 2 * len(names):
        faults.append(f"{document}: a mark without its partner")
    if new != text and write and not faults:
        with open(document, "w", encoding="utf-8") as file:
            file.write(new)
    elif new != text:
        faults += difflib.unified_diff(text.split("\n"), new.split("\n"), document, "computed from the rows", lineterm="", n=0)
        faults.append("papers/check.py --write mends it")
    return faults


def main(arguments):
    write = "--write" in arguments
    named = [argument for argument in arguments if argument != "--write"]
    wanted = {document: [] for document in named} or documents()
    faults = [line for document, names in wanted.items() for line in check(document, names, write)]
    print("\n".join(faults) if faults else f"{len(wanted)} documents hold what the rows give")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""A type's name is defined once in a namespace: two definitions in two sources share their members' code, and a program
gets either, without a word from compiler or linker.

usage: one_definition.py [--self-test]
Looks at src, include and petsc_plugin. Types at the left margin count, those in nameless namespaces and in functions do
not. Exit status 1 where a name is defined twice.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUFFIXES = {".hpp", ".cuh", ".cpp", ".cu", ".h"}
OPENED = re.compile(r"^(?:inline )?namespace ([A-Za-z_:]*)\s*\{")
CLOSED = re.compile(r"^\}  // (?:inline )?namespace")
DEFINED = re.compile(r"^(?:template <.*> )?(?:struct|class|union|enum class|enum)(?: alignas\(.*?\))? ([A-Za-z_]\w*)(<.*>)?(?= *\{| *:(?!:)| final)")


def definitions(text):
    """Qualified names of the types that the text defines where others may define them, too."""
    namespaces = []
    for line in text.splitlines():
        if opened := OPENED.match(line):
            if not line.rstrip().endswith("}"):
                namespaces.append(opened.group(1))
        elif CLOSED.match(line):
            namespaces.pop()
        elif (found := DEFINED.match(line)) and "" not in namespaces and not line.rstrip().endswith(";"):
            yield "::".join([*namespaces, found.group(1) + (found.group(2) or "")])


def twice(texts):
    """One sentence for each name that several of the texts, file → text, define."""
    where = {}
    for file, text in texts.items():
        for name in definitions(text):
            where.setdefault(name, []).append(file)
    return [f"{name} is defined in {' and in '.join(files)}" for name, files in sorted(where.items()) if len(files) > 1]


def self_test():
    header = "namespace taskdag::kernels {\nstruct Rows {\n};\n}  // namespace taskdag::kernels\n"
    cases = [
        ({"a.hpp": header, "b.hpp": header}, 1),
        ({"a.hpp": header, "b.hpp": header.replace("struct", "template <class T> class")}, 1),
        ({"a.hpp": header, "b.hpp": header.replace("struct Rows", "enum class Rows")}, 1),
        ({"a.hpp": header, "b.hpp": header.replace("struct Rows", "struct alignas(8) Rows")}, 1),
        ({"a.hpp": header, "b.cpp": header.replace("struct Rows", "struct Rows final : Base")}, 1),
        ({"a.hpp": header, "b.hpp": header.replace("kernels", "host")}, 0),
        ({"a.hpp": header, "b.hpp": header.replace("{\n};", "; ")}, 0),
        ({"a.hpp": header, "b.hpp": header.replace("Rows", "Rows<int>")}, 0),
        ({"a.hpp": header, "b.cpp": header.replace("kernels {\n", "kernels {\nnamespace {\n").replace("};", "};\n}  // namespace")}, 0),
    ]
    wrong = [number for number, (texts, count) in enumerate(cases) if len(twice(texts)) != count]
    for number in wrong:
        print(f"case {number} of the self-test: {twice(cases[number][0])}")
    return not wrong


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 0 if self_test() else 1
    files = [p for d in ("src", "include", "petsc_plugin") for p in sorted((ROOT / d).rglob("*")) if p.suffix in SUFFIXES]
    found = twice({str(p.relative_to(ROOT)): p.read_text() for p in files})
    for sentence in found:
        print(sentence)
    print(f"{len(files)} files, {len(found)} names defined twice")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Every source of src, include and petsc_plugin begins with a sentence that says what is in it.

usage: first_sentences.py [--self-test]
Headers begin with `/// \\file` (in C `/** \\file`) and the sentence in the next line. Other sources begin with a comment, unless a header of
their name, beside them or public, says it. Exit status 1 where a sentence is missing.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = {".hpp", ".cuh", ".h"}
SOURCES = {".cpp", ".cu"}


def begins_with_a_sentence(text, is_header):
    lines = text.lstrip("\ufeff").split("\n")
    if lines[0] in (r"/// \file", r"/** \file"):
        return len(lines) > 1 and len(lines[1].split()) > 2
    return not is_header and lines[0].startswith("// ") and len(lines[0].split()) > 2


def missing(texts):
    """The files, path → text, that do not say what is in them."""
    stated = {path for path, text in texts.items() if begins_with_a_sentence(text, path.suffix in HEADERS)}
    public = {path.stem for path in stated if path.parts[0] == "include"}
    return [path for path in texts if path not in stated and not (path.suffix in SOURCES and (
        path.stem in public or any(path.with_suffix(ending) in stated for ending in HEADERS)))]


def self_test():
    stated = "/// \\file\n/// What it is.\n#pragma once\n"
    cases = [
        ({"src/a.hpp": stated, "src/a.cpp": "int a;\n"}, []),
        ({"src/a.hpp": "#pragma once\n"}, ["src/a.hpp"]),
        ({"src/a.hpp": "// What it is.\n"}, ["src/a.hpp"]),
        ({"src/a.hpp": "/// \\file\n#pragma\n"}, ["src/a.hpp"]),
        ({"src/a.cpp": "// What it is.\n"}, []),
        ({"src/a.cpp": stated}, []),
        ({"src/a.h": "/** \\file\n * What it is.\n */\n"}, []),
        ({"src/a.cpp": "//\nint a;\n"}, ["src/a.cpp"]),
        ({"src/a.cpp": "int a;\n", "src/b.hpp": stated}, ["src/a.cpp"]),
        ({"src/a.cpp": "int a;\n", "include/taskdag/a.hpp": stated}, []),
        ({"src/a.cpp": "int a;\n", "src/b/a.hpp": stated}, ["src/a.cpp"]),
    ]
    wrong = [number for number, (texts, expected) in enumerate(cases)
             if [str(path) for path in missing({pathlib.PurePath(path): text for path, text in texts.items()})] != expected]
    for number in wrong:
        print(f"not as expected: case {number}")
    print(f"{len(cases) - len(wrong)} of {len(cases)} as expected")
    return bool(wrong)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    texts = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for folder in ("src", "include", "petsc_plugin")
             for path in sorted((ROOT / folder).rglob("*")) if path.suffix in HEADERS | SOURCES}
    found = missing(texts)
    for path in found:
        print(f"{path}: does not begin with a sentence that says what is in it")
    print(f"{len(texts)} files, {len(found)} without a sentence at the top")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Who keeps an object of PETSc past a call holds a reference to it: members of the plugin's classes are Held<Mat> and the
like (petsc_plugin/mat/held.hpp), never bare handles, whose object the application may destroy or replace at any time.

usage: held_objects.py [--self-test]
Looks at petsc_plugin: members of classes, and variables outside functions. Exit status 1 where one is a bare handle, and
where an exception below is none any more.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent / "petsc_plugin"
HANDLES = "Mat|Vec|IS|VecScatter|PetscSF|KSP|PC|SNES|DM|MatNullSpace|MatColoring|PetscObject|PetscContainer|PetscViewer"
OPENED = re.compile(r"^( *)(?:template <.*> )?(?:class|struct|union) [^;()]*\{$")
# A handle, a pointer to some, or a container of them: no function, no Held.
MEMBER = re.compile(
    rf"^( *)(?:static |inline |mutable |thread_local )*(?:const )?(?:std::\w+<[^;()]*?\b)?(?:{HANDLES})\b(?!\()[^;()]*?\b(\w+)(?: = [^;]*|\{{[^;]*\}})?;")
# What lives no longer than a call, and lists that PETSc makes with references of their own.
EXCEPTIONS = {
    ("events.hpp", "first_"): "of a scope",
    ("events.hpp", "second_"): "of a scope",
    ("layout.cpp", "a"): "of a call",
    ("layout.cpp", "b"): "of a call",
    ("layout.cpp", "p"): "of a call",
    ("layout.cpp", "x"): "of a call",
    ("mat/merged_block.hpp", "blocks_"): "PETSc's list",
    ("mat/rank_view.hpp", "viewer"): "an argument",
}


def bare_handles(text):
    """Names of members and of variables outside functions that are bare handles."""
    scopes = []  # indentation of the classes around a line
    for line in text.splitlines():
        if opened := OPENED.match(line):
            scopes.append(len(opened.group(1)))
        elif scopes and re.match(rf"^ {{{scopes[-1]}}}\}}", line):
            scopes.pop()
        elif found := MEMBER.match(line):
            own = scopes[-1] + 2 if scopes else 0
            if len(found.group(1)) == own and "Held<" not in line.split(";")[0]:
                yield found.group(2)


def self_test():
    cases = [
        ("class A {\n  Mat whole_ = nullptr;\n};\n", ["whole_"]),
        ("class A {\n  Held<Mat> whole_;  ///< Mat whole;\n};\n", []),
        ("class A : public B {\n  std::array<Vec, 2> saved_ = {};\n  std::vector<Held<Vec>> more_;\n};\n", ["saved_"]),
        ("class A {\n  struct B {\n    Vec diagonal{};\n  };\n  IS row_;\n  const Mat* some_ = nullptr;\n};\n", ["diagonal", "row_", "some_"]),
        ("class A {\n  PetscErrorCode f(Vec b, Mat x);\n  Mat g() const { return whole_; }\n  PetscErrorCode h() {\n    Vec x = nullptr;\n  }\n};\n", []),
        ("template <class T>\nclass A final : public B {\n  mutable KSP ksp_;\n};\n", ["ksp_"]),
        ("PetscErrorCode f() {\n  Mat part = nullptr;\n}\nstatic Mat last;\nMat first = nullptr;\n", ["last", "first"]),
        ("class A {\n  MatState state_;\n  MatrixState other_;\n  VecType type_ = nullptr;\n};\n", []),
    ]
    wrong = [number for number, (text, names) in enumerate(cases) if list(bare_handles(text)) != names]
    for number in wrong:
        print(f"case {number} of the self-test: {list(bare_handles(cases[number][0]))}")
    return not wrong


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 0 if self_test() else 1
    files = sorted(p for p in ROOT.rglob("*") if p.suffix in {".hpp", ".cpp", ".h"})
    found = {(str(p.relative_to(ROOT)), name) for p in files for name in bare_handles(p.read_text())}
    for file, name in sorted(found - EXCEPTIONS.keys()):
        print(f"petsc_plugin/{file}: {name} is a bare handle, and is to be a Held one")
    for file, name in sorted(EXCEPTIONS.keys() - found):
        print(f"petsc_plugin/{file}: {name} is no exception any more")
    print(f"{len(files)} files, {len(found - EXCEPTIONS.keys())} bare handles")
    return 1 if found ^ EXCEPTIONS.keys() else 0


if __name__ == "__main__":
    sys.exit(main())

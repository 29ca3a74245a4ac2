#!/usr/bin/env python3
"""Checks the documents: links between them, files that they name; in README.md and docs/, lines of at most 120 columns.

usage: docs_links.py [FOLDER]      the project's top folder [the one above this file's]
A link to a file must lead to one, an anchor to a heading. A path in backticks that begins with a folder of the project
must exist; `*` in it stands for anything. Tables, code and lines without a space to break at may be longer.
"""
import pathlib
import re
import subprocess
import sys

COLUMNS = 120
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:src|include|tests|docs|examples|petsc_plugin|cmake)/[\w./*-]+)`")


def without_code(text):
    """Fenced and indented code blanked, so that line numbers stay."""
    text = re.sub(r"^```.*?^```", lambda found: "\n" * found[0].count("\n"), text, flags=re.M | re.S)
    return re.sub(r"(?<=\n\n)(?: {4,}.*\n)+", lambda found: "\n" * found[0].count("\n"), text)


def anchors(text):
    """What headings are called in links, as GitHub does."""
    names = []
    for heading in re.findall(r"^#+ +(.*)$", without_code(text), flags=re.M):
        name = re.sub(r"[^\w\- ]", "", re.sub(LINK, "", heading).lower()).replace(" ", "-")
        names.append(name if name not in names else f"{name}-{names.count(name)}")
    return names


def faults(document, root):
    is_manual = document.parent == root or root / "docs" in document.parents
    text = without_code(document.read_text(encoding="utf-8"))
    for number, line in enumerate(text.split("\n"), 1):
        for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = (document.parent / name).resolve() if name else document
            if not file.exists():
                yield number, f"no such file: {target}"
            elif anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
                yield number, f"no such heading: {target}"
        for path in PATH.findall(line):
            if not list(root.glob(path.rstrip("/"))):
                yield number, f"no such file: {path}"
        if is_manual and len(line) > COLUMNS and not line.startswith("|") and " " in line[:COLUMNS].strip():
            yield number, f"{len(line)} columns"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    root = root if len(sys.argv) > 1 else root.parent.parent
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True,
                            text=True, check=True).stdout.split()
    found = [f"{name}:{number}: {what}" for name in listed if (root / name).exists()
             for number, what in faults(root / name, root)]
    print("\n".join(found) if found else f"{len(listed)} documents, nothing found")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks what is installed to be read: documents, examples, manual pages, and that what names one of them is right.

usage: TASKDAG_PREFIX=PREFIX documents_test.py
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import docs_links  # noqa: E402

# What documents name and the sources alone have.
OF_SOURCES = re.compile(r"(?:\.\./)*(?:(?:src|tests|petsc_plugin|cmake|include)/|tests$"
                        r"|examples/(?:quickstart\.sh|2_compare|6_main_job))")
# Such as docs/schedules.md: in texts of the libraries (-help among them), in headers, in the citation.
NAMED = re.compile(rb"\b(?:docs|examples)/[\w./-]*\w")
DECLARED = re.compile(r"^TASKDAGPETSC_API PetscErrorCode (\w+)\(", re.M)


def faults_of_links(documents):
    pages = sorted(documents.rglob("*.md"))
    if len(pages) < 10:
        yield f"{documents} has {len(pages)} documents"
    for page in pages:
        for number, fault in docs_links.faults(page, documents):
            name = fault.removeprefix("no such file: ")
            if fault.endswith(" columns"):
                continue  # docs_links.py itself sees to the sources
            if not OF_SOURCES.match(name):
                yield f"{page}:{number}: {fault}"
            elif "include/" in name and not (documents.parents[2] / name[name.index("include/"):]).exists():
                yield f"{page}:{number}: {name} is not installed"


def faults_of_names(prefix, documents):
    naming = [documents / "CITATION.cff", *prefix.glob("lib*/**/*.so"), *prefix.glob("include/**/*.h*")]
    for file in naming:
        for name in NAMED.findall(file.read_bytes()):
            if not (documents / name.decode()).exists():
                yield f"{file} names {name.decode()}, which is not installed"


def faults_of_manual(prefix, documents):
    manual = prefix / "share/man"
    header = "".join(file.read_text(encoding="utf-8") for file in (prefix / "include").glob("taskdagpetsc*.h"))
    names = {name for name in DECLARED.findall(header) if not name.startswith("PetscDLLibraryRegister")}
    pages = {page.stem for page in (manual / "man3").glob("*.3")}
    if not names:
        return  # without the plugin
    yield from (f"{name} has no manual page" for name in sorted(names - pages))
    options = (manual / "man7/petsctaskdag.7").read_text(encoding="utf-8").replace("\\-", "-")
    table = re.findall(r"^\| `(-\w+)`", (documents / "docs/options.md").read_text(encoding="utf-8"), re.M)
    yield from (f"petsctaskdag.7 lacks {option}" for option in table if f"\\fB{option}\\fR" not in options)
    if shutil.which("groff"):
        for page in manual.glob("*/*"):
            said = subprocess.run(["groff", "-ww", "-man", "-z", "-Tutf8", page], capture_output=True, text=True, check=False)
            yield from said.stderr.splitlines()


def main(prefix):
    documents = prefix / "share/doc/taskdag"
    found = [f"{name} is not installed" for name in ("LICENSE", "CITATION.cff", "README.md", "examples/3_linked_app")
             if not (documents / name).exists()]
    found += [*faults_of_links(documents), *faults_of_names(prefix, documents), *faults_of_manual(prefix, documents)]
    print("\n".join(found) if found else "nothing found")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(os.environ["TASKDAG_PREFIX"]).resolve()))

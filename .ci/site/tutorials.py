#!/usr/bin/env python3
"""Runs the tutorials of examples/tutorials as notebooks, and makes a page and a notebook file of each, with what they print.

usage: tutorials.py PLUGIN DIRECTORY     PLUGIN: libpetsctaskdag.so for the PETSc of this Python's petsc4py
Needs jupytext, nbconvert and ipykernel (PYTHONPATH, and their share/jupyter in JUPYTER_PATH). A cell that fails is an error. What they write lies beside.
"""
import os
import pathlib
import re
import sys

import jupytext
import nbclient
import nbconvert
import nbformat

TUTORIALS = pathlib.Path(__file__).resolve().parent.parent.parent / "examples/tutorials"


def page(script, directory):
    """The page in Markdown of a script that has been run; beside it goes the notebook."""
    notebook = jupytext.read(script, fmt="py:percent")
    nbclient.execute(notebook, cwd=str(directory), timeout=300, kernel_name="python3", coalesce_streams=True)
    nbformat.write(notebook, directory / f"{script.stem}.ipynb")
    text, _ = nbconvert.MarkdownExporter().from_notebook_node(notebook)
    heading, _, rest = re.sub(r"\]\((\d_\w+)\.py\)", r"](\1.md)", text.strip()).partition("\n")
    links = f"[Notebook]({script.stem}.ipynb) · [script]({script.name})"
    return f"{heading}\n\n{links}\n{rest}\n"


def main(plugin, directory):
    os.environ.update(TASKDAG_PLUGIN=os.path.abspath(plugin), OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    os.environ["PYTHONPATH"] = f"{TUTORIALS}:{os.environ.get('PYTHONPATH', '')}"
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    directory.mkdir(parents=True, exist_ok=True)
    for script in sorted(TUTORIALS.glob("[0-9]_*.py")):
        (directory / f"{script.stem}.md").write_text(page(script, directory), encoding="utf-8")
        print(f"{script.name}: run")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], pathlib.Path(sys.argv[2]).resolve())

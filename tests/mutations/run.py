#!/usr/bin/env python3
"""Breaks the sources in one place at a time: a named test has to go red each time (docs/testing.md).

  run.py --check                       every place is there exactly once; nothing is built
  run.py --kind host --scratch DIR     builds and runs each in a copy of the sources under DIR
  run.py --kind cuda --scratch DIR --keep BINARIES   where there is no GPU: keeps the programs, and run.sh that runs them

DIR/build is made by the first run (--cmake: further arguments for its configuration). A failure, a crash and a hang are
red. The exit status is 1 if a mutation survives."""

import argparse
import json
import pathlib
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS = 100


def mutations(kind, only):
    listed = json.loads((ROOT / "tests/mutations/mutations.json").read_text())
    return [m for m in listed if kind in (None, m["kind"]) and only in (None, m["name"])]


def check(listed):
    stale = [m["name"] for m in listed if (ROOT / m["file"]).read_text().count(m["find"]) != 1]
    for name in stale:
        print(f"{name}: the place to change is not there exactly once")
    print(f"{len(listed)} mutations, {len(stale)} stale")
    return 1 if stale else 0


def copy_sources(to):
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, files.split("\0")):
        source, target = ROOT / name, to / name
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def build(folder, program):
    target = program.rsplit("/", 1)[1]
    done = subprocess.run(["cmake", "--build", folder, "--target", target, "-j2"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{target} does not build:\n{done.stdout[-3000:]}")
    return folder / program


def is_red(program, pattern):
    command = [str(program), f"--gtest_filter={pattern}", "--gtest_brief=1"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return True, "hangs"
    if done.returncode == 0 and ("Running 0 tests" in done.stdout or "PASSED  ] 0 tests" in done.stdout):
        sys.exit(f"{program}: no test is called {pattern}")
    return done.returncode != 0, f"ends with {done.returncode}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--kind", choices=["host", "cuda"])
    parser.add_argument("--only")
    parser.add_argument("--scratch", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--cmake", default="", help="arguments for the first configuration")
    options = parser.parse_args()
    listed = mutations(options.kind, options.only)
    if options.check or check(listed) != 0:
        return check(listed)
    if options.scratch is None:
        parser.error("--scratch is needed")
    source, folder = options.scratch, options.scratch / "build"
    copy_sources(source)
    cuda = "ON" if options.kind == "cuda" else "OFF"
    if not (folder / "build.ninja").exists():
        subprocess.run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DTASKDAG_TESTS=ON",
                        f"-DTASKDAG_CUDA={cuda}", *shlex.split(options.cmake)], check=True, stdout=subprocess.DEVNULL)
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    survived, runs = [], []
    for m in listed:
        place = source / m["file"]
        text = place.read_text()
        place.write_text(text.replace(m["find"], m["replace"]))
        try:
            program = build(folder, m["program"])
            if options.keep:
                subprocess.run(["strip", "-o", options.keep / m["name"], program], check=True)
                runs.append(f"run {m['name']} '{m['filter']}'")
                continue
            red, how = is_red(program, m["filter"])
        finally:
            place.write_text(text)
        print(f"{'red' if red else 'SURVIVED':<9}{m['name']}: {how}", flush=True)
        if not red:
            survived.append(m["name"])
    if options.keep:
        script = ['#!/bin/bash', '# Runs the programs beside it: each has to fail.', 'cd "$(dirname "$0")" || exit 1',
                  'run() {', '  timeout -k 2 30 "./$1" "--gtest_filter=$2" --gtest_brief=1 >"/tmp/$1.log" 2>&1',
                  '  local code=$?', '  if [ "$code" -eq 0 ]; then echo "SURVIVED $1"; else echo "red      $1: $code"; fi',
                  '}', *runs, '']
        (options.keep / "run.sh").write_text("\n".join(script))
        print(f"{len(runs)} programs in {options.keep}")
        return 0
    print(f"{len(listed) - len(survived)} red, {len(survived)} survived")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())

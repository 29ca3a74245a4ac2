#!/usr/bin/env python3
"""Breaks the sources in one place at a time: a named test has to go red each time (docs/testing.md).

  run.py --check                       every place is there exactly once; nothing is built
  run.py --kind host --scratch DIR     builds and runs each in a copy of the sources under DIR
  run.py --kind thread --scratch DIR   the same under ThreadSanitizer, which sees an order of memory that is too weak
  run.py --kind cuda --scratch DIR --keep BINARIES   where there is no GPU: keeps the programs, and run.sh that runs them

DIR/build-KIND is configured as the preset of that name (--cmake: further arguments). A failure, a crash, a report of a
sanitizer and a hang are red, after the same tests have passed without the mutation. The exit status is 1 if a mutation
survives."""

import argparse
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS = 100
KINDS = ["host", "thread", "cuda"]


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
        shutil.copy(source, target)  # with a new time: what a run that was cut off has left is compiled again


def build(folder, programs):
    targets = sorted({program.rsplit("/", 1)[1] for program in programs})
    done = subprocess.run(["cmake", "--build", folder, "-j2", "--target", *targets], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(targets)} does not build:\n{done.stdout[-3000:]}{done.stderr}")


def run_tests(program, pattern):
    """Exit status and output; no status after a hang. What the program has started ends with it."""
    with subprocess.Popen([str(program), f"--gtest_filter={pattern}", "--gtest_brief=1"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=SECONDS)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, ""


def demand_green(folder, listed):
    """A test that is red anyway, or is not there, would show nothing."""
    build(folder, [m["program"] for m in listed])
    for program, pattern in sorted({(m["program"], m["filter"]) for m in listed}):
        code, output = run_tests(folder / program, pattern)
        if code != 0 or "PASSED  ] 0 tests" in output:
            sys.exit(f"{output[-3000:]}\n{program} {pattern}: does not pass without a mutation")


def how_it_ended(code, output):
    if code is None:
        return "hangs"
    return "a data race" if "ThreadSanitizer: data race" in output else f"ends with {code}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--only")
    parser.add_argument("--scratch", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--cmake", default="", help="arguments for the first configuration")
    options = parser.parse_args()
    listed = mutations(options.kind, options.only)
    if options.check or check(listed) != 0:
        return check(listed)
    if options.scratch is None or options.kind is None:
        parser.error("--kind and --scratch are needed")
    if not listed:
        parser.error("no such mutation of this kind")
    source = options.scratch.resolve()
    folder = source / f"build-{options.kind}"
    copy_sources(source)
    subprocess.run(["cmake", "--preset", options.kind, *shlex.split(options.cmake)], cwd=source, check=True,
                   stdout=subprocess.DEVNULL)
    if not options.keep:
        demand_green(folder, listed)
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    survived, runs = [], []
    for m in listed:
        place = source / m["file"]
        text = place.read_text()
        place.write_text(text.replace(m["find"], m["replace"]))
        try:
            build(folder, [m["program"]])
            program = folder / m["program"]
            if options.keep:
                subprocess.run(["strip", "-o", options.keep / m["name"], program], check=True)
                runs.append(f"run {m['name']} '{m['filter']}'")
                continue
            code, output = run_tests(program, m["filter"])
        finally:
            place.write_text(text)
        print(f"{'SURVIVED' if code == 0 else 'red':<9}{m['name']}: {how_it_ended(code, output)}", flush=True)
        if code == 0:
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

#!/usr/bin/env python3
"""Looks for internal names among the dynamic symbols of the libraries.

usage: exports.py NM LIBRARY...    fails where a library defines a name of taskdag::kernels, taskdag::cuda or
                                   taskdag::host, and where it keeps to itself who waits for an atomic value

A second library of ours that had its own copy of such a function would be given the first one's: a kernel is then
launched by a CUDA runtime that does not know it. The C++ library keeps one list of waiting threads a process: with a
list in each library a thread that waits in one is not woken by the other, and a program never ends.
"""
import re
import subprocess
import sys

# The name alone: its parameters may be of internal types.
INTERNAL = re.compile(r" [A-Za-z] ((?!\((?!anonymous)).)*\btaskdag::(kernels|cuda|host)::")
# What the C++ library's templates are instantiated with is marked as theirs: one definition in the process, no code of ours.
THEIRS = re.compile(r" [uVW] ")
WAITERS = re.compile(r" [a-tv-z] std::__detail::__waiter_pool_base::_S_for\(void const\*\)::")


def internal_names(lines):
    return [line for line in lines if INTERNAL.search(line) and not THEIRS.search(line)]


def main():
    nm, libraries = sys.argv[1], sys.argv[2:]
    failed = 0
    for library in libraries:
        listed = subprocess.run([nm, "-D", "-C", "--defined-only", library], check=True, capture_output=True, text=True)
        lines = listed.stdout.splitlines()
        names = subprocess.run([nm, "-C", library], check=True, capture_output=True, text=True).stdout.splitlines()
        if not lines:
            print(f"{library}: no dynamic symbol was found")
            failed = 1
        for line in internal_names(lines) + [name for name in names if WAITERS.search(name)]:
            print(f"{library}: {line}")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())

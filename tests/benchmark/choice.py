#!/usr/bin/env python3
"""What rows of choice.sh say: set-up and first solve of -pc_taskdag_type auto beside the others, problem by problem.

usage: choice.py [--without SOLVER]... CSV...
  --without SOLVER  leave its rows out, as if it had not been there
A problem's rows are those of the last file that has it. Times are milliseconds, "first" those of set-up and first
solve, "solve" those of the fastest one; of several processes that in the middle, by set-up and first solve. "rival": the
fastest of PETSc's jacobi, ilu or icc, gamg, and hypre where there are rows of it; "own": of the types that auto chooses
from. The last lines count the problems that any of them solves.
"""
import argparse
import csv
import sys

MULTIGRID = ("gamg", "hypre")
RIVALS = ("jacobi", "ilu", "icc", *MULTIGRID)


def first(row):
    """Set-up and first solve of a fresh process."""
    return 1e3 * (float(row["cold_set_up_s"]) + float(row["first_solve_s"]))


def fastest(rows, names, time):
    found = [(time(rows[name]), name) for name in names if name in rows]
    return min(found) if found else None


def read(paths, without=()):
    """problem -> solver -> row, of solves that all ended with a solution; and problems that none has solved."""
    problems = {}
    for path in paths:
        of_file = {}
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["solver"] not in without:
                    of_file.setdefault(row["problem"], {}).setdefault(row["solver"], []).append(row)
        problems.update(of_file)
    solved = {}
    for name, solvers in problems.items():
        ended = {solver: sorted(rows, key=first) for solver, rows in solvers.items()
                 if all(row["status"] == "ok" for row in rows)}
        if ended:
            solved[name] = {solver: rows[(len(rows) - 1) // 2] for solver, rows in ended.items()}
    return solved, [name for name in problems if name not in solved]


def show(value):
    return f"{value[0]:.1f} ({value[1].removeprefix('taskdag ')})" if value else "none"


def own_types(rows):
    """The types that auto chooses from."""
    return [solver for solver in rows if solver.startswith("taskdag ") and solver != "taskdag auto"]


def judge(solved):
    """For each problem: its rows, the fastest rival and the fastest own type with their times, auto's time over the
    rival's."""
    for name, rows in solved.items():
        rival = fastest(rows, RIVALS, first)
        own = fastest(rows, own_types(rows), first)
        auto = rows.get("taskdag auto")
        yield name, rows, rival, own, first(auto) / rival[0] if auto and rival else None


def count(solved):
    """Problems, and those of them on which auto is the fastest, within 1.5 of the fastest, and within 1.25 of the best
    of its own types."""
    best = within = right = 0
    for _, rows, _, own, ratio in judge(solved):
        auto = rows.get("taskdag auto")
        best += bool(auto and (ratio is None or ratio <= 1.0))
        within += bool(auto and (ratio is None or ratio <= 1.5))
        right += bool(auto and (own is None or first(auto) <= 1.25 * own[0]))
    return len(solved), best, within, right


def table(solved):
    """A line for each problem, after the two of the head."""
    multigrid = [name for name in MULTIGRID if any(name in rows for rows in solved.values())]
    head = ["problem", "first: auto", "own", "rival", "auto / rival", *multigrid, "solve: auto", "own", *multigrid]
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    best = lambda row: 1e3 * float(row["best_solve_s"])
    time = lambda row, of: f"{of(row):.1f}" if row else "none"
    for name, rows, rival, own, ratio in judge(solved):
        auto = rows.get("taskdag auto")
        cells = [name, time(auto, first), show(own), show(rival), f"{ratio:.2f}" if ratio else "",
                 *(time(rows.get(method), first) for method in multigrid), time(auto, best),
                 show(fastest(rows, own_types(rows), best)), *(time(rows.get(method), best) for method in multigrid)]
        yield "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("csv", nargs="+")
    parser.add_argument("--without", action="append", default=[])
    arguments = parser.parse_args()
    solved, unsolved = read(arguments.csv, arguments.without)
    if not solved:
        sys.exit("no problem was solved by any of them")
    print("\n".join(table(solved)))
    problems, best, within, right = count(solved)
    print(f"\n{problems} problems: auto is the fastest on {best} ({100 * best / problems:.0f} %), within 1.5 of the "
          f"fastest on {within}, within 1.25 of the best of its own types on {right}")
    if unsolved:
        print("solved by none: " + ", ".join(unsolved))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What rows of choice.sh say: set-up and first solve of -pc_type taskdag, with nothing else said, beside PETSc's own
preconditioners, problem by problem.

usage: choice.py [--half fit|other] [--flags] CSV...
  --half HALF  only the problems that the rules of choice were fitted to, or only the others
  --flags      taskdag with matrices declared symmetric where they are
A problem's rows are those of the last file that has it. Times are milliseconds, "first" those of set-up and first
solve, "solve" those of the fastest later one; of several processes that in the middle, by set-up and first solve.
"fastest of PETSc's": of jacobi, ilu or icc, gamg, and hypre where it was run. A speed-up above 1: ours is faster. The
last lines count the problems that any of them solves.
"""
import argparse
import csv
import math
import sys

RIVALS = ("jacobi", "ilu", "icc", "gamg", "hypre boomeramg", "hypre ilu")


def first(row):
    """Set-up and first solve of a fresh process."""
    return 1e3 * (float(row["cold_set_up_s"]) + float(row["first_solve_s"]))


def later(row):
    return 1e3 * float(row["best_solve_s"])


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read(paths, half=None):
    """solved_in() of files."""
    return solved_in([rows_of(path) for path in paths], half)


def solved_in(files, half=None):
    """problem -> solver -> row, of solves that all ended with a solution; and problems that none has solved."""
    problems = {}
    for rows in files:
        of_file = {}
        for row in rows:
            if half in (None, row["half"]):
                of_file.setdefault(row["problem"], {}).setdefault(row["solver"], []).append(row)
        problems.update(of_file)
    solved = {}
    for name, solvers in problems.items():
        ended = {solver: sorted(rows, key=first) for solver, rows in solvers.items()
                 if all(row["status"] == "ok" for row in rows)}
        if ended:
            solved[name] = {solver: rows[(len(rows) - 1) // 2] for solver, rows in ended.items()}
    return solved, [name for name in problems if name not in solved]


def ours_of(rows, flags):
    """taskdag's row. CG is for what is symmetric; nothing is declared of the others."""
    symmetric = any(row["method"] == "cg" for row in rows.values())
    return rows.get("taskdag symmetric" if flags and symmetric else "taskdag")


def rival_of(rows, time):
    found = [(time(rows[name]), name) for name in RIVALS if name in rows]
    return min(found) if found else None


def ratio_of(rows, flags, time=first):
    """The speed-up over the fastest rival; 0 where ours has failed, infinite where all rivals have."""
    ours, rival = ours_of(rows, flags), rival_of(rows, time)
    if not ours:
        return 0.0
    return rival[0] / time(ours) if rival else math.inf


def count(solved, flags=False):
    """Problems; those on which taskdag is the fastest, is not slower than 1.25 times the fastest, and has failed; the
    geometric mean of the speed-up where both solve, and the least."""
    ratios = [ratio_of(rows, flags) for rows in solved.values()]
    both = [ratio for ratio in ratios if 0.0 < ratio < math.inf]
    mean = math.exp(sum(map(math.log, both)) / len(both)) if both else math.nan
    return (len(ratios), sum(ratio >= 1.0 for ratio in ratios), sum(ratio >= 0.8 for ratio in ratios),
            sum(ratio == 0.0 for ratio in ratios), mean, min(both, default=math.nan))


def sentence(solved, flags=False):
    problems, best, within, failed, mean, least = count(solved, flags)
    return (f"of {problems} problems it is the fastest on {best} ({100 * best / problems:.0f} %), within 1.25 of the "
            f"fastest on {within}, and fails on {failed}; its speed-up over the fastest of PETSc's is {mean:.2f} in the "
            f"geometric mean, {least:.2f} at least")


def table(solved, flags=False):
    """A line for each problem, after the two of the head."""
    head = ["problem", "takes", "first: ours", "fastest of PETSc's", "speed-up", "solve: ours", "fastest of PETSc's"]
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    show = lambda found: f"{found[0]:.1f} ({found[1]})" if found else "none"
    for name, rows in solved.items():
        ours, ratio = ours_of(rows, flags), ratio_of(rows, flags)
        cells = [name, ours["last_choice"] if ours else "", f"{first(ours):.1f}" if ours else "fails",
                 show(rival_of(rows, first)), f"{ratio:.2f}" if 0.0 < ratio < math.inf else "",
                 f"{later(ours):.1f}" if ours else "fails", show(rival_of(rows, later))]
        yield "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("csv", nargs="+")
    parser.add_argument("--half", choices=["fit", "other"])
    parser.add_argument("--flags", action="store_true")
    arguments = parser.parse_args()
    solved, unsolved = read(arguments.csv, arguments.half)
    if not solved:
        sys.exit("no problem was solved by any of them")
    print("\n".join(table(solved, arguments.flags)))
    print("\n" + sentence(solved, arguments.flags))
    if unsolved:
        print("solved by none: " + ", ".join(unsolved))


if __name__ == "__main__":
    main()

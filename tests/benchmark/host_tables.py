#!/usr/bin/env python3
"""The tables of docs/papers/barrier-lists.md, section Speed, from CSV files of taskdag_host_schedules.

usage: host_tables.py FILE...
Geometric means over the matrices of a set; a set is named with its cores. A schedule that was not run on every matrix
of a set has no value there.
"""
import csv
import math
import statistics
import sys


def geometric_mean(values):
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def read(paths):
    """{(cores, set): {matrix: {schedule: row}}}, in the order of the files."""
    sets = {}
    for path in paths:
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["solve_ms"]:
                    matrices = sets.setdefault((row["cores"], row["set"]), {})
                    matrices.setdefault(row["matrix"], {})[row["schedule"]] = row
    return sets


def values(matrices, schedule, value):
    """value(row) of each matrix; nothing unless all have it."""
    rows = [by_schedule.get(schedule) for by_schedule in matrices.values()]
    return [value(row, by) for row, by in zip(rows, matrices.values())] if all(rows) else []


def print_table(title, sets, schedules, cell):
    names = [f"{cores}: {name}, {len(matrices)}" for (cores, name), matrices in sets.items()]
    print(f"\n| {title} | " + " | ".join(names) + " |\n|---" + "|---" * len(names) + "|")
    for schedule in schedules:
        cells = [cell(matrices, schedule) for matrices in sets.values()]
        if any(cells):
            print(f"| {schedule} | " + " | ".join(text or "–" for text in cells) + " |")


def main(paths):
    sets = read(paths)
    schedules = list(dict.fromkeys(s for m in sets.values() for by in m.values() for s in by))
    wrong = sum(not float(r["error"]) <= 1e-12 for m in sets.values() for by in m.values() for r in by.values())

    def mean_of(value):
        def cell(matrices, schedule):
            found = values(matrices, schedule, value)
            return f"{geometric_mean(found):.2f}" if found else ""

        return cell

    def median_of(column):
        def cell(matrices, schedule):
            found = values(matrices, schedule, lambda row, by: row[column])
            return f"{statistics.median(map(float, found)):.3g}" if found and all(found) else ""

        return cell

    print_table("speed-up over one thread", sets, schedules, mean_of(lambda row, by: float(row["speedup"])))
    print_table(
        "time of locking / time",
        sets,
        [s for s in schedules if s != "locking"],
        mean_of(lambda row, by: float(by["locking"]["solve_ms"]) / float(row["solve_ms"])),
    )
    print_table("solves until it has paid, median", sets, schedules[1:], median_of("amortisation"))
    print(f"\n{wrong} wrong results")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Makes tables and plots of the rows that taskdag_bench and ksp.sh wrote.

usage: report.py [--readme FILE] [--figures FILE] [--plots DIR] [--short] ROWS.csv...

Prints tables in Markdown: ratios of cuSPARSE's times to ours over the sets of problems, all schedules beside each other,
every problem, Krylov solves, and what failed. --short: only the first of these and the failures.
--figures: puts the short tables between the lines `<!-- figures: begin -->` and `<!-- figures: end -->` of FILE.
--readme: puts one table there, of a line for each kind of problem.
--plots: writes speedup.svg (per problem) and profile.svg (performance profile) into DIR.
Ratios are taken between rows of the same problem. A row whose status is not ok is not counted anywhere.
"""
import argparse
import collections
import csv
import math
import os
import re
import statistics
import sys

import choice
import plots

DEFAULT = "auto"
RIVAL = "cuSPARSE"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
NUMBERS = ("milliseconds least most analysis_ms first_ms error bandwidth_floor_ms hop_floor_ms ns_per_level gflops "
           "gbytes_per_s entries_per_row solve_s set_up_s").split()
LEVEL_SETS = ("level-launch", "level-graph", "level-barrier")

System = collections.namedtuple("System", "problem triangle transposed rhs")


class Results:
    """Rows by program; of triangular solves, by system and solver."""

    def __init__(self, rows):
        self.rows = rows
        # Rivals that fail are rows of choice.sh, too.
        self.failures = [row for row in rows if row["status"] != "ok" and row["program"] != "choice"]
        self.choices = [row for row in rows if row["program"] == "choice"]
        good = [row for row in rows if row["status"] == "ok"]
        self.solves = collections.defaultdict(dict)
        self.factors = collections.defaultdict(dict)
        self.krylov = collections.defaultdict(dict)
        for row in good:
            if row["program"] == "sptrsv":
                system = System(row["problem"], row["triangle"], row["transposed"] == "true", int(row["rhs"]))
                self.solves[system][solver_name(row)] = row
            elif row["program"] == "ilu0":
                self.factors[row["problem"], row["what"]][solver_name(row)] = row
            elif row["program"] == "ksp":
                self.krylov[row["problem"]][row["solver"]] = row


def solver_name(row):
    """A schedule's name, or a rival's."""
    return row["schedule"] or "TaskDAG" if row["solver"] == "TaskDAG" else row["solver"]


def read(names):
    rows = []
    for name in names:
        with open(name, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                for column in NUMBERS:
                    if column in row:
                        row[column] = float(row[column]) if row[column] else None
                rows.append(row)
    if not rows:
        sys.exit("report: no rows")
    return Results(rows)


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def break_even(ours, rival):
    """As in ratios.hpp."""
    gain = rival["milliseconds"] - ours["milliseconds"]
    if gain <= 0:
        return math.inf
    debt = ours["analysis_ms"] - rival["analysis_ms"]
    return 0 if debt < 0 else math.floor(debt / gain) + 1


def number(value):
    """Three digits, without an exponent where that is short."""
    if value is None:
        return ""
    if math.isinf(value):
        return "never"
    if value == 0:
        return "0"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows] + [""]


def summarise(ratios):
    """(problem, ratio) pairs → geometric mean, least with its problem, count."""
    problem, least = min(ratios, key=lambda pair: pair[1])
    return [f"{geometric_mean([ratio for _, ratio in ratios]):.2f}", f"{least:.2f} ({problem})", str(len(ratios))]


def sets_of(pairs):
    """(row, value) pairs → [set's name, (problem, value) pairs], a set only where it adds problems."""
    table_set = [(row["problem"], value) for row, value in pairs if row["set"] == "table"]
    standard = [(row["problem"], value) for row, value in pairs if row["set"] in ("table", "shared")]
    everything = [(row["problem"], value) for row, value in pairs]
    sets = [("the table", table_set), ("table and shared", standard), ("all measured", everything)]
    return [(name, chosen) for k, (name, chosen) in enumerate(sets)
            if chosen and (k == 0 or len(chosen) > len(sets[k - 1][1]))]


def separate_sets(pairs):
    """As sets_of(), but each problem in one set: that which the schedules were made with, or the others."""
    sets = (("the table", "table"), ("matrices", "shared"))
    found = [(name, [(row["problem"], value) for row, value in pairs if row["set"] == key]) for name, key in sets]
    return [(name, chosen) for name, chosen in found if chosen]


def kinds(results):
    """The kinds of systems measured: triangle, transposed, right-hand sides."""
    return list(dict.fromkeys(system[1:] for system in results.solves))


def kind_name(triangle, transposed, rhs):
    return f"{triangle} solve" + (", transposed" if transposed else "") + (f", {rhs} right-hand sides" if rhs > 1 else "")


def pairs_of(results, kind, solver, rival=RIVAL):
    """(row of solver, its speed-up over the rival) for each system of the kind that both solved."""
    return [(solvers[solver], solvers[rival]["milliseconds"] / solvers[solver]["milliseconds"])
            for system, solvers in results.solves.items()
            if system[1:] == kind and solver in solvers and rival in solvers]


def comparisons(results):
    """Against cuSPARSE: (what, its function for that, (row, ratio) pairs) for each kind of problem."""
    found = [(kind_name(*kind), "SpSV", pairs_of(results, kind, DEFAULT)) for kind in kinds(results)]
    for what, rival, title in (("ilu0", "csrilu02", "ILU(0)"), ("ic0", "csric02", "IC(0)")):
        pairs = [(solvers["TaskDAG"], solvers[rival]["milliseconds"] / solvers["TaskDAG"]["milliseconds"])
                 for (_, kind), solvers in results.factors.items()
                 if kind == what and "TaskDAG" in solvers and rival in solvers]
        found.append((title, rival, pairs))
    pairs = [(solvers[DEFAULT], solvers[RIVAL]["milliseconds"] / solvers[DEFAULT]["milliseconds"])
             for (_, what), solvers in results.factors.items()
             if what == "apply" and DEFAULT in solvers and RIVAL in solvers]
    return found + [("application of the ILU(0)", "two SpSV", pairs)]


def against_cusparse(results):
    rows = [[f"{what}, {rival}, {name}"] + summarise(ratios)
            for what, rival, pairs in comparisons(results) for name, ratios in sets_of(pairs)]
    lines = table(["Against cuSPARSE", "geometric mean", "least", "problems"], rows) if rows else []
    counts = [break_even(solvers[DEFAULT], solvers[RIVAL])
              for solvers in results.solves.values() if DEFAULT in solvers and RIVAL in solvers]
    if counts:
        lines += [f"Solves after which analysis and solves together have taken less time than SpSV's: "
                  f"{number(statistics.median(counts))} in the median, {number(max(counts))} at most.", ""]
    return lines


def schedules_table(results):
    lines = []
    for kind in kinds(results):
        systems = {system: solvers for system, solvers in results.solves.items() if system[1:] == kind}
        names = list(dict.fromkeys(name for solvers in systems.values() for name, row in solvers.items()
                                   if row["solver"] == "TaskDAG"))
        if len(names) < 2:
            continue
        best = {system: min((row["milliseconds"], name) for name, row in solvers.items()
                            if row["solver"] == "TaskDAG" and name != DEFAULT)[1]
                for system, solvers in systems.items()
                if any(row["solver"] == "TaskDAG" and name != DEFAULT for name, row in solvers.items())}
        rows = []
        for name in names:
            pairs = pairs_of(results, kind, name)
            if not pairs:
                continue
            classes = []
            for dag_class in ("parallel", "wide", "L-shape"):
                ratios = [ratio for row, ratio in pairs if row["class"] == dag_class]
                classes.append(f"{geometric_mean(ratios):.2f}" if ratios else "")
            rows.append([name] + summarise([(row["problem"], ratio) for row, ratio in pairs]) + classes +
                        [str(sum(winner == name for winner in best.values())) if name != DEFAULT else ""])
        lines += [f"### Schedules, {kind_name(*kind)}", ""]
        lines += table(["schedule", "against SpSV", "least", "problems", "parallel", "wide", "L-shape", "fastest on"], rows)
        lines += baselines(systems)
    return lines


def baselines(systems):
    """The default against the faster form of our own level sets, and against self-scheduling."""
    lines = []
    for title, names in (("level sets (the fastest of launches, graph and barriers)", LEVEL_SETS), ("self", ("self",))):
        ratios = [(system.problem, min(solvers[name]["milliseconds"] for name in names if name in solvers) /
                   solvers[DEFAULT]["milliseconds"])
                  for system, solvers in systems.items() if DEFAULT in solvers and any(name in solvers for name in names)]
        if ratios:
            mean, least, count = summarise(ratios)
            lines += [f"{DEFAULT} against {title}: {mean} in the geometric mean, least {least}, {count} problems.", ""]
    return lines


def problems_table(results):
    lines = []
    for kind in kinds(results):
        rows = []
        for system, solvers in results.solves.items():
            if system[1:] != kind or DEFAULT not in solvers:
                continue
            ours = solvers[DEFAULT]
            rival, ordered, serial = (solvers.get(name) for name in (RIVAL, RIVAL + " level order", "serial host loop"))
            time = ours["milliseconds"]
            rows.append([system.problem, ours["class"], ours["rows"], ours["entries"], ours["levels"],
                         number(rival and rival["milliseconds"]), number(ordered and ordered["milliseconds"]),
                         number(serial and serial["milliseconds"]), number(time), ours["chosen"],
                         number(rival and rival["milliseconds"] / time), number(ours["ns_per_level"]),
                         number(ours["gbytes_per_s"]), number(ours["bandwidth_floor_ms"]), number(ours["hop_floor_ms"]),
                         number(rival and rival["analysis_ms"]), number(ours["analysis_ms"]),
                         number(break_even(ours, rival)) if rival else ""])
        if rows:
            lines += [f"### Problems, {kind_name(*kind)}", "", "Times in milliseconds.", ""]
            lines += table(["problem", "class", "rows", "entries", "levels", "SpSV", "in level order", "serial host",
                            "TaskDAG", "schedule", "×", "ns/level", "GB/s", "bytes/bandwidth", "levels × hop",
                            "SpSV's analysis", "our analysis", "break-even"], rows)
    return lines


def factors_table(results):
    rows = []
    for (problem, what), solvers in results.factors.items():
        if what not in ("ilu0", "ic0") or "TaskDAG" not in solvers:
            continue
        ours = solvers["TaskDAG"]
        rival = solvers.get("csrilu02" if what == "ilu0" else "csric02")
        rows.append([problem, what, ours["rows"], ours["entries"], ours["levels"], number(rival and rival["milliseconds"]),
                     number(ours["milliseconds"]), number(rival and rival["milliseconds"] / ours["milliseconds"]),
                     number(ours["first_ms"]), number(ours["analysis_ms"]), number(rival and rival["analysis_ms"])])
    if not rows:
        return []
    return ["### Factorisations", "", "Times in milliseconds; TaskDAG's is a refactorisation with an unchanged pattern.", ""
            ] + table(["problem", "kind", "rows", "entries", "levels", "cuSPARSE", "TaskDAG", "×", "first", "our symbolic phase",
                       "cuSPARSE's analysis"], rows)


def solve_time(row):
    return row["solve_s"]


def whole_time(row):
    """Set-up and solve."""
    return (row["set_up_s"] or 0.0) + row["solve_s"]


def krylov_ratios(results, rival, ours, time):
    return [(problem, time(solvers[rival]) / time(solvers[ours]))
            for problem, solvers in results.krylov.items() if rival in solvers and ours in solvers]


def krylov_table(results):
    rows = []
    for problem, solvers in results.krylov.items():
        ours, rival, jacobi = (solvers.get(name) for name in ("TaskDAG", "PETSc", "Jacobi"))
        if not ours:
            continue
        rows.append([f"{problem}, {ours['method']}, {ours['preconditioner']}", ours["iterations"],
                     number(rival and rival["solve_s"]), number(ours["solve_s"]),
                     f"{rival['solve_s'] / ours['solve_s']:.1f}" if rival else "",
                     f"{number(jacobi['solve_s'])} ({jacobi['iterations']})" if jacobi else ""])
    if not rows:
        return []
    lines = table(["Solve to 1e-6, data on the GPU", "iterations", "PETSc's aijcusparse, s", "TaskDAG, s", "ratio",
                   "PETSc's Jacobi, s (iterations)"], rows)
    ratios = krylov_ratios(results, "PETSc", "TaskDAG", solve_time)
    if ratios:
        mean, least, count = summarise(ratios)
        lines += [f"Geometric mean of the ratio: {mean}, least {least}, {count} problems."]
        # Problems that differ from another one by their solution alone count that one's pattern twice.
        noise = [(problem, ratio) for problem, ratio in ratios if not problem.endswith(" mean 1")]
        if 0 < len(noise) < len(ratios):
            lines += [f"Without those of mean 1: {summarise(noise)[0]}, {len(noise)} problems."]
        lines += [""]
    return lines


def ordered_table(results):
    """The preconditioner taskdag, which chooses its ordering, against PETSc's preconditioners; set-up counts."""
    rows = []
    pairs = [(problem, solvers, suffix) for problem, solvers in results.krylov.items() for suffix in ("", " fill 1")]
    for problem, solvers, suffix in pairs:
        ours = solvers.get("taskdag auto" + suffix)
        petsc, jacobi, gamg = (solvers.get(name) for name in ("PETSc", "Jacobi", "GAMG"))
        if not ours:
            continue

        def times(row):
            return f"{number(row['set_up_s'])} + {number(row['solve_s'])} ({row['iterations']})" if row else ""

        what = ours["preconditioner"] + (", fill inside blocks" if suffix else "")
        rows.append([f"{problem}, {what}", times(ours), re.split("[: ]", ours.get("ordering") or "")[0],
                     times(petsc), times(jacobi), times(gamg),
                     f"{whole_time(jacobi) / whole_time(ours):.2f}, {jacobi['solve_s'] / ours['solve_s']:.2f}" if jacobi else ""])
    if not rows:
        return []
    return table(["`-pc_type taskdag`, its own ordering: set-up + solve, s (iterations)", "TaskDAG", "ordering",
                  "PETSc's factorisation", "Jacobi", "GAMG", "Jacobi's time to ours: in all, solve alone"], rows)


def default_ratios(results, flags):
    """-pc_type taskdag alone against the fastest of PETSc's, on the half that was only looked at."""
    solved, _ = choice.solved_in([results.choices], "other")
    ratios = [(problem, choice.ratio_of(rows, flags)) for problem, rows in solved.items()]
    return [(problem, ratio) for problem, ratio in ratios if 0.0 < ratio < math.inf]


def headline(results):
    """One table: a line for the default, and for each kind of problem and set."""
    lines = [("`-pc_type taskdag` and nothing else, set-up and first solve", "the fastest of PETSc's jacobi, ilu or icc, gamg",
              default_ratios(results, False)),
             ("the same, symmetric matrices declared so", "the same", default_ratios(results, True)),
             ("Krylov solve with ILU(0) or ICC(0)", "PETSc's aijcusparse",
              krylov_ratios(results, "PETSc", "TaskDAG", solve_time))]
    lines += [(f"{what}, {name}", rival, ratios) for what, rival, found in comparisons(results)
              for name, ratios in separate_sets(found)]
    rows = [[what, rival] + summarise(ratios) for what, rival, ratios in lines if ratios]
    return table(["What", "Speed-up over", "geometric mean", "least", "problems"], rows) if rows else []


def failures_list(results):
    if not results.failures:
        return []
    lines = ["### Failed", ""]
    for row in results.failures:
        words = [row[name] for name in ("program", "problem", "triangle", "what", "solver", "schedule") if row.get(name)]
        lines.append("- " + " ".join(words) + ": " + row["status"])
    return lines + [""]


def machines(results):
    """One line a machine, with the commits that ran there and when."""
    def described(row, names, labels):
        return ", ".join(label + row[name] for label, name in zip(labels, names) if row.get(name))
    found = collections.defaultdict(dict)
    for row in results.rows:
        machine = described(row, ("gpu", "driver", "cuda"), ("", "driver ", "CUDA "))
        found[machine][described(row, ("commit", "date"), ("commit ", ""))] = None
    return ["Measured on " + "\nand ".join(",\n".join(filter(None, (machine, " and ".join(runs))))
                                         for machine, runs in found.items()) + ".", ""]


def put_between_markers(text, lines):
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        sys.exit(f"report: the file must hold one line {BEGIN} and after it one line {END}")
    head, rest = text.split(BEGIN)
    return head + BEGIN + "\n" + "\n".join(lines).strip() + "\n" + END + rest.split(END)[1]


def speedups(results):
    """Problem → {triangle: ratio of SpSV's time to the default schedule's}, largest first."""
    ratios = collections.defaultdict(dict)
    for triangle in ("lower", "upper"):
        for row, ratio in pairs_of(results, (triangle, False, 1), DEFAULT):
            ratios[row["problem"]][triangle] = ratio
    return dict(sorted(ratios.items(), key=lambda item: -max(item[1].values())))


def profile_times(results):
    """Solver → its time on each plain system, None where it has none; the systems that at least two solved."""
    systems = [solvers for system, solvers in results.solves.items()
               if not system.transposed and system.rhs == 1 and len(solvers) > 1]
    names = list(dict.fromkeys(name for solvers in systems for name in solvers))
    return {name: [solvers[name]["milliseconds"] if name in solvers else None for solvers in systems] for name in names}


def main(arguments):
    parser = argparse.ArgumentParser(description="Tables and plots of benchmark rows.")
    parser.add_argument("rows", nargs="+", help="CSV files of taskdag_bench and ksp.sh")
    parser.add_argument("--readme", help="file whose figures to replace by one table")
    parser.add_argument("--figures", help="file whose figures to replace")
    parser.add_argument("--plots", help="folder for speedup.svg and profile.svg")
    parser.add_argument("--short", action="store_true", help="only the ratios and what failed")
    chosen = parser.parse_args(arguments)
    results = read(chosen.rows)
    short = machines(results) + krylov_table(results) + ordered_table(results) + against_cusparse(results)
    lines = short + failures_list(results)
    if not chosen.short:
        lines = (short + schedules_table(results) + problems_table(results) + factors_table(results) +
                 failures_list(results))
    print("\n".join(lines))
    for name, figures in ((chosen.figures, short), (chosen.readme, machines(results) + headline(results))):
        if name:
            with open(name, encoding="utf-8") as file:
                text = put_between_markers(file.read(), figures)
            with open(name, "w", encoding="utf-8") as file:
                file.write(text)
    if chosen.plots:
        os.makedirs(chosen.plots, exist_ok=True)
        for name, drawing in (("speedup.svg", plots.bars(speedups(results))),
                              ("profile.svg", plots.profile(profile_times(results)))):
            with open(os.path.join(chosen.plots, name), "w", encoding="utf-8") as file:
                file.write(drawing)


if __name__ == "__main__":
    main(sys.argv[1:])

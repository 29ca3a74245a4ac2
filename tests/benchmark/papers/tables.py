"""The tables of docs/papers/papers.md, each a function that computes its lines from rows of tests/benchmark/results."""
import csv
import importlib.util
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import host_tables  # noqa: E402 (the folder above is not a package)
import published  # noqa: E402
import report  # noqa: E402

spec = importlib.util.spec_from_file_location("graph_report", os.path.join(HERE, "..", "graph", "report.py"))
graph_report = importlib.util.module_from_spec(spec)  # another report.py
spec.loader.exec_module(graph_report)

RESULTS = os.path.join(HERE, "..", "results")
BLOCKS = {}
mean = report.geometric_mean


def block(function):
    """Registers a table under its function's name, hyphens for underscores."""
    BLOCKS[function.__name__.replace("_", "-")] = function
    return function


def path(name):
    return os.path.join(RESULTS, name)


def read(name):
    """The rows of a file that are right: those of failed or unchecked runs are left out."""
    with open(path(name), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    right = {"status": ("ok", "equal", "permutation"), "checked": ("yes",), "verified": ("true",)}
    found = [row for row in rows if all(row[column] in good for column, good in right.items() if column in row)]
    if not found:
        raise ValueError(f"{name} has no rows that are right")
    return found


def one(rows, **wanted):
    """The value of `milliseconds` of the only row that has all of `wanted`; None where there is no such row."""
    found = [row for row in rows if all(row[column] == value for column, value in wanted.items())]
    if len(found) > 1:
        raise ValueError(f"{len(found)} rows have {wanted}")
    return float(found[0]["milliseconds"]) if found else None


def show(value):
    """About three digits; what is a text stays."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if value == float("inf"):
        return "never"
    if isinstance(value, int):
        return f"{value:,}"
    if value >= 1000:
        return f"{value:,.0f}"
    for least, digits in ((100, 0), (10, 1), (0.1, 2)):
        if value >= least:
            return f"{value:.{digits}f}"
    return f"{value:.3g}"


def ratio(ours, paper):
    """Nothing where one of them is no number. The paper's may be a text, as it is printed there."""
    try:
        return float(ours) / float(paper)
    except (TypeError, ValueError):
        return None


def compare(entries):
    """(table, what, paper's, ours, file, why) tuples → a table with the ratio of the two."""
    return report.table(["table", "what", "paper", "ours", "ours / paper", "rows", "why they differ"], [
        [where, what, show(paper), show(ours), show(ratio(ours, paper)),
         f"`{name}`" if name else "–", why] for where, what, paper, ours, name, why in entries])


def quartiles(values):
    """As taskdag_host_schedules takes them."""
    values = sorted(values)
    return [values[len(values) * k // 4] for k in (1, 2, 3)]


# ---------------------------------------------------------------------------------------------------------------- MHive


RCM = "h200-rcm-tasks.csv"
PHASES = {"form": "bitonic", "steps": "phases", "compression": "all nodes", "narrow_levels": "tasks"}


def rcm_times(rows, problem):
    """Milliseconds of the forms that are the thesis' on a problem."""
    times = {"CPU-GPU": one(rows, problem=problem, form="cpu-gpu"),
             "cuSolver": one(rows, problem=problem, form="cuSOLVER 12.0.4")}
    for name, scheduler in (("TSK", "timesliced"), ("PDC", "controller"), ("MK", "megakernel")):
        times[name] = one(rows, problem=problem, scheduler=scheduler, **PHASES)
    return times


@block
def mhive_orders():
    rows = read(RCM)
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    ours = {problem: rcm_times(rows, problem) for problem in problems}
    theirs = {matrix: dict(zip(("cuSolver", "CPU-GPU", "TSK", "PDC"), times)) for matrix, times in published.RCM.items()}
    g3, its_g3 = ours["G3_circuit"], theirs["G3_circuit"]
    alone = {name: [float(row["permutation_ms"]) for row in rows if row["problem"] == "G3_circuit" and
                    row["scheduler"] == scheduler and all(row[c] == v for c, v in PHASES.items())]
             for name, scheduler in (("TSK", "timesliced"), ("PDC", "controller"))}
    levels = max(int(row["levels"] or 0) for row in rows if row["problem"] == "G3_circuit")  # a rival's row has none
    by_cpu = [float(row["permutation_ms"]) for row in rows
              if row["problem"] == "G3_circuit" and row["form"] == "cpu-gpu" and row["permutation_ms"]]
    orders = {row["method"]: row for row in read("h200-rcm.csv")
              if row["problem"] == "G3_circuit" and row["where"] != "1 host thread"}

    def spread(width):
        return 2 * int(width) + 1  # its equation 8.1, of a symmetric pattern

    bandwidth = published.RCM_BANDWIDTH
    machine = "other GPU and other host; cuSOLVER works on the host"
    same = "the same matrix"
    ties = "its program leaves the order of equal nodes open; ours has the serial function's order"
    entries = [
        ("8.2", "bandwidth of G3_circuit as given", bandwidth["given"], spread(orders["serial"]["bandwidth_before"]),
         "h200-rcm.csv", same),
        ("8.2", "… in cuSOLVER's order", bandwidth["cuSolver"], spread(orders["cuSOLVER 12.0.4"]["bandwidth"]),
         "h200-rcm.csv", "another version of cuSOLVER"),
        ("8.2", "… in the order of its CPU–GPU form", bandwidth["CPU-GPU"], spread(orders["serial"]["bandwidth"]), "h200-rcm.csv",
         ties),
        ("8.2", "… in the order of the tasks", bandwidth["MHive"], spread(orders["serial"]["bandwidth"]), "h200-rcm.csv",
         ties),
        ("8.3", "G3_circuit, cuSOLVER, ms", its_g3["cuSolver"], g3["cuSolver"], RCM, machine),
        ("8.3", "… CPU–GPU, in all, ms", its_g3["CPU-GPU"], g3["CPU-GPU"] or "no row: the run's time was up", RCM, "–"),
        ("8.3", "… CPU–GPU, without the search, ms", published.RCM_PERMUTATION["CPU-GPU"], by_cpu[0] if by_cpu else "no row", RCM,
         "other GPU and other host"),
        ("8.3", "… TSK, in all, ms", its_g3["TSK"], g3["TSK"], RCM, "other GPU, driver and operating system"),
        ("8.3", "… TSK, without the search, ms", published.RCM_PERMUTATION["TSK"], alone["TSK"][0], RCM, "the same"),
        ("8.3", "… PDC, in all, ms", its_g3["PDC"], g3["PDC"], RCM, "the same"),
        ("8.3", "… PDC, without the search, ms", published.RCM_PERMUTATION["PDC"], alone["PDC"][0], RCM, "the same"),
        ("8.3", "… TSK's time / PDC's", its_g3["TSK"] / its_g3["PDC"], g3["TSK"] / g3["PDC"], RCM,
         "what the host's slices cost, see the next line"),
        ("8.3", f"… TSK's time less PDC's, without the search, ms a level of {levels}",
         (published.RCM_PERMUTATION["TSK"] - published.RCM_PERMUTATION["PDC"]) / levels, (alone["TSK"][0] - alone["PDC"][0]) / levels, RCM,
         "other host, driver and operating system (Windows there, Linux here); that theirs has as many levels is supposed"),
        ("text", "… MK's time / PDC's", "much above 1", g3["MK"] / g3["PDC"], RCM,
         "the thesis names registers: room for one block a multiprocessor there, for three here (below)"),
    ]
    kernels = [row for row in read("h200-engine-kernels.csv") if row["program"] == "generic_test" and
               row["scheduler"] == "megakernel" and " individual " in row["variant"]]
    entries.append(("text", "MK, resident blocks an SM (its RCM; our generic test with 11 types)", "1",
                    max(int(row["blocks_per_sm"]) for row in kernels), "h200-engine-kernels.csv",
                    "another program"))
    for row in read(RCM_COSTS) if os.path.exists(path(RCM_COSTS)) else []:
        if row["problem"] == "G3_circuit" and row["scheduler"] == "megakernel" and all(row[c] == v for c, v in PHASES.items()):
            entries.append(("text", "… our RCM, its tightest kernel", "1", int(row["blocks_per_sm"]), RCM_COSTS, "other GPU"))
    for name in ("cuSolver", "CPU-GPU", "TSK"):
        all_theirs = [times[name] / times["PDC"] for times in theirs.values()]
        all_ours = [times[name] / times["PDC"] for times in ours.values() if times[name]]
        entries.append(("8.3", f"{name}'s time / PDC's, mean over {len(all_theirs)} matrices there, {len(all_ours)} here",
                        mean(all_theirs), mean(all_ours), RCM, "G3_circuit alone is in both"))
        if name == "cuSolver":
            most = max(ours, key=lambda problem: ours[problem]["cuSolver"] / ours[problem]["PDC"])
            entries.append(("8.3", f"… the largest ({most} here)", max(all_theirs), max(all_ours), RCM,
                            "other matrices. Its text says 15"))
    return compare(entries)


# Of rcm_tasks_bench and taskdag_bench jacobi --solves, since their rows have memory and registers. They may be missing.
RCM_COSTS, RCM_TYPES, JACOBI_SOLVES = "h100-rcm-costs.csv", "h100-rcm-types.csv", "h100-jacobi-solves.csv"
JACOBI_THESIS = "h100-jacobi-thesis.csv"  # likewise: the problems of table 8.4


def memory_by_equation(number, rows, entries):
    """Megabytes."""
    fixed, entry, node = published.MEMORY[number]
    return 1e-6 * (fixed + entry * int(entries) + node * int(rows))


@block
def mhive_memory():
    """Equation 8.2, and registers."""
    lines = []
    for row in read(RCM_COSTS) if os.path.exists(path(RCM_COSTS)) else []:
        if not row["device_mb"] or not row["scheduler"] or any(row[column] != value for column, value in PHASES.items()):
            continue
        paper, ours = memory_by_equation("8.2", row["rows"], row["entries"]), float(row["device_mb"])
        lines.append(["8.2", row["problem"], row["form"].split(",")[0], row["scheduler"], show(paper), show(ours),
                      show(ours / paper), row["tightest_kernel"], row["registers"], row["blocks_per_sm"]])
    if not lines:
        return ["Not run: needs a GPU run of `taskdag_rcm_tasks_bench`."]
    return report.table(["equation", "problem", "form", "scheduler", "by the equation, MB", "ours, MB", "ours / paper",
                         "kernel with the fewest resident blocks", "its registers", "its blocks a multiprocessor"], lines)


@block
def mhive_memory_jacobi():
    """Equation 8.3: of all forms that are the thesis', under all schedulers, the least and the most."""
    found = {}
    for name in (JACOBI_THESIS, JACOBI_SOLVES):
        for row in read(name) if os.path.exists(path(name)) else []:
            if row["device_mb"] and row["scheduler"]:
                place = found.setdefault(row["problem"], (row["rows"], row["entries"], {}))[2]
                place.setdefault(row["form"].split(",")[0], []).append(float(row["device_mb"]))
    lines = []
    for problem, (rows, entries, forms) in found.items():
        paper, most = memory_by_equation("8.3", rows, entries), {form: max(values) for form, values in forms.items()}
        least_form, most_form = min(most, key=most.get), max(most, key=most.get)
        lines.append([problem, show(int(rows)), show(int(entries)), show(paper), f"{show(most[least_form])} ({least_form})",
                      f"{show(most[most_form])} ({most_form})", show(most[least_form] / paper), show(most[most_form] / paper)])
    if not lines:
        return ["Not run: needs a GPU run of `taskdag_bench jacobi --solves`."]
    return report.table(["problem", "rows", "entries", "by equation 8.3, MB", "ours, least, MB (form)", "ours, most, MB (form)",
                         "least / paper", "most / paper"], lines)


@block
def mhive_types():
    """Figure 8.2: percent of the workers' time by task type."""
    if not os.path.exists(path(RCM_TYPES)):
        return ["Not run: needs a GPU run of `taskdag_rcm_tasks_bench --types FILE`."]
    runs = {}
    for row in read(RCM_TYPES):
        runs.setdefault((row["problem"], row["scheduler"]), {})[row["type"]] = row
    types = list(next(iter(runs.values())))
    lines = []
    for (problem, scheduler), by in runs.items():
        total = sum(float(row["worker_ms"]) for row in by.values())
        dropped = int(next(iter(by.values()))["dropped"])
        lines.append([problem, scheduler] + [f"{100 * float(by[name]['worker_ms']) / total:.0f}" for name in types] +
                     [show(total), show(sum(int(row["tasks"]) for row in by.values())), str(dropped)])
    return report.table(["problem", "scheduler"] + [f"{name}, %" for name in types] + ["all workers, ms", "tasks", "dropped"], lines)


JACOBI = "h100-jacobi-tasks.csv"


def jacobi_ratios(rows, scheduler, form):
    """problem → time of kernels that the host looks at after each sweep over that of the form, each to a tolerance."""
    checked = f"{form}, checked every {10 if form == 'checkpoints' else 50}"
    found = {}
    for problem in dict.fromkeys(row["problem"] for row in rows):
        kernels = one(rows, problem=problem, form="kernels, checked every 1")
        time = one(rows, problem=problem, form=checked, scheduler=scheduler)
        if time:
            found[problem] = kernels / time
    return found


def paper_jacobi(scheduler, form):
    """The thesis': matrix → as jacobi_ratios()."""
    k = published.JACOBI_FORMS.index(form)
    return {matrix: published.JACOBI_KERNELS[matrix] / times[k] for matrix, times in published.JACOBI[scheduler].items() if times[k]}


def jacobi_summary(ratios):
    values = list(ratios.values())
    return f"{show(mean(values))} ({show(min(values))} … {show(max(values))})" if values else "no row"


JACOBI_TABLES = (("8.5", "timesliced", "TSK"), ("8.6", "megakernel", "MK"), ("8.7", "controller", "PDC"))


@block
def mhive_jacobi():
    """Over the matrices of table 8.4 that there are rows of."""
    rows = read(JACOBI_THESIS) if os.path.exists(path(JACOBI_THESIS)) else []
    problems = {row["problem"] for row in rows}
    here = {matrix for matrix, problem in published.JACOBI_HERE.items() if problem in problems}
    if not here:
        return ["Not run: needs a GPU run of `taskdag_bench jacobi --solves`."]
    lines = []
    for number, scheduler, name in JACOBI_TABLES:
        for form in published.JACOBI_FORMS:
            theirs, ours = paper_jacobi(scheduler, form), jacobi_ratios(rows, scheduler, form)
            theirs = {matrix: value for matrix, value in theirs.items() if matrix in here}
            ours = {matrix: ours[published.JACOBI_HERE[matrix]] for matrix in here if published.JACOBI_HERE[matrix] in ours}
            quotient = over(mean(ours.values()), mean(theirs.values())) if ours and theirs else None
            lines.append([number, f"{form}, {name}", jacobi_summary(theirs), jacobi_summary(ours), show(quotient)])
    return report.table(["table", "kernel by kernel's time to that of", f"paper: mean of {len(here)} (least … most)",
                         f"ours: mean of {len(here)} (least … most)", "ours / paper"], lines)


@block
def mhive_jacobi_matrices():
    """The same matrix by matrix, and of a scheduler's forms the fastest."""
    rows = read(JACOBI_THESIS) if os.path.exists(path(JACOBI_THESIS)) else []
    by_form = {(scheduler, form): jacobi_ratios(rows, scheduler, form) for _, scheduler, _ in JACOBI_TABLES
               for form in published.JACOBI_FORMS}
    lines = []
    for matrix, problem in published.JACOBI_HERE.items():
        kernels = one(rows, problem=problem, form="kernels, checked every 1")
        if kernels is None:
            continue
        line, fastest_of = [matrix, problem, show(kernels)], {}
        for _, scheduler, _ in JACOBI_TABLES:
            theirs = {form: value for form in published.JACOBI_FORMS for value in [paper_jacobi(scheduler, form).get(matrix)] if value}
            ours = {form: by_form[scheduler, form][problem] for form in published.JACOBI_FORMS if problem in by_form[scheduler, form]}
            best, its_best = max(ours, key=ours.get), max(theirs, key=theirs.get)
            fastest_of[scheduler] = theirs[its_best], ours[best]
            line.append(f"{show(theirs[its_best])} ({its_best}) / {show(ours[best])} ({best})")
        quotients = [fastest_of["megakernel"][k] / fastest_of["controller"][k] for k in (0, 1)]
        lines.append(line + [" / ".join(map(show, quotients))])
    if not lines:
        return ["Not run: needs a GPU run of `taskdag_bench jacobi --solves`."]
    return report.table(["matrix of table 8.4", "here", "kernel by kernel, ms"] +
                        [f"fastest under {name}: paper (form) / ours (form)" for _, _, name in JACOBI_TABLES] +
                        ["PDC's time / MK's: paper / ours"], lines)


@block
def mhive_jacobi_others():
    """Our other problems."""
    rows = read(JACOBI_SOLVES if os.path.exists(path(JACOBI_SOLVES)) else JACOBI)
    problems = [problem for problem in dict.fromkeys(row["problem"] for row in rows) if problem not in published.JACOBI_HERE.values()]
    lines = []
    for _, scheduler, name in JACOBI_TABLES:
        for form in published.JACOBI_FORMS:
            ratios = jacobi_ratios(rows, scheduler, form)
            lines.append([f"{form}, {name}"] + [show(ratios.get(problem)) for problem in problems])
    return report.table(["kernel by kernel's time to that of"] + problems, lines)


def engine_medians(experiment):
    """(variant, grid, scheduler) → the rows' median seconds."""
    groups = {}
    for row in read("h200-engine.csv"):
        if row["experiment"] == experiment:
            groups.setdefault((row["variant"], row["grid"], row["scheduler"]), []).append(float(row["seconds"]))
    return {key: statistics.median(values) for key, values in groups.items()}


@block
def mhive_generic():
    seconds = engine_medians("dependencies")
    lines = []
    for tree, worker, flops, roots, figure in (
            ("small", "thread", 64, 32768, "7.1"), ("small", "thread", 4096, 32768, "7.1"),
            ("large", "thread", 64, 32768, "7.2"), ("large", "thread", 4096, 32768, "7.2"),
            ("irregular", "warp", 65536, 1024, "–"), ("irregular", "warp", 65536, 32768, "–")):
        for scheduler in ("megakernel", "controller", "timesliced"):
            phases, individual = (seconds[f"{tree} tree {kind} {worker} workers {flops} FLOPs", f"{roots} roots", scheduler]
                                  for kind in ("phases", "individual"))
            lines.append([figure, f"{tree}, {flops:,} operations, {roots:,} roots", scheduler, show(1e3 * phases),
                          show(1e3 * individual), show(phases / individual)])
    return report.table(["figure", "tree", "scheduler", "phases, ms", "individual, ms", "phases' time to individual's"], lines)


# ------------------------------------------------------------------------------------------------------ Task progression


@block
def progression_queues():
    name = "h200-engine.csv"
    rows = read(name)

    def values(experiment, variant, column):
        return statistics.median(float(row[column]) for row in rows
                                 if row["experiment"] == experiment and row["variant"] == variant)

    def speed(variant):
        return values("study", variant, "tasks_per_second") / 1e6

    def count(variant, column):
        return values("study-counts", variant, column)

    multi = {f"{kind} {rings}": speed(f"multi-{kind} {rings} rings") for kind in "ab" for rings in (220, 110, 55)}
    fastest = max(multi, key=multi.get)
    scanning, single = speed("scanning"), speed("single")
    others = max(count(v, "memory_per_task") for v in ("single", "multi-a 220 rings", "multi-b 220 rings"))
    conditions = "other GPU; 4·10⁶ tasks, not 10⁸"
    hashes = "here b sends both children to other teams, a the right one to the next ring; no row shows the cost of that"
    return compare([
        ("3a", "single queue, M tasks/s", "0.315", single, name, conditions + "; ours is first in, first out, and backs off"),
        ("3a", f"fastest multi-queue ({fastest} rings here), M tasks/s", "38", multi[fastest], name,
         conditions + "; ours has counters, no locks"),
        ("3a", "scanning's speed / single's", "3", scanning / single, name,
         "ours goes on where it stopped, and stops where nothing is ready"),
        ("3a", "multi-queue's / single's", "100", multi[fastest] / single, name, "as above; 38 and 0.315 would give 121"),
        ("3a", "multi-queue's / scanning's", "27", multi[fastest] / scanning, name, "as above"),
        ("3a", "hash b's / a's, as many rings as blocks", "1.13", multi["b 220"] / multi["a 220"], name, hashes),
        ("3a", "… half as many", "1.06", multi["b 110"] / multi["a 110"], name, hashes),
        ("3a", "… a quarter", "no gain", multi["b 55"] / multi["a 55"], name, hashes),
        ("3a", "a: speed with as many rings as blocks / with a quarter", "more than 1", multi["a 220"] / multi["a 55"],
         name, "locks there, shared by fewer blocks the more rings there are; ours has counters (changed one by one above)"),
        ("3a", "b: the same", "more than 1", multi["b 220"] / multi["b 55"], name, "the same"),
        ("3b", "compare-and-swaps a task, single", "over 100 × multi's", count("single", "cas_per_task"), name,
         "the lock, as there"),
        ("3b", "… scanning", "over 100 × multi's", count("scanning", "cas_per_task"), name,
         "ours tries only marks that it has read as ready"),
        ("3b", "… multi-queue a", "no number", count("multi-a 220 rings", "cas_per_task"), name, "no locks"),
        ("3c", "loads and stores a task, scanning's / the next", "20", count("scanning", "memory_per_task") / others, name,
         "smaller grid; ours stops scanning where nothing is ready; waiting for work is counted, too"),
        ("–", "the same grid, our shared queue, M tasks/s", "–", speed("shared"), name, "not in the paper"),
        ("–", "… our best, its own workers and blocks", "–", speed("best"), name, "not in the paper"),
        ("3a", "10⁸ tasks, our best, M tasks/s", "38", values("throughput", "best", "tasks_per_second") / 1e6, name,
         "not its algorithms: stealing queue, thread workers, children stay with their worker"),
    ])


PROGRESSION = "h100-progression.csv"  # may be missing: what needs it is "not run" then
PROGRESSION_RUN = "taskdag_progression_bench --also own mixed fifo backoff spread"
PROGRESSION_GRID, PROGRESSION_LARGE = "wavefront 500x500", "wavefront 10000x10000"
PROGRESSION_SHARES = (25, 50, 75, 100)
PROGRESSION_SHAPES = "host-progression-shapes.csv"
PROGRESSION_HUBS = "h100-progression-rmat.csv"  # may be missing


def progression_values(column, name=PROGRESSION):
    """(graph, variant) → a number of the rows that have one."""
    if not os.path.exists(path(name)):
        return {}
    return {(row["dag"], row["variant"]): float(row[column]) for row in read(name) if row[column]}


def over(one_value, other):
    """Their ratio; None where one is missing."""
    return None if one_value is None or other is None else one_value / other


def fastest(speeds, dag, variants):
    """Name and speed of the fastest of these; None, None where there is none."""
    found = [(speeds[dag, variant], variant) for variant in variants if (dag, variant) in speeds]
    return max(found)[::-1] if found else (None, None)


@block
def progression_listings():
    speeds = {place: speed / 1e6 for place, speed in progression_values("tasks_per_second").items()}
    if not speeds:
        return [f"Not run: needs a GPU run of `{PROGRESSION_RUN}`."]
    cas, memory = progression_values("cas_per_task"), progression_values("memory_per_task")
    multi = [f"multi {kind} {share} %" for kind in "ab" for share in PROGRESSION_SHARES]
    large_name, large = fastest(speeds, PROGRESSION_LARGE, multi)
    _, small = fastest(speeds, PROGRESSION_GRID, multi)
    single, scanning = (speeds.get((PROGRESSION_GRID, name)) for name in ("single", "scanning"))

    def ratio_on(dag, one_variant, other):
        return over(speeds.get((dag, one_variant)), speeds.get((dag, other)))

    def next_most():
        others = [memory[PROGRESSION_GRID, name] for name in ["single"] + multi if (PROGRESSION_GRID, name) in memory]
        return max(others) if others else None

    grids = "other GPU; 500 × 500, not 10⁸ tasks"
    entries = [
        ("3a", "single queue, M tasks/s", "0.315", single, grids),
        ("3a", f"fastest multi-queue ({large_name or 'none'} here), M tasks/s", "38", large, "other GPU"),
        ("3a", "scanning's speed / single's", "3", over(scanning, single), grids + "; scanning's cost grows with the grid"),
        ("3a", "multi-queue's / single's, on one grid", "100", over(small, single), grids + ", whose waves are short"),
        ("3a", "… 10⁸ tasks against 500 × 500", "100", over(large, single), "other GPU; two grids"),
        ("3a", "multi-queue's / scanning's, on one grid", "27", over(small, scanning), grids + ", whose waves are short")]
    for what, share, paper in (("hash b's / a's, as many queues as blocks", 100, "1.13"), ("… three quarters", 75, "no row"),
                               ("… half as many", 50, "1.06"), ("… a quarter", 25, "no gain")):
        quotient = ratio_on(PROGRESSION_LARGE, f"multi b {share} %", f"multi a {share} %")
        entries.append(("3a", what, paper, quotient, "other GPU" if quotient else "its time was up before multi b"))
    for kind in "ab":
        entries.append(("3a", f"{kind}: speed with as many queues as blocks / with a quarter", "more than 1",
                        ratio_on(PROGRESSION_LARGE, f"multi {kind} 100 %", f"multi {kind} 25 %"), "other GPU"))
    for name in ("single", "scanning"):
        entries.append(("3b", f"compare-and-swaps a task, {name}'s / multi-queue a's", "more than 100",
                        over(cas.get((PROGRESSION_GRID, name)), cas.get((PROGRESSION_GRID, "multi a 100 %"))),
                        grids + ("" if name == "single" else "; listing 2 tries where it has read a 0, listing 4 until it has a lock")))
    entries.append(("3c", "loads and stores a task, scanning's / the next", "20",
                    over(memory.get((PROGRESSION_GRID, "scanning")), next_most()), grids + "; counted in the source, not by nvprof"))
    return compare([(where, what, paper, ours, PROGRESSION, why) for where, what, paper, ours, why in entries])


@block
def progression_figures():
    """Figures 3a to 3c as numbers: each form of the listings on both grids."""
    speeds = {place: speed / 1e6 for place, speed in progression_values("tasks_per_second").items()}
    if not speeds:
        return [f"Not run: needs a GPU run of `{PROGRESSION_RUN}`."]
    cas, memory = progression_values("cas_per_task"), progression_values("memory_per_task")
    forms = ["single", "scanning"] + [f"multi {kind} {share} %" for kind in "ab" for share in PROGRESSION_SHARES]
    columns = ((speeds, PROGRESSION_LARGE), (speeds, PROGRESSION_GRID), (cas, PROGRESSION_GRID), (memory, PROGRESSION_GRID))
    lines = [[form] + [show(values[grid, form]) if (grid, form) in values else "–" for values, grid in columns] for form in forms]
    return report.table(["form", "10⁸ tasks, M tasks/s", "500 × 500, M tasks/s", "compare-and-swaps a task", "loads and stores a task"],
                        lines)


@block
def progression_changes():
    speeds = {place: speed / 1e6 for place, speed in progression_values("tasks_per_second").items()}
    if not speeds:
        return [f"Not run: needs a GPU run of `{PROGRESSION_RUN}`."]

    def line(what, name, own=False):
        a, a_few, b, b_few = (speeds.get((PROGRESSION_GRID, name.format(kind, "" if own and share == 100 else f" {share} %")))
                              for kind in "ab" for share in (100, 25))
        return [what] + [show(v) for v in (a, b, a_few, b_few, over(b, a), over(b_few, a_few), over(a, a_few), over(b, b_few))]

    lines = [line("as in listing 4", "multi {}{}"), line("first in, first out", "multi {}{}, fifo"),
             line("who waits for a lock backs off", "multi {}{}, backoff"),
             line("locks in cache lines of their own", "multi {}{}, spread"),
             line("the engine's: counters, no locks", "own multi {}{}", own=True)]
    return report.table(["queues", "a, 100 %", "b, 100 %", "a, 25 %", "b, 25 %", "b / a, 100 %", "b / a, 25 %", "a, 100 % / 25 %",
                         "b, 100 % / 25 %"], lines)


@block
def progression_irregular():
    speeds = {place: speed / 1e6 for place, speed in progression_values("tasks_per_second").items()}
    if not speeds:
        return [f"Not run: needs a GPU run of `{PROGRESSION_RUN}`."]
    graphs = {row["dag"]: row for row in read(PROGRESSION) if not row["dag"].startswith("wavefront")}
    multi = [f"multi {kind} {share} %" for kind in "ab" for share in PROGRESSION_SHARES]
    columns = ("scanning", "single", "multi a 100 %", "multi b 100 %", "multi mixed 100 %")
    own = ("own multi a", "own multi b", "own shared", "own stealing", "own best")
    lines = []
    for dag, row in graphs.items():
        name, speed = fastest(speeds, dag, multi)
        lines.append([dag] + [show(int(row[column])) for column in ("tasks", "edges", "levels")] +
                     [show(speeds.get((dag, variant))) for variant in columns] +
                     ["–" if name is None else f"{show(speed)} ({name.removeprefix('multi ')})"] +
                     [show(speeds.get((dag, variant))) for variant in own])
    return report.table(["graph", "tasks", "edges", "levels", *columns, "fastest multi", *own], lines)


@block
def progression_shapes():
    """What of the irregular graphs is one after the other, and how long a resolution would take if it were that alone."""
    speeds = {**progression_values("tasks_per_second", PROGRESSION_HUBS), **progression_values("tasks_per_second")}
    lines = []
    with open(path(PROGRESSION_SHAPES), newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            chain, speed = int(row["longest_chain"]), speeds.get((row["dag"], "own best"))
            ms = 1e3 * int(row["tasks"]) / speed if speed else None
            lines.append([row["dag"], show(int(row["levels"])), show(int(row["edges"]) / int(row["tasks"])),
                          show(int(row["most_successors"])), f"{100 * int(row['edges_of_many']) / int(row['edges']):.0f}", show(chain),
                          show(ms), show(1e6 * ms / chain if ms else None)])
    return report.table(["graph", "levels", "successors, mean", "most", "edges of tasks with more than 100, %",
                         "resolutions one after the other", "`own best`, ms", "ns for each of them"], lines)


@block
def progression_hubs():
    """Milliseconds of each form by the most successors that a task may have, and for each resolution that must wait for another."""
    seconds = progression_values("seconds", PROGRESSION_HUBS)
    if not seconds:
        return [f"Not run: needs a GPU run of `taskdag_progression_bench` whose rows would be `{PROGRESSION_HUBS}`."]
    with open(path(PROGRESSION_SHAPES), newline="", encoding="utf-8") as file:
        shapes = {row["dag"]: row for row in csv.DictReader(file)}
    graphs = list(dict.fromkeys(dag for dag, _ in seconds))
    lines = []
    for variant in dict.fromkeys(variant for _, variant in seconds):
        ms = [1e3 * seconds[dag, variant] if (dag, variant) in seconds else None for dag in graphs]
        least = min(time for time in ms if time)
        each = [over(1e6 * time, float(shapes[dag]["longest_chain"])) if time else None for time, dag in zip(ms, graphs)]
        lines.append([f"`{variant}`"] + [show(time) for time in ms] + [show(over(ms[0], least)), show(each[0]), show(each[-1])])
    chains = [show(int(shapes[dag]["longest_chain"])) for dag in graphs]
    numbers = [show(int(shapes[dag]["tasks"])) for dag in graphs]
    lines += [["tasks"] + numbers + ["–"] * 3, ["resolutions one after the other"] + chains + ["–"] * 3]
    most = [show(int(shapes[dag]["most_successors"])) for dag in graphs]
    return report.table(["form"] + [f"{number} successors at most, ms" for number in most] +
                        ["uncut / the least", "uncut, ns for each of the resolutions", f"{most[-1]} at most, the same"], lines)


# --------------------------------------------------------------------------------------------------------- Barrier lists


HOST = "host-schedules-16.csv"


def host_sets(name):
    """set → {matrix: {schedule: row}}; refuses a file with a wrong result."""
    sets = {key: matrices for (_, key), matrices in host_tables.read([path(name)]).items()}
    for matrices in sets.values():
        for by_schedule in matrices.values():
            if any(not float(row["error"]) <= 1e-12 for row in by_schedule.values()):
                raise ValueError(f"{name} has a wrong result")
    return sets


def speedups(matrices, schedule):
    return host_tables.values(matrices, schedule, lambda row, by: float(row["speedup"]))


def set_name(key, matrices):
    return f"{published.BARRIER_SETS[key]} ({published.BARRIER_MATRICES[key]} there, {len(matrices)} here)"


@block
def barrier_speed():
    sets = host_sets(HOST)
    lines = []
    for key, theirs in published.BARRIER_SPEEDUP.items():
        for (schedule, name), paper in zip(published.BARRIER_NAMES.items(), theirs):
            values = speedups(sets[key], schedule)
            low, middle, high = quartiles(values)
            lines.append([set_name(key, sets[key]), name, f"`{schedule}`", show(paper), show(mean(values)),
                          f"{show(low)}, {show(middle)}, {show(high)}", show(mean(values) / paper)])
    return report.table(["set", "algorithm", "variant here", "paper, 22 cores", "ours, 16 cores", "quartiles of ours",
                         "ours / paper"], lines)


@block
def barrier_ratios():
    sets = host_sets(HOST)

    def faster(key, schedule, rival):
        return mean(speedups(sets[key], schedule)) / mean(speedups(sets[key], rival))

    rivals = "rivals made anew, not their authors' programs; other matrices; 16 cores, not 22"
    beyond = "runs of rows and waits are not the paper's"
    entries = []
    for key, schedule, rival, paper in (
            ("real", "locking", "p2p", "1.45"), ("real", "locking", "hdagg", "3.24"), ("erdos-renyi", "pivotal-path", "p2p", "1.62"),
            ("erdos-renyi", "pivotal-path", "hdagg", "1.87"), ("erdos-renyi", "locking", "p2p", None),
            ("narrow-band", "pivotal-path", "p2p", None)):
        table = dict(zip(published.BARRIER_NAMES, published.BARRIER_SPEEDUP[key]))
        entries.append(("text" if paper else "7.1", f"{published.BARRIER_SETS[key]}: {published.BARRIER_NAMES[schedule]}'s speed / "
                        f"{published.BARRIER_NAMES[rival]}'s", paper or table[schedule] / table[rival],
                        faster(key, schedule, rival), HOST, rivals))
    entries += [("–", f"{published.BARRIER_SETS.get(key, 'stencils')}: `locking, runs, waits` / `p2p`", "–",
                 faster(key, "locking, runs, waits", "p2p"), HOST, beyond) for key in sets]
    return compare(entries)


@block
def barrier_supersteps():
    name = "host-barriers-22.csv"
    with open(path(name), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    lines = []
    for key, theirs in published.BARRIER_SUPERSTEPS.items():
        for (schedule, algorithm), paper in zip(published.BARRIER_NAMES.items(), theirs):
            values = [float(row["wavefronts"]) / float(row["supersteps"]) for row in rows
                      if row["set"] == key and row["schedule"] == schedule]
            if paper:
                lines.append([set_name(key, values), algorithm, f"`{schedule}`", show(paper), show(mean(values)), show(mean(values) / paper)])
    return report.table(["set", "algorithm", "variant here", "paper", "ours", "ours / paper"], lines)


@block
def barrier_cores():
    entries = []
    for cores, name, why in ((8, "host-schedules-8.csv", "an earlier form of waiting, on another machine than the 16 cores"),
                             (16, HOST, "other matrices, other machine")):
        matrices = host_sets(name)["real"]
        for paper, schedule in zip(published.BARRIER_CORES[cores], ("locking", "pivotal-path")):
            entries.append(("7.6", f"{cores} cores, {published.BARRIER_NAMES[schedule]}", paper, mean(speedups(matrices, schedule)),
                            name, why))
    return compare(entries)


@block
def barrier_amortisation():
    matrices = host_sets(HOST)["real"]
    lines = []
    for (schedule, name), paper in zip(published.BARRIER_NAMES.items(), published.BARRIER_AMORTISATION):
        ours = quartiles(host_tables.values(matrices, schedule, lambda row, by: float(row["amortisation"])))
        lines.append([name, f"`{schedule}`", ", ".join(map(show, paper)), ", ".join(map(show, ours)), show(ours[1] / paper[1])])
    return report.table(["algorithm", "variant here", "paper: quartiles", f"ours: quartiles, {len(matrices)} matrices",
                         "medians, ours / paper"], lines)


@block
def barrier_profile():
    matrices = host_sets(HOST)["real"]
    names = list(published.BARRIER_NAMES)
    times = [[float(by_schedule[name]["solve_ms"]) for name in names] for by_schedule in matrices.values()]
    bounds = (1.0, 1.1, 1.25, 1.5, 2.0, 4.0)
    lines = []
    for k, name in enumerate(names):
        within = [sum(row[k] <= bound * min(row) for row in times) for bound in bounds]
        lines.append([published.BARRIER_NAMES[name], f"`{name}`"] + [f"{count} of {len(times)}" for count in within])
    return report.table(["algorithm", "variant here"] + ["fastest" if b == 1.0 else f"within {b:g} ×" for b in bounds], lines)


@block
def barrier_matrices():
    lines = []
    for key, count in published.BARRIER_MATRICES.items():
        cells = []
        for name in (HOST, "host-barriers-22.csv"):
            with open(path(name), newline="", encoding="utf-8") as file:
                found = {row["matrix"]: row for row in csv.DictReader(file) if row["set"] == key}
            large = [row for row in found.values()
                     if 2 * int(row["entries"]) - int(row["rows"]) >= published.BARRIER_LEAST_FLOPS and
                     int(row["rows"]) / int(row["wavefronts"]) >= published.BARRIER_LEAST_WAVEFRONT]
            cells.append(f"{len(found)} ({len(large)})" if key == "real" else str(len(found)))
        lines.append([published.BARRIER_SETS[key], str(count)] + cells)
    return report.table(["set", "paper", "ours, speed (of them as large as the paper's)", "ours, supersteps (the same)"], lines)


# -------------------------------------------------------------------------------------------------------------------- ATA


SCHEDULES = "h200-schedules.csv"
ATA_ROWS = "h100-ata.csv"  # may be missing: what needs it is "not run" then
ATA_PCG_ROWS = "h100-ata-pcg.csv"  # likewise
ATA_PCG_WARPS = "h100-ata-pcg-warps.csv"  # likewise: a later run, with a warp a row, too
ATA_PCG_OTHERS = "h200-ata-pcg-warps.csv"  # likewise: of the problems that had no time in that run
ATA_PCG_FILES = (ATA_PCG_ROWS, ATA_PCG_WARPS, ATA_PCG_OTHERS)
ATA_RULE = "h100-ata-rule.csv"  # likewise
ATA_G3 = "h100-ata-g3.csv"  # likewise
ATA_STUDY = "h100-ata-study.csv"  # likewise
ATA_CLASSES = "h100-ata-classes.csv"  # likewise
ATA_POLICIES = {"CA": "ata-concurrency", "LA": "ata-locality", "greedy": "ata-greedy"}
ATA_NAMES = {schedule: name for name, schedule in ATA_POLICIES.items()}
TRIANGLES, COLUMNS = ("lower", "upper"), ("ilu0 columns",)
CLASSES = ("wide", "L-shape", "parallel")
ATA = "ata-concurrency"


def solves(name=SCHEDULES):
    return list(report.read([path(name)]).solves.values())


def faster(schedule, rival, dag_class=None, of=None):
    """Mean over the solves of the rival's time to the schedule's. rival: a name, or several: the fastest of them."""
    rivals = (rival,) if isinstance(rival, str) else rival
    return mean([min(by[r]["milliseconds"] for r in rivals) / by[schedule]["milliseconds"] for by in of or solves()
                 if dag_class in (None, by[schedule]["class"])])


def ata_cases(whats, schedules, flow="pull", share="false", name=ATA_ROWS):
    """(problem, what) → schedule → row of `taskdag_bench ata`, with the S of Eq. (1) and (2) and by CUDA graphs, where there
    are rows of all `schedules`. Nothing where the file is not there."""
    found = {}
    for row in read(name) if os.path.exists(path(name)) else []:
        usual = not row["S_given"] and row["R"] in ("", "100") and row["coarse"] in ("", "graph")
        if not usual or row["what"] not in whats or row["flow"] != flow:
            continue
        if row["rows_share_warps"] != share and row["schedule"] != "self":  # a warp a row is all that self has
            continue
        numbers = {column: float(row.get(column) or "nan")
                   for column in ("milliseconds", "unmanaged_ms", "aggregation_ms", "analysis_ms")}
        found.setdefault((row["problem"], row["what"]), {})[row["schedule"]] = {**row, **numbers}
    return {case: by for case, by in found.items() if all(schedule in by for schedule in schedules)}


def by_a_warp_a_row(whats, schedules, flow="pull"):
    """The same of the problems by class, each row by a warp, as in the paper."""
    return ata_cases(whats, schedules, flow, name=ATA_CLASSES)


def over_others(whats, flow="pull"):
    """CA over a launch a level and self-scheduling."""
    cases = by_a_warp_a_row(whats, (ATA, "level-launch", "self"), flow)
    return mean([faster(ATA, rival, of=cases.values()) for rival in ("level-launch", "self")]) if cases else "not run"


def over_rival(schedule, rival, whats, flow="pull", dag_class=None):
    of = [by for by in by_a_warp_a_row(whats, (schedule, rival), flow).values() if dag_class in (None, by[schedule]["class"])]
    return faster(schedule, rival, of=of) if of else "not run"


def over_unmanaged(whats, schedule, flow="pull"):
    cases = by_a_warp_a_row(whats, (schedule,), flow).values()
    return mean([by[schedule]["milliseconds"] / by[schedule]["unmanaged_ms"] for by in cases]) if cases else "not run"


def push_over_pull(schedule):
    pull, push = (by_a_warp_a_row(TRIANGLES, (schedule,), flow) for flow in ("pull", "push"))
    both = [case for case in pull if case in push]
    return mean([pull[case][schedule]["milliseconds"] / push[case][schedule]["milliseconds"] for case in both]) if both else "not run"


def over_greedy(share):
    """CA over greedy, pull. share: whether short rows share warps."""
    greedy = ATA_POLICIES["greedy"]
    cases = ata_cases(TRIANGLES, (ATA, greedy), share=share)
    return mean([by[greedy]["milliseconds"] / by[ATA]["milliseconds"] for by in cases.values()]) if cases else "not run"


def preparations(schedule, column):
    """Milliseconds of the aggregation alone or of the whole analysis: mean and most."""
    times = [by[schedule][column] for by in by_a_warp_a_row(TRIANGLES, (schedule,)).values()]
    return (mean(times), max(times)) if times else ("not run", "not run")


PCG_WARPS = {"false": "a warp a row", "true": "short rows share warps"}  # rows of `self` never share: they are in both


PCG_COMPARED = ("level-launch", "self", ATA, "ata-greedy")


def pcg_file(name, share):
    """problem → schedule → row of ata_pcg.sh. Nothing where the file is not there. Rows without the column shared warps."""
    found = {}
    for row in read(name) if os.path.exists(path(name)) else []:
        if row["schedule"] == "self" or row.get("rows_share_warps", "true") == share:
            found.setdefault(row["problem"], {})[row["schedule"]] = row
    return {problem: by for problem, by in found.items() if list(by) != ["self"]}


def pcg_cases(share):
    """The same of all files. What is compared of a problem comes from one run, the later one where that has all of it; the
    other schedules from the other run where it lacks them."""
    older, later = pcg_file(ATA_PCG_ROWS, share), {**pcg_file(ATA_PCG_WARPS, share), **pcg_file(ATA_PCG_OTHERS, share)}
    found = {}
    for problem in dict.fromkeys([*older, *later]):
        by, other = later.get(problem, {}), older.get(problem, {})
        if other and not all(schedule in by for schedule in PCG_COMPARED):
            by, other = other, by
        found[problem] = {**{schedule: row for schedule, row in other.items() if schedule not in PCG_COMPARED}, **by}
    return found


def pcg_over(solved, rival, schedule=ATA):
    """Mean over the problems of the rival's time to the schedule's, set-up left out; and of how many problems."""
    pairs = [by for by in solved.values() if rival in by and schedule in by]
    return (mean([float(by[rival]["solve_s"]) / float(by[schedule]["solve_s"]) for by in pairs]) if pairs else "not run", len(pairs))


def pcg_time(row):
    """Milliseconds of a solve, and the percentage of its triangular solves where it is known."""
    return show(1e3 * float(row["solve_s"])) + (f" ({100 * float(row['share']):.0f})" if row["share"] else "")


@block
def ata_pcg():
    """Problem by problem."""
    solved = {share: pcg_cases(share) for share in PCG_WARPS}
    names = sorted({schedule for cases in solved.values() for by in cases.values() for schedule in by})
    if not names:
        return ["Not run: needs a GPU run of `ata_pcg.sh`."]
    lines = []
    for problem in dict.fromkeys(problem for cases in solved.values() for problem in cases):
        for share, warps in PCG_WARPS.items():
            by = solved[share].get(problem)
            if by:
                any_row = next(iter(by.values()))
                lines.append([problem, show(int(any_row["rows"])), any_row["iterations"], warps] +
                             [pcg_time(by[name]) if name in by else "–" for name in names])
    return report.table(["problem", "rows", "iterations", "warps"] + [f"`{name}`, ms (%)" for name in names], lines)


@block
def ata_baselines():
    count = len(solves())
    lines = []
    for schedule, what in ((ATA, "CA, Eq. 1 and 2"), ("ata-locality", "LA, Eq. 1 and 2"), ("ata-greedy", "greedy, Eq. 1 alone"),
                           ("auto", "what `auto` takes")):
        for rival in ("level-launch", "level-graph", "level-barrier", "self"):
            lines.append([f"`{schedule}`", what, f"`{rival}`", show(faster(schedule, rival))] +
                         [show(faster(schedule, rival, dag_class)) for dag_class in CLASSES])
    numbers = [len([by for by in solves() if by[ATA]["class"] == dag_class]) for dag_class in CLASSES]
    return report.table(["schedule", "granularity", "against", f"mean of {count} solves"] +
                        [f"{dag_class}, {number}" for dag_class, number in zip(CLASSES, numbers)], lines)


@block
def ata_speedups():
    runs = "other GPU, other problems; short rows share warps here, those of `self` do not"
    both = mean([faster(ATA, "level-launch"), faster(ATA, "self")])
    there = os.path.exists(path(ATA_CLASSES))
    needs = "other GPU, other problems; a warp a row, as in the paper" if there else "needs a GPU run of `taskdag_bench ata --classes`"
    joined = "ours: mean over `level-launch` and `self` together; " + needs if there else needs
    device = "on the device; the paper does not say where; other problems" if there else needs
    whole = "the aggregation, allocation, copies and packing; other problems" if there else needs
    rows = ATA_CLASSES if there else ""
    shared = os.path.exists(path(ATA_ROWS))
    of_ten = ATA_ROWS if shared else ""
    not_ten = "needs a GPU run of `taskdag_bench ata`"
    entries = [
        ("text of 8", f"SpTS, pull, CA over the others: Vega FE (on R9 Nano {published.ATA_PULL[1]})", published.ATA_PULL[0], both, SCHEDULES,
         "ours: mean over `level-launch` and `self` together; the paper does not say how it joins them; " + runs),
        ("text of 8", "… over the faster of both, solve by solve", "–", faster(ATA, ("level-launch", "self")), SCHEDULES, runs),
        ("text of 8", "SpTS, pull, a warp a row, CA over the others, likewise", published.ATA_PULL[0],
         over_others(TRIANGLES), rows, joined),
        ("8", f"SpTS, push, CA over the others: Vega FE (on R9 Nano {published.ATA_PUSH[1]})", published.ATA_PUSH[0],
         over_others(TRIANGLES, "push"), rows, joined),
        ("8", "… CA, push's speed / pull's", "–", push_over_pull(ATA), rows, needs),
        ("9", "SpILU0, by columns, CA over the others, Vega FE", published.ATA_ILU[0], over_others(COLUMNS), rows, joined),
        ("8", "CA's speed / LA's", "more than 1", faster(ATA, "ata-locality"), SCHEDULES, "–"),
        ("8", "… push, a warp a row", "more than 1", over_rival(ATA, "ata-locality", TRIANGLES, "push"), rows, needs),
        ("III-C", "CA's speed / greedy's", "more than 1", faster(ATA, "ata-greedy"), SCHEDULES,
         "short rows share warps: by S, see below" if shared else "not examined: S is in no row of this file"),
        ("III-C", "… likewise", "more than 1", over_greedy("true"), of_ten,
         "short rows share warps: by S, see below" if shared else not_ten),
        ("III-C", "… a warp a row, pull", "more than 1", over_rival(ATA, "ata-greedy", TRIANGLES), rows, needs),
    ]
    for schedule, name in ((ATA, "CA"), ("level-launch", "level sets"), ("self", "self-scheduling")):
        for table, what, whats, flow in (("8", "SpTS, push", TRIANGLES, "push"), ("9", "SpILU0", COLUMNS, "pull")):
            entries.append((table, f"{what}, {name}: time / time without dependencies", "–",
                            over_unmanaged(whats, schedule, flow), rows, "a plot in the paper" if there else needs))
    for flow in ("push", "pull"):
        for dag_class, paper in zip(CLASSES, ("less than 1", "more than 1", "about 1, falls with fewer levels")):
            entries.append(("8", f"{flow}: speed of self-scheduling / of a launch a level, {dag_class}", paper,
                            over_rival("self", "level-launch", TRIANGLES, flow, dag_class), rows, needs))
    for name, schedule in (("CA", ATA), ("LA", "ata-locality")):
        entries.append(("10", f"aggregation alone, {name}, ms, mean", published.ATA_AGGREGATION[name],
                        preparations(schedule, "aggregation_ms")[0], rows, device))
    entries.append(("10", "… CA, most", published.ATA_AGGREGATION["most"], preparations(ATA, "aggregation_ms")[1], rows, device))
    for name, schedule in (("CA", ATA), ("LA", "ata-locality")):
        entries.append(("10", f"the whole analysis, {name}, ms, mean", published.ATA_AGGREGATION[name],
                        preparations(schedule, "analysis_ms")[0], rows, whole))
    entries.append(("10", "… CA, most", published.ATA_AGGREGATION["most"], preparations(ATA, "analysis_ms")[1], rows, whole))
    shares = []
    for share, warps in PCG_WARPS.items():
        solved, way = pcg_cases(share), "other GPU, other problems; " + (
            "a warp a row, as in the paper" if share == "false" else "short rows share warps here, those of `self` do not")
        if not solved:
            way = "needs a GPU run of `ata_pcg.sh`"
        files = [name for name in ATA_PCG_FILES if pcg_file(name, share)]
        for rival, name in (("level-launch", "level sets"), ("self", "self-scheduling")):
            for schedule, paper in ((ATA, published.ATA_PCG[rival]), ("ata-greedy", "–")):
                ours, count = pcg_over(solved, rival, schedule)
                entries.append(("11", f"PCG, {warps}, {count} problems, time by {name} / by {'CA' if schedule == ATA else 'greedy'}",
                                paper, ours, "`, `".join(files), way))
            if share == "true":
                same = {problem: by for problem, by in solved.items() if ATA in pcg_cases("false").get(problem, {})}
                if same and len(same) < len(solved):
                    entries.append(("11", f"… CA, the {len(same)} problems that have rows with a warp a row", "–", pcg_over(same, rival)[0],
                                    "`, `".join(files), way))
        shares += [100 * float(row["share"]) for by in solved.values() for row in by.values() if row["share"]]
    span = f"{min(shares):.0f} to {max(shares):.0f}" if shares else "not run"
    entries.append(("11", "share of a solve's time in triangular solves, percent", published.ATA_PCG_SHARE, span,
                    "`, `".join(name for name in ATA_PCG_FILES if os.path.exists(path(name))) if shares else "",
                    "in the paper with the factorisation; here it is set-up" if shares else "needs a GPU run of `ata_pcg.sh`"))
    return compare(entries)


@block
def ata_problems():
    shallow = report.read([path("h200-schedules-shallow.csv")]).solves
    results = list(report.read([path(SCHEDULES)]).solves.items())
    results += [(system, by) for system, by in shallow.items() if system.problem.startswith("parabolic_fem")]
    lines = []
    for system, by in results:
        time = by[ATA]["milliseconds"]
        lines.append([system.problem, system.triangle, by[ATA]["class"], by[ATA]["levels"], show(time)] +
                     [show(by[other]["milliseconds"] / time) for other in
                      ("level-launch", "level-graph", "level-barrier", "self", "ata-locality", "ata-greedy", "auto")])
    return report.table(["problem", "triangle", "class", "levels", "CA, ms", "level-launch / CA", "level-graph", "level-barrier",
                         "self", "LA", "greedy", "auto"], lines)


@block
def ata_sizes():
    lines = []
    cases = {case: by for name in (ATA_ROWS, ATA_G3) for case, by in ata_cases(TRIANGLES, ATA_POLICIES.values(), share="true", name=name).items()}
    for (problem, triangle), by in cases.items():
        measured = [show(float(by[ATA][column])) if by[ATA][column] else "–" for column in ("T_l_us", "T_u_us")]
        lines.append([problem, triangle, by[ATA]["class"], show(int(by[ATA]["rows"]))] + measured +
                     [f"{show(int(by[name]['S']))} ({by[name]['tasks']})" for name in ATA_POLICIES.values()])
    if not lines:
        return ["Not run: needs a GPU run of `taskdag_bench ata`."]
    return report.table(["problem", "triangle", "class", "rows", "T_l, µs", "T_u, µs"] +
                        [f"S of {name}, rows (tasks)" for name in ATA_POLICIES], lines)


def there_or_not_run(name, option):
    """The rows of a file of `taskdag_bench ata`, and what to say where it is not there."""
    if os.path.exists(path(name)):
        return read(name), []
    return [], [f"Not run: needs a GPU run of `taskdag_bench ata {option}`, whose rows would be `{name}`."]


def ata_studied():
    """(problem, policy) → (row of what is chosen, rows of a given S, R → row)."""
    found = {}
    for row in there_or_not_run(ATA_STUDY, "--study")[0]:
        case = found.setdefault((row["problem"], row["schedule"]), {"chosen": None, "given": [], "ratio": {}})
        if row["S_given"]:
            case["given"].append(row)
        elif row["R"] in ("", "100"):
            case["chosen"] = row
        if not row["S_given"] and row["R"]:
            case["ratio"][row["R"]] = row
    return {case: by for case, by in found.items() if by["chosen"]}


def close_to_best(slower):
    """By policy's name: of how many of its problems the time is within 5 % of the best. slower: policy → ratios."""
    return {name: f"{name} {sum(ratio <= 1.05 for ratio in slower[policy])} of {len(slower[policy])}"
            for name, policy in ATA_POLICIES.items() if policy in slower}


@block
def ata_study():
    rows, lines = there_or_not_run(ATA_STUDY, "--study")
    if not rows:
        return lines
    slower = {}
    for (problem, policy), by in ata_studied().items():
        chosen = by["chosen"]
        time = float(chosen["milliseconds"])
        best = min(by["given"] + [chosen], key=lambda row: float(row["milliseconds"]))
        slower.setdefault(policy, []).append(time / float(best["milliseconds"]))
        lines.append([problem, chosen["class"], ATA_NAMES[policy], f"{show(int(chosen['S']))} ({chosen['tasks']})", show(time),
                      f"{show(int(best['S']))} ({best['tasks']})", show(float(best["milliseconds"])), show(slower[policy][-1])])
    return report.table(["problem", "class", "policy", "chosen S, rows (tasks)", "ms", "best S, rows (tasks)", "ms",
                         "chosen / best"], lines) + ["", "Within 5 % of the best S: " + ", ".join(close_to_best(slower).values()) + "."]


@block
def ata_rule():
    rows, lines = there_or_not_run(ATA_STUDY, "--study")
    if not rows:
        return lines
    slower = {}
    for (problem, policy), by in ata_studied().items():
        if policy == "ata-locality":
            continue
        chosen = by["chosen"]
        ruled = next((row for row in by["given"] if row["S_given"] == "levels"), None)
        if not ruled:
            continue
        best = min(float(row["milliseconds"]) for row in by["given"] + [chosen])
        slower.setdefault(policy, []).append(float(ruled["milliseconds"]) / best)
        lines.append([problem, ATA_NAMES[policy], show(int(chosen["levels"])), show(int(ruled["S"])),
                      show(slower[policy][-1]), show(float(chosen["milliseconds"]) / best)])
    close = [f"{text}, at most {show(max(slower[ATA_POLICIES[name]]))}" for name, text in close_to_best(slower).items()]
    return report.table(["problem", "policy", "levels", "S of the rule", "there / best", "Eq. (1) and (2) / best"],
                        lines) + ["", "Within 5 % of the best S: " + "; ".join(close) + "."]


@block
def ata_ratios():
    rows, lines = there_or_not_run(ATA_STUDY, "--study")
    if not rows:
        return lines
    ratios = ("1", "3", "10", "30", "300")
    for (problem, policy), by in ata_studied().items():
        chosen = by["chosen"]
        if not by["ratio"]:  # greedy knows no R
            continue
        time = float(chosen["milliseconds"])
        times = [float(by["ratio"][r]["milliseconds"]) / time if r in by["ratio"] else None for r in ratios]
        lines.append([problem, ATA_NAMES[policy], show(float(chosen["T_l_us"])), show(float(chosen["T_u_us"])), show(int(chosen["rows"])),
                      show(int(chosen["S"]))] + [show(time) for time in times])
    return report.table(["problem", "policy", "T_l, µs", "T_u, µs", "rows", "S at R = 100"] +
                        [f"R = {r}: time / R = 100" for r in ratios], lines)


@block
def ata_classes():
    rows, lines = there_or_not_run(ATA_CLASSES, "--classes")
    if not rows:
        return lines
    cases = {}
    for row in rows:
        cases.setdefault((row["class"], row["what"], row["flow"], row["problem"]), {})[row["schedule"]] = float(row["milliseconds"])
    wanted = (ATA, "level-launch", "self", "ata-locality", "ata-greedy")
    for dag_class in CLASSES:
        for what, flow, name in (("lower", "push", "SpTS, push"), ("lower", "pull", "SpTS, pull"), ("ilu0 columns", "pull", "SpILU0")):
            of = [by for (c, w, f, _), by in cases.items() if (c, w, f) == (dag_class, what, flow) and all(s in by for s in wanted)]
            if of:
                lines.append([dag_class, name, str(len(of))] +
                             [show(mean([by[rival] / by[ATA] for by in of])) for rival in wanted[1:]] +
                             [show(mean([min(by["level-launch"], by["self"]) / by[ATA] for by in of]))])
    return report.table(["class", "what", "problems", "level-launch / CA", "self / CA", "LA / CA", "greedy / CA",
                         "the faster of the first two / CA"], lines)


RULED = (("lower", "true", "solve, rows share warps"), ("lower", "false", "solve, a warp a row"), ("ilu0 rows", "false", "ILU(0) by rows"))


@block
def ata_rule_classes():
    """Both sizes on the problems by class: the paper's equations, and warps and levels."""
    rows, lines = there_or_not_run(ATA_RULE, "--sizes")
    if not rows:
        return lines
    cases = {}
    for row in rows:
        by = cases.setdefault((row["what"], row["rows_share_warps"], row["class"], row["problem"]), {})
        by[row["schedule"], row["S_given"]] = float(row["milliseconds"])
    forms = [(schedule, size) for size in ("", "levels") for schedule in (ATA, "ata-greedy")]
    for what, share, name in RULED:
        for dag_class in CLASSES + (None,):
            of = [by for (w, s, c, _), by in cases.items() if (w, s) == (what, share) and dag_class in (None, c) and
                  all(form in by for form in forms)]
            if not of:
                continue
            line = [name, dag_class or "all", str(len(of))]
            for schedule in (ATA, "ata-greedy"):
                ratios = [by[schedule, ""] / by[schedule, "levels"] for by in of]
                line.append(f"{show(mean(ratios))} ({show(min(ratios))} … {show(max(ratios))})")
            lines.append(line + [str(sum(by[form] <= 1.05 * min(by.values()) for by in of)) for form in forms])
    both = [(by[ATA, ""], cases["lower", "true", dag_class, problem][ATA, "levels"]) for (what, share, dag_class, problem), by
            in cases.items() if (what, share) == ("lower", "false") and (ATA, "") in by and
            (ATA, "levels") in cases.get(("lower", "true", dag_class, problem), {})]
    words = ["", f"Solves by CA, {len(both)} problems: by the equations with a warp a row they take "
             f"{show(mean([e / r for e, r in both]))} times as long as by the", "rule where rows share warps, in the mean."] if both else []
    return report.table(["what", "class", "problems", "CA: by the equations / by the rule", "greedy: the same",
                         "within 5 % of the least of four: CA, equations", "greedy, equations", "CA, rule", "greedy, rule"], lines) + words


@block
def ata_g3():
    """G3_circuit in all forms: milliseconds."""
    rows, lines = there_or_not_run(ATA_G3, "--table --only G3_circuit")
    if not rows:
        return lines
    forms = ("level-launch", "level-graph", "level-barrier", "self") + tuple(ATA_POLICIES.values())
    places = {}
    for row in rows:
        place = places.setdefault((row["what"], row["flow"], row["rows_share_warps"]), {})
        place[row["schedule"], "streams" if row["coarse"] == "streams" else ""] = row
    for (what, flow, share), by in places.items():
        if not all((name, "") in by for name in ("level-launch", ATA)):
            continue
        ms = {key: float(row["milliseconds"]) for key, row in by.items()}
        ca = by[ATA, ""]
        lines.append([what, flow, "shared" if share == "true" else "one a row"] + [show(ms.get((name, ""))) for name in forms] +
                     [show(ms.get((ATA, "streams"))), f"{show(int(ca['S']))} ({ca['tasks']})", show(ms["level-launch", ""] / ms[ATA, ""]),
                      show(over(ms.get(("self", "")), ms[ATA, ""])), show(float(ca["milliseconds"]) / float(ca["unmanaged_ms"]))])
    return report.table(["what", "flow", "warps"] + [f"`{name}`" if name not in ATA_NAMES else ATA_NAMES[name] for name in forms] +
                        ["CA by streams", "S of CA, rows (tasks)", "level-launch / CA", "self / CA", "CA: time / without dependencies"],
                        lines)


@block
def schedules_spsv():
    names = ("auto", "supernodes", "joined-levels", "cells", "flat", "level-launch", "level-graph", "level-barrier", "self",
             "ata-concurrency", "ata-locality", "ata-greedy", "locking", "pivotal-path", "hdagg", "cusparse")
    return report.table(list(names), [[show(faster(name, report.RIVAL)) for name in names]])


# ------------------------------------------------------------------------------------------------------------------- Atos


GRAPH = "h200-graph.csv"
# Of paper.sh, a file a part. They may be missing: what needs them is "not run" then.
GRAPH_WRITTEN, GRAPH_WRITTEN_HEAT = "h100-graph-written.csv", "h100-graph-written-heat.csv"
GRAPH_PERMUTED, GRAPH_LARGE = "h100-graph-permuted.csv", "h100-graph-large.csv"
GRAPH_KERNELS = ("h100-graph-kernels.csv", "h100-graph-written-kernels.csv")
GRAPH_ORDER, GRAPH_RIVAL = "host-graph-pagerank.csv", "h100-graph-rival.csv"
GRAPH_FRONTIERS = "host-graph-frontiers.csv"
GRAPH_IDLE, GRAPH_TIMELINE, GRAPH_TIMELINE_RUNS = "h100-graph-idle.csv", "h100-graph-timeline.csv", "h100-graph-timeline-runs.csv"
THREADS_OF_SM = 2048  # of a multiprocessor, on V100, H100 and H200
ATOS_FORMS = (  # ours, and what it is called in the paper
    ("megakernel 32-4 x16", "persist warp"), ("megakernel 32-32 x16", "persist warp"),
    ("megakernel 256-64 x16", "persist CTA"), ("timesliced 256-64 x16", "discrete CTA"), ("controller 256-64 x16", None))


def graph_places(name=GRAPH):
    return graph_report.by_place(read(name))


def by_class(pairs):
    """(is it scale-free, value) pairs → means of all, scale-free, meshes."""
    return [show(mean([value for scale_free, value in pairs if wanted in (None, scale_free)]))
            for wanted in (None, True, False)]


def atos_lines(paper, ours_of, forms_of=lambda algorithm: ATOS_FORMS):
    """paper: algorithm → form → five values; ours_of(algorithm, form) → pairs; forms_of(algorithm): as ATOS_FORMS."""
    lines = []
    for algorithm, forms in paper.items():
        def theirs(name, forms=forms):
            pairs = [(k < published.ATOS_SCALE_FREE, value) for k, value in enumerate(forms.get(name, ()))]
            return by_class(pairs) if pairs else ["–"] * 3

        for form, name in forms_of(algorithm):
            counterpart = name if name in forms else None
            its, ours = theirs(counterpart), by_class(ours_of(algorithm, form))
            lines.append([algorithm, f"`{form}`", counterpart or "none"] + its + ours +
                         [show(float(ours[0]) / float(its[0])) if counterpart else "–"])
    return lines


def atos_head(places):
    graphs = {graph: forms["bsp"]["class"] for (_, graph), forms in places.items()}
    scale_free = sum(kind == "scale-free" for kind in graphs.values())
    return ["algorithm", "form", "its counterpart", "paper: mean of 5", "scale-free, 3", "roads, 2",
            f"ours: mean of {len(graphs)}", f"scale-free, {scale_free}", f"meshes, {len(graphs) - scale_free}",
            "ours / paper"]


@block
def atos_speed():
    places = graph_places()

    def pairs(algorithm, form):
        return [(forms["bsp"]["class"] == "scale-free", float(forms["bsp"]["ms"]) / float(forms[form]["ms"]))
                for (name, _), forms in places.items() if name == algorithm]

    lines = atos_lines(published.ATOS_SPEEDUP, pairs)
    for algorithm, forms in published.ATOS_SPEEDUP.items():
        best = [max(values) for values in zip(*forms.values())]
        theirs = by_class([(k < published.ATOS_SCALE_FREE, value) for k, value in enumerate(best)])
        found = graph_report.speedups(graph_places(), "bsp")
        ours = [show(mean(found[algorithm, key])) for key in ("all", "scale-free", "mesh")]
        lines.append([algorithm, "the fastest of all on each graph", "the same"] + theirs + ours +
                     [show(float(ours[0]) / float(theirs[0]))])
    return report.table(atos_head(places), lines)


@block
def atos_headline():
    places = graph_places()
    entries = []
    names = {"bfs": "BFS", "pagerank": "PageRank", "colouring": "colouring"}
    for algorithm, paper in published.ATOS_HEADLINE.items():
        forms = {form: mean([float(by["bsp"]["ms"]) / float(by[form]["ms"]) for (name, _), by in places.items()
                             if name == algorithm]) for form, _ in ATOS_FORMS}
        best = max(forms, key=forms.get)
        which = min(published.ATOS_SPEEDUP[algorithm].items(), key=lambda item: abs(mean(item[1]) - paper))[0]
        entries.append(("1", f"{names[algorithm]}, one form on all graphs ({which} there, `{best}` here)", paper, forms[best],
                        GRAPH, "our own bulk synchronous form is the rival, not Gunrock; smaller graphs; H200, not V100; up to 16 rounds inside a worker, of which the paper has one"))
    usa, our = 604e3 / 6809, [1e3 * float(by["bsp"]["ms"]) / float(by["bsp"]["iterations"]) for (name, _), by in places.items()
                              if name == "bfs" and by["bsp"]["class"] == "mesh"]
    entries.append(("1, 2", "BFS, bulk synchronous, µs an iteration (road_usa there, mean of the meshes here)", usa, mean(our), GRAPH,
                    "the rival's iteration costs less here, so there is less to gain"))
    return compare(entries)


@block
def atos_rival():
    """Gunrock's time over ours; both ends of its PageRank, of its searches the fastest."""
    places, missing = if_there(GRAPH_RIVAL, "rival")
    if missing:
        return missing
    lines = []
    for (algorithm, graph), forms in sorted(places.items(), key=lambda place: place[0][0]):
        its = sorted((row for row in forms.values() if row["kind"] == "rival"), key=lambda row: float(row["ms"]))
        own = min((row for row in forms.values() if row["kind"] not in ("rival", "asynchronous")), key=lambda row: float(row["ms"]))
        bsp, tasks = forms["bsp"], graph_report.fastest(forms)
        best = [max(values) for values in zip(*published.ATOS_SPEEDUP[algorithm].values())]
        where = slice(published.ATOS_SCALE_FREE) if bsp["class"] == "scale-free" else slice(published.ATOS_SCALE_FREE, None)
        for row in its if algorithm == "pagerank" else its[:1]:
            ms = float(row["ms"])
            lines.append([algorithm, graph, bsp["class"], show(float(bsp["ms"])), f"{show(float(own['ms']))} (`{own['form']}`)",
                          f"{show(float(tasks['ms']))} (`{tasks['form']}`)", f"{show(ms)} (`{row['form']}`)", row["iterations"],
                          show(ms / float(bsp["ms"])), show(ms / float(own["ms"])), show(ms / float(tasks["ms"])),
                          show(mean(best[where]))])
    return report.table(["algorithm", "graph", "class", "bsp, ms", "fastest bulk synchronous, ms", "fastest of tasks, ms", "Gunrock, ms",
                         "its iterations", "its time / bsp's", "… the fastest bulk synchronous'", "… the fastest tasks'",
                         "paper: Gunrock's time / fastest of Atos, mean of the class"], lines)


@block
def atos_work():
    places = graph_places()

    def pairs(algorithm, form):
        return [(forms["bsp"]["class"] == "scale-free", graph_report.overwork(forms[form], forms["bsp"]))
                for (name, _), forms in places.items() if name == algorithm]

    lines = atos_lines(published.ATOS_WORK, pairs)
    theirs = by_class([(k < published.ATOS_SCALE_FREE, v) for k, v in enumerate(published.ATOS_WORK["colouring"]["BSP"])])
    ours = by_class(pairs("colouring", "bsp"))
    lines.append(["colouring", "`bsp`", "BSP"] + theirs + ours + [show(float(ours[0]) / float(theirs[0]))])
    return report.table(atos_head(places), lines)


def if_there(name, part):
    """The places of a file of paper.sh, and the line that stands where it is missing."""
    if not os.path.exists(path(name)):
        return {}, [f"Not run: needs a GPU run of `tests/benchmark/graph/paper.sh … {part}`."]
    return graph_places(name), []


def written_forms(algorithm):
    """The paper's algorithms as written, and what they are called in the paper."""
    tail = " as written, check 4" if algorithm == "pagerank" else " as written"
    return (("megakernel 32-1" + tail, "persist warp"), ("megakernel 256-64" + tail, "persist CTA"),
            ("timesliced 32-1" + tail, "discrete warp"), ("timesliced 256-64" + tail, "discrete CTA"))


def written_table(paper, value):
    """paper as for atos_lines(); value(row, row of bsp)."""
    places, missing = if_there(GRAPH_WRITTEN, "written")
    if missing:
        return missing

    def pairs(algorithm, form):
        return [(forms["bsp"]["class"] == "scale-free", value(forms[form], forms["bsp"]))
                for (name, _), forms in places.items() if name == algorithm]

    return report.table(atos_head(places), atos_lines(paper, pairs, written_forms))


@block
def atos_written_speed():
    return written_table(published.ATOS_SPEEDUP, lambda row, bsp: float(bsp["ms"]) / float(row["ms"]))


@block
def atos_written_work():
    return written_table(published.ATOS_WORK, graph_report.overwork)


UNEVEN = 10  # the largest degree over the mean from which load is called unevenly shared here
ATOS_NAMES = {"bfs": "BFS", "pagerank": "PageRank", "colouring": "colouring"}


def least_of_iteration(runs, rows):
    """Milliseconds of an iteration of `bsp` that has little to do: of the searches all of whose iterations are small."""
    return min(float(runs["bfs", row["graph"]]["bsp"]["ms"]) / int(row["iterations"]) for row in rows
               if row["algorithm"] == "bfs" and row["small_iterations"] == row["iterations"])


def challenge_lines(runs, rows):
    """A line for each algorithm and graph: algorithm, graph, class, largest degree over the mean, iterations, edges of the
    middle one, percent of iterations and of edges in small ones, and of the time at least."""
    least = least_of_iteration(runs, rows)
    for row in rows:
        run, iterations, small = runs[row["algorithm"], row["graph"]]["bsp"], int(row["iterations"]), int(row["small_iterations"])
        yield (row["algorithm"], row["graph"], row["class"], int(row["largest_degree"]) * int(row["vertices"]) / int(row["edges"]),
               iterations, int(row["median_edges"]), 100 * small / iterations, 100 * int(row["small_edges"]) / int(row["all_edges"]),
               100 * min(1.0, small * least / float(run["ms"])))


def colouring_lines(runs, rows):
    """The same of colourings. What comes again depends on the run: the mean of the iterations behind the first, and nothing
    of shares. Whether these are small, last."""
    for row in (row for row in rows if row["algorithm"] == "bfs"):
        run, degree = runs["colouring", row["graph"]]["bsp"], int(row["edges"]) / int(row["vertices"])
        edges = degree * (int(run["work"]) - int(run["vertices"])) / (int(run["iterations"]) - 1)
        yield ("colouring", row["graph"], row["class"], int(row["largest_degree"]) / degree, int(run["iterations"]), round(edges),
               None, None, 100 if edges < int(row["lanes"]) else 0)


@block
def atos_challenges():
    """Table 3."""
    if not os.path.exists(path(GRAPH_WRITTEN)):
        return if_there(GRAPH_WRITTEN, "written")[1]
    runs = graph_places(GRAPH_WRITTEN)
    with open(path(GRAPH_FRONTIERS), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = sorted([*challenge_lines(runs, rows), *colouring_lines(runs, rows)], key=lambda line: list(ATOS_NAMES).index(line[0]))
    lines = []
    for algorithm, graph, kind, uneven, iterations, edges, small, share, time in found:
        ours = [what for what, there in (("load imbalance", uneven > UNEVEN), ("small frontier", time > 50)) if there]
        percents = ["–" if value is None else f"{value:.0f}" for value in (small, share, time if small is not None else None)]
        lines.append([ATOS_NAMES[algorithm], graph, kind, show(uneven), show(iterations), show(edges)] + percents +
                     [" + ".join(ours) or "none", published.ATOS_CHALLENGES[algorithm][kind]])
    return report.table(["algorithm", "graph", "class", "largest degree / mean", "iterations", "edges of the middle iteration",
                         "small iterations, %", "edges in them, %", "their time, at least, %", "ours", "paper, for the class"], lines)


@block
def atos_order():
    """Of graphs.md: PageRank's work over that of `bsp`, by the order in which residues are handed on."""
    places = graph_places(GRAPH_ORDER)
    graphs = [graph for _, graph in places]
    forms = [form for form in places["pagerank", graphs[0]] if form != "bsp"]
    return report.table(["form"] + graphs, [[f"`{form}`"] + [show(graph_report.overwork(places["pagerank", graph][form],
                        places["pagerank", graph]["bsp"])) for graph in graphs] for form in forms])


IDLE_FORMS = ("megakernel 32-8 x1", "megakernel 32-8 x16")


@block
def atos_idle():
    """Of graphs.md: PageRank with and without idle workers that look for residues."""
    places, missing = if_there(GRAPH_IDLE, "idle")
    if missing:
        return missing

    def pair(forms, form, value):
        return [value(forms[form + tail]) for tail in ("", " idle")]

    lines, slower = [], {form: [] for form in IDLE_FORMS}
    for (_, graph), forms in places.items():
        line = [graph, show(float(forms["bsp"]["ms"]))]
        for form in IDLE_FORMS:
            ms = pair(forms, form, lambda row: float(row["ms"]))
            works = pair(forms, form, lambda row, bsp=forms["bsp"]: graph_report.overwork(row, bsp))
            errors = pair(forms, form, lambda row: float(row["error"]))
            slower[form].append(ms[1] / ms[0])
            line += [" / ".join(map(show, ms)), " / ".join(map(show, works)), show(errors[1] / errors[0])]
        lines.append(line)
    lines.append(["mean of the ratios", "–"] + [cell for form in IDLE_FORMS for cell in (show(mean(slower[form])), "–", "–")])
    head = ["graph", "bsp, ms"]
    for form in IDLE_FORMS:
        rounds = form.rsplit("x", maxsplit=1)[-1]
        head += [f"x{rounds}: ms without / with", "work over bsp's", "error with / without"]
    return report.table(head, lines)


def timelines():
    """(algorithm, graph) → form → useful work per µs, step by step."""
    runs = graph_places(GRAPH_TIMELINE_RUNS)
    found = {}
    with open(path(GRAPH_TIMELINE), newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            place = row["algorithm"], row["graph"]
            useful = float(row["work"]) / graph_report.overwork(runs[place][row["form"]], runs[place]["bsp"])
            found.setdefault(place, {}).setdefault(row["form"], []).append(1e3 * useful / float(row["bin_ns"]))
    return found


@block
def atos_timeline():
    """Figures 1 to 3."""
    if not os.path.exists(path(GRAPH_TIMELINE)):
        return if_there(GRAPH_TIMELINE, "timeline")[1]
    runs, lines = graph_places(GRAPH_TIMELINE_RUNS), []
    for (algorithm, graph), forms in sorted(timelines().items(), key=lambda place: list(ATOS_NAMES).index(place[0][0])):
        for form, steps in forms.items():
            low = sum(rate < 0.1 * max(steps) for rate in steps)
            row = runs[algorithm, graph][form]
            lines.append([ATOS_NAMES[algorithm], graph, row["class"], f"`{form}`", show(float(row["ms"])), show(statistics.fmean(steps)),
                          show(max(steps)), f"{100 * low / len(steps):.0f}"])
    return report.table(["algorithm", "graph", "class", "form", "ms", "useful work per µs, mean", "most",
                         "steps below a tenth of the most, %"], lines)


@block
def atos_permuted():
    places, missing = if_there(GRAPH_PERMUTED, "permuted")
    if missing:
        return missing
    head = ["form", "its counterpart", "paper: gain, mean of 3", "graph", "ms as numbered → random → rcm", "as numbered / random",
            "rcm / random", "colours given a vertex: as numbered → random → rcm"]
    lines = []
    for graph in [graph for _, graph in places if not graph.endswith((", random", ", rcm"))]:
        orders = [places["colouring", graph + order] for order in ("", ", random", ", rcm")]
        for form, name in written_forms("colouring") + (("bsp", "BSP"),):
            rows = [forms[form] for forms in orders]
            ms = [float(row["ms"]) for row in rows]
            gains = [before / after for before, after in published.ATOS_PERMUTED.get(name, ())]
            works = " → ".join(show(graph_report.overwork(row, forms["bsp"])) for row, forms in zip(rows, orders))
            lines.append([f"`{form}`", name, show(mean(gains) if gains else None), graph, " → ".join(show(time) for time in ms), show(ms[0] / ms[1]),
                          show(ms[2] / ms[1]), works])
    return report.table(head, lines)


@block
def atos_kernels():
    lines = []
    for name in GRAPH_KERNELS:
        for row in read(name) if os.path.exists(path(name)) else []:
            share = 100 * int(row["threads"]) * int(row["blocks_per_sm"]) / THREADS_OF_SM
            paper = "–"
            if row["algorithm"] == "colouring":
                counterpart = dict(written_forms("colouring")).get(row["form"])
                paper = "{} ({} %)".format(*published.ATOS_REGISTERS.get(counterpart, ("", ""))).replace(" ( %)", "") or "–"
            lines.append([row["algorithm"], f"`{row['form']}`", row["kernel"], paper, row["registers"], row["shared_bytes"],
                          row["blocks_per_sm"], f"{share:.0f} %"])
    if not lines:
        return ["Not run: needs a GPU run of `tests/benchmark/graph/paper.sh … written kernels`."]
    return report.table(["algorithm", "form", "kernel", "paper: registers (occupancy)", "registers", "shared memory of a block, B",
                         "blocks a multiprocessor", "occupancy"], lines)


@block
def atos_large():
    places, missing = if_there(GRAPH_LARGE, "large")
    if missing:
        return missing
    lines = []
    for algorithm, graphs in published.ATOS_MS.items():
        for graph, (bsp, best) in graphs.items():
            kind = "mesh" if graph.startswith("road") else "scale-free"
            lines.append([algorithm, graph, kind, "paper", show(bsp), show(best), "–", show(bsp / best), "–"])
        for (name, graph), forms in places.items():
            if name == algorithm:
                best, ours = graph_report.fastest(forms), forms["bsp"]
                lines.append([algorithm, graph, best["class"], "ours", show(float(ours["ms"])), show(float(best["ms"])),
                              f"`{best['form']}`", show(float(ours["ms"]) / float(best["ms"])),
                              show(graph_report.overwork(best, ours))])
    return report.table(["algorithm", "graph", "class", "whose", "bulk synchronous, ms", "fastest, ms", "which form", "speed-up",
                         "its overwork"], lines)


@block
def atos_written_heat():
    if not os.path.exists(path(GRAPH_WRITTEN_HEAT)):
        return if_there(GRAPH_WRITTEN_HEAT, "heat")[1]
    return heat_table(GRAPH_WRITTEN_HEAT)


@block
def atos_heat():
    return heat_table("h200-graph-heat.csv")


def heat_table(name):
    lines = []
    for (algorithm, graph), forms in graph_places(name).items():
        tasks = sorted((float(row["ms"]), f"{row['worker']}-{row['fetch']}") for row in forms.values()
                       if row["kind"] == "asynchronous" and row["scheduler"] == "megakernel")
        lines.append([algorithm, graph, show(float(forms["bsp"]["ms"])), f"{show(tasks[0][0])} ({tasks[0][1]})",
                      f"{show(tasks[-1][0])} ({tasks[-1][1]})", show(tasks[-1][0] / tasks[0][0]),
                      show(float(forms["bsp"]["ms"]) / tasks[0][0])])
    return report.table(["algorithm", "graph", "bsp, ms", "fastest, ms (lanes-items)", "slowest, ms", "slowest / fastest",
                         "bsp / fastest"], lines)


# ------------------------------------------------------------------------------------------------------------ Rows, commands


COMMANDS = {
    "h200-rcm-tasks.csv": "taskdag_rcm_tasks_bench --backend cuda --repeat 2",
    "h200-rcm.csv": "taskdag_rcm_bench --threads 1 --threads 8 --repeat 2",
    RCM_COSTS: "taskdag_rcm_tasks_bench --backend cuda --repeat 2 --types …",
    RCM_TYPES: "taskdag_rcm_tasks_bench --backend cuda --repeat 2 --types …",
    "h100-jacobi-tasks.csv": "taskdag_bench jacobi",
    JACOBI_SOLVES: "taskdag_bench jacobi --solves",
    JACOBI_THESIS: "taskdag_bench jacobi --solves --only …",
    "h200-engine.csv": "tests/benchmark/engine/run.sh",
    "h200-engine-kernels.csv": "tests/benchmark/engine/run.sh",
    PROGRESSION: PROGRESSION_RUN,
    PROGRESSION_SHAPES: "taskdag_progression_bench --wavefront none --shapes FILE",
    PROGRESSION_HUBS: 'taskdag_progression_bench --wavefront none --irregular "R-MAT 16" … --also own workers',
    "host-schedules-16.csv": "taskdag_host_schedules --cores 16 --repeat 30 --seeds 1",
    "host-schedules-8.csv": "taskdag_host_schedules --cores 8",
    "host-barriers-22.csv": "taskdag_host_schedules --counts --cores 22",
    "host-protocol.csv": "tests/benchmark/host_protocol.sh PROGRAM ROWS.csv",
    "host-protocol-schedules.csv": "tests/benchmark/host_protocol.sh PROGRAM ROWS.csv",
    "host-auto-narrow-band.csv": "taskdag_host_schedules --cores 16 --set narrow-band --seeds 10 --schedule auto … --only …",
    "host-rcm-patterns.csv": "taskdag_rcm_bench --patterns FILE --only …",
    "host-rcm-candidates.csv": "taskdag_candidates_bench --repeat 1 --only …",
    "host-papers-matrices.csv": "tests/benchmark/papers/matrices.py",
    "host-papers-supersteps.csv": "taskdag_host_schedules --counts --cores 22 --set real --schedule …",
    "host-protocol-barriers.csv": "taskdag_host_schedules --counts --cores 22 --seeds 10 --set …",
    "h200-schedules.csv": "taskdag_bench sptrsv --table --schedule all",
    "h200-schedules-shallow.csv": "taskdag_bench sptrsv --schedule all --only …",
    "h100-ata.csv": "taskdag_bench ata",
    ATA_PCG_ROWS: "tests/benchmark/ata_pcg.sh",
    ATA_PCG_WARPS: "tests/benchmark/ata_pcg.sh",
    ATA_PCG_OTHERS: "tests/benchmark/ata_pcg.sh",
    ATA_STUDY: "taskdag_bench ata --study …",
    ATA_CLASSES: "taskdag_bench ata --classes …",
    ATA_RULE: "taskdag_bench ata --sizes …",
    ATA_G3: "taskdag_bench ata --table --only G3_circuit …",
    "h200-graph.csv": "taskdag_graph_bench --repeat 2 --rounds 16 --workers 32-4 --workers 32-32 --workers 256-64",
    "h200-graph-heat.csv": "taskdag_graph_bench --forms heat",
    GRAPH_FRONTIERS: "taskdag_graph_bench --frontiers FILE",
    GRAPH_ORDER: "taskdag_graph_bench --backend host --threads 2 --algorithm pagerank --repeat 0 …",
    GRAPH_IDLE: "tests/benchmark/graph/paper.sh … idle",
    GRAPH_TIMELINE_RUNS: "tests/benchmark/graph/paper.sh … timeline",
    GRAPH_WRITTEN: "tests/benchmark/graph/paper.sh … written",
    GRAPH_WRITTEN_HEAT: "tests/benchmark/graph/paper.sh … heat",
    GRAPH_RIVAL: "tests/benchmark/graph/paper.sh … rival",
    GRAPH_PERMUTED: "tests/benchmark/graph/paper.sh … permuted",
    GRAPH_LARGE: "tests/benchmark/graph/paper.sh … large",
    GRAPH_KERNELS[0]: "tests/benchmark/graph/paper.sh … kernels",
    GRAPH_KERNELS[1]: "tests/benchmark/graph/paper.sh … written",
}
MAY_BE_MISSING = (RCM_COSTS, RCM_TYPES, JACOBI_SOLVES, JACOBI_THESIS, ATA_ROWS, ATA_STUDY, ATA_CLASSES, ATA_RULE, ATA_G3, PROGRESSION, PROGRESSION_HUBS,
                  "host-protocol.csv", "host-protocol-schedules.csv", "host-protocol-barriers.csv", GRAPH_WRITTEN, GRAPH_WRITTEN_HEAT,
                  GRAPH_RIVAL, GRAPH_PERMUTED, GRAPH_LARGE, GRAPH_IDLE, GRAPH_TIMELINE, GRAPH_TIMELINE_RUNS) + GRAPH_KERNELS + ATA_PCG_FILES
HOSTS = {"host-schedules-16.csv": "16 of 64 processors of a virtual machine, Intel Xeon with AVX-512",
         "host-schedules-8.csv": "8 threads on 16 virtual processors", "host-barriers-22.csv": "any: counts, no times",
         "host-auto-narrow-band.csv": "16 processors of a virtual machine", "host-rcm-patterns.csv": "any: patterns, no times",
         "host-rcm-candidates.csv": "a processor of a shared x86 machine", "host-papers-matrices.csv": "any: counts, no times",
         "host-papers-supersteps.csv": "any: counts, no times",
         "host-protocol-barriers.csv": "any: counts, no times", GRAPH_ORDER: "2 host threads: counts, no times", GRAPH_FRONTIERS: "any: counts, no times",
         PROGRESSION_SHAPES: "any: counts, no times"}


@block
def rows_and_commands():
    lines = []
    for name, command in COMMANDS.items():
        if name in MAY_BE_MISSING and not os.path.exists(path(name)):
            continue
        with open(path(name), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))

        def only(*columns, rows=rows):
            for column in columns:
                if column in rows[0]:
                    return ", ".join(sorted({row[column] for row in rows if row[column]}))
            return ""

        machine = HOSTS.get(name) or only("machine") or f"{only('gpu') or only('device')}, driver {only('driver')}, CUDA {only('cuda')}"
        lines.append([f"`{name}`", f"`{command}`", machine, only("commit"), only("date") or "–"])
    return report.table(["rows", "command", "machine", "commit", "date"], lines)


import protocol  # noqa: E402, F401 (registers its tables; it needs what stands above)

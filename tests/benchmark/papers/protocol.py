"""The tables of docs/papers/papers.md on the protocol of Böhnlein et al., from the rows of tests/benchmark/host_protocol.sh.

Rows may be missing, all of them or some: "not run" stands there then. Each mean says over how many matrices it is.
"""
import csv
import functools
import os

import published
import report
import tables
from tables import block, mean, quartiles, show

ROWS = "host-protocol.csv"
SCHEDULE_ROWS = "host-protocol-schedules.csv"
BARRIER_ROWS = "host-protocol-barriers.csv"
LATER_ROWS = "host-auto-narrow-band.csv"
NOW_LOCKING = ("geometric 2D, 6 neighbours", "geometric 2D, 14 neighbours")  # of the large matrices, since those rows
NOT_RUN = ["Not run: needs `tests/benchmark/host_protocol.sh` on 16 processors.", ""]
SETS = {"large": "real", "erdos-renyi-dense": "erdos-renyi", "narrow-band": "narrow-band"}  # ours: the paper's
NAMES = {"large": "large matrices", "erdos-renyi-dense": "Erdős–Rényi", "narrow-band": "narrow band",
         "erdos-renyi": "Erdős–Rényi, p of the text"}
OURS = ("locking", "locking, no Funnel", "pivotal-path", "pivotal-path, no Funnel")
RIVALS = {"SpMP": "p2p", "HDagg": "hdagg"}  # theirs: re-made
ABLATIONS = {"locking, no Funnel": "without Funnel", "locking, no fill-up": "without fill-up",
             "locking, no reduction": "Funnel without transitive reduction",
             "locking, full reduction": "with the whole transitive reduction",
             "locking, as dealt": "without dealing neighbours to one core", "locking, alpha 0.1": "α = 0.1, not 0.3",
             "locking, alpha 0.2": "α = 0.2", "locking, alpha 0.4": "α = 0.4", "locking, alpha 0.6": "α = 0.6",
             "locking, waits": "waits in place of barriers", "locking, runs, waits": "waits, runs of rows"}


class Rows:
    """Rows by cores, set, matrix and schedule, each once."""

    def __init__(self, name=ROWS):
        self.by = {}
        if not os.path.exists(tables.path(name)):
            return
        with open(tables.path(name), newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["solve_ms"] and not float(row["error"]) <= 1e-12:
                    raise ValueError(f"{name} has a wrong result")
                matrices = self.by.setdefault((int(row["cores"]), row["set"]), {})
                matrices.setdefault(row["matrix"], {}).setdefault(row["schedule"], row)

    def cores(self):
        """The most that there are rows of."""
        return max((cores for cores, _ in self.by), default=0)

    def matrices(self, key, cores=None):
        return self.by.get((cores or self.cores(), key), {})

    def values(self, key, schedules, value, cores=None):
        """value(row of each of the schedules) of each matrix that has all of them."""
        found = []
        for by_schedule in self.matrices(key, cores).values():
            if all(name in by_schedule for name in schedules):
                found.append(value(*(by_schedule[name] for name in schedules)))
        return found

    def speedups(self, key, schedule, cores=None):
        return self.values(key, (schedule,), lambda row: float(row["speedup"]), cores)

    def faster(self, key, schedule, rival, cores=None):
        """The rival's time over the schedule's."""
        return self.values(key, (schedule, rival), lambda row, other: float(other["solve_ms"]) / float(row["solve_ms"]), cores)


def block_of_rows(table):
    """Registers a table of the protocol's rows; without any it is not run."""
    @functools.wraps(table)
    def filled():
        rows = Rows()
        return table(rows) if rows.by else NOT_RUN
    return block(filled)


def with_count(values):
    return f"{show(mean(values))} ({len(values)})" if values else "not run"


def as_paper(schedule):
    return schedule + ", reordered"


@block_of_rows
def protocol_matrices(rows):
    lines = []
    for key, name in NAMES.items():
        found = {matrix: next(iter(by.values())) for matrix, by in rows.matrices(key).items()}
        if not found:
            lines.append([name, str(published.BARRIER_MATRICES[SETS.get(key, key)]), "not run", "–", "–"])
            continue
        flops = [2 * int(row["entries"]) - int(row["rows"]) for row in found.values()]
        wavefronts = [int(row["rows"]) / int(row["wavefronts"]) for row in found.values()]
        lines.append([name, str(published.BARRIER_MATRICES[SETS.get(key, key)]), str(len(found)), show(min(flops) / 1e6),
                      f"{show(min(wavefronts))} … {show(max(wavefronts))}"])
    return report.table(["set", "matrices there", "here", "fewest M flops here", "average wavefronts here"], lines)


@block_of_rows
def protocol_ratios(rows):
    lines = []
    for key, schedule, rival, where, paper in (
            ("large", "locking", "SpMP", "text", "1.45"), ("large", "locking", "HDagg", "text", "3.24"),
            ("erdos-renyi-dense", "pivotal-path", "SpMP", "text", "1.62"),
            ("erdos-renyi-dense", "pivotal-path", "HDagg", "text", "1.87"),
            ("narrow-band", "pivotal-path", "SpMP", "7.1", None), ("narrow-band", "pivotal-path", "HDagg", "7.1", None)):
        theirs = dict(zip(published.BARRIER_NAMES, published.BARRIER_SPEEDUP[SETS[key]]))
        paper = paper or show(theirs[schedule] / theirs[RIVALS[rival]])
        for name, program in ((rival, f"{rival}, its own schedule"), (RIVALS[rival], f"`{RIVALS[rival]}`, re-made")):
            forms = [rows.faster(key, form, name) for form in (schedule, as_paper(schedule), "locking, runs, waits")]
            lines.append([where, f"{NAMES[key]}: {published.BARRIER_NAMES[schedule]}'s speed / {rival}'s", program, paper] +
                         [with_count(values) for values in forms])
    return report.table(["table", "what", "rival here", "paper", "ours, vectors in the user's order",
                         "ours, all in the paper's order", "`locking, runs, waits` / the rival"], lines)


@block_of_rows
def protocol_speed(rows):
    lines = []
    for key, theirs in ((key, published.BARRIER_SPEEDUP[paper]) for key, paper in SETS.items()):
        papers = dict(zip(published.BARRIER_NAMES, theirs))
        programs = {"SpMP": papers["p2p"], "HDagg": papers["hdagg"], "HDagg, grouped": None}
        for schedule, paper in {**papers, **programs, "locking, waits": None, "locking, runs, waits": None, "auto": None}.items():
            name = published.BARRIER_NAMES.get(schedule, schedule if schedule in programs else "–")
            variant = "its program" if schedule in programs else f"`{schedule}`"
            if schedule in RIVALS.values():
                name += ", re-made"
            cells = []
            for form in (schedule, as_paper(schedule)):
                values = rows.speedups(key, form)
                cells.append(with_count(values) + (f": {', '.join(map(show, quartiles(values)))}" if values else ""))
            if schedule not in OURS:
                cells[1] = "–"
            lines.append([NAMES[key], name, variant, show(paper)] + cells)
    return report.table(["set", "algorithm", "variant here", "paper, 22 cores",
                         f"ours, {rows.cores()} cores, vectors in the user's order: quartiles",
                         "ours, all in the paper's order: quartiles"], lines)


@block_of_rows
def protocol_ahead(rows):
    lines = []
    for form in OURS + tuple(map(as_paper, OURS)) + ("locking, waits", "locking, runs, waits"):
        cells, least = [], []
        for key in SETS:
            ratios = {}
            for rival in (*RIVALS, *RIVALS.values()):
                values = rows.faster(key, form, rival)
                if values:
                    ratios[rival] = mean(values)
            closest = min(ratios, key=ratios.get) if ratios else None
            least.append(ratios.get(closest))
            cells.append(f"{show(ratios[closest])} ({closest})" if closest else "not run")
        verdict = "not run" if None in least else "yes" if min(least) > 1.0 else "no"
        lines.append([f"`{form}`"] + cells + [verdict])
    return report.table(["form", *(f"{NAMES[key]}: speed / the fastest rival's" for key in SETS), "ahead on every set"], lines)


def one_thread(row):
    """Milliseconds of one thread in the run that the row is from."""
    return float(row["solve_ms"]) * float(row["speedup"])


def one_thread_apart(rows, key, schedule, other):
    """How long one thread took where the schedule was measured, over where the other was."""
    return rows.values(key, (schedule, other), lambda row, beside: one_thread(row) / one_thread(beside))


def by_speedup(rows, key, schedule, rival):
    """The schedule's speed-up over one thread of its run, over the rival's of its own."""
    return rows.values(key, (schedule, rival), lambda row, beside: float(row["speedup"]) / float(beside["speedup"]))


def span(means):
    """Least and most of some means, one number where they agree."""
    shown = [show(value) for value in (min(means), max(means))] if means else ["not run"]
    return shown[0] if len(set(shown)) == 1 else " … ".join(shown)


@block_of_rows
def protocol_one_thread(rows):
    """Rows of one set come from several runs: how far these are apart, and what is left of the ratios by speed-up."""
    def means(values_of, key, forms, other):
        found = [values_of(rows, key, form, other) for form in forms]
        return span([mean(values) for values in found if values])

    reordered, parts = [as_paper(form) for form in OURS], [form for form in ABLATIONS if form not in OURS and "waits" not in form]
    lines = [[NAMES[key], means(one_thread_apart, key, reordered, "SpMP"), means(by_speedup, key, reordered, "SpMP"),
              means(by_speedup, key, reordered, "p2p"), means(one_thread_apart, key, parts, "locking")] for key in SETS]
    return report.table(["set", "one thread, where schedules in their own order were measured / where SpMP was",
                         "their speed-up / SpMP's", "their speed-up / `p2p`'s",
                         "one thread, where parts were left out / where `locking` was"], lines)


@block_of_rows
def protocol_text_p(rows):
    key = "erdos-renyi"
    lines = [[f"`{form}`", with_count(rows.faster(key, form, "SpMP")), with_count(rows.faster(key, form, "HDagg")),
              with_count(one_thread_apart(rows, key, form, "SpMP")), with_count(by_speedup(rows, key, form, "SpMP"))]
             for form in ("locking", "pivotal-path", "locking, waits")]
    return report.table(["Erdős–Rényi, p of the text", "speed / SpMP's", "speed / HDagg's", "one thread there / where SpMP was",
                         "speed-up / SpMP's"], lines)


@block_of_rows
def protocol_reordering(rows):
    lines = []
    for key, paper in SETS.items():
        for k, schedule in enumerate(OURS):
            with_it, without = published.BARRIER_SPEEDUP[paper][k], published.BARRIER_NOT_REORDERED[paper][k]
            forms = (as_paper(schedule), f"{schedule}, not reordered")
            lines.append([NAMES[key], published.BARRIER_NAMES[schedule], f"{show(with_it)} / {show(without)}",
                          show(with_it / without), " / ".join(with_count(rows.speedups(key, form)) for form in forms),
                          with_count(rows.faster(key, *forms))])
    return report.table(["set", "algorithm", "paper: with / without", "what it gains there", "ours: with / without",
                         "what it gains here"], lines)


@block_of_rows
def protocol_ablations(rows):
    lines = []
    for key in SETS:
        lines.append([NAMES[key], "–", "`locking`", "1",
                      with_count(rows.values(key, ("locking",), lambda row: int(row["wavefronts"]) / int(row["supersteps"])))])
        for schedule, what in ABLATIONS.items():
            supersteps = rows.values(key, (schedule,), lambda row: int(row["wavefronts"]) / int(row["supersteps"]))
            lines.append([NAMES[key], what, f"`{schedule}`", with_count(rows.faster(key, schedule, "locking")),
                          with_count(supersteps)])
    return report.table(["set", "what is changed", "variant", "its speed / `locking`'s", "wavefronts / supersteps"], lines)


@block
def protocol_supersteps():
    rows = Rows(BARRIER_ROWS)
    if not rows.by:
        return ["Not run: needs `taskdag_host_schedules --counts --cores 22`, on any machine.", ""]
    lines = []
    for key, paper in SETS.items():
        papers = dict(zip(published.BARRIER_NAMES, published.BARRIER_SUPERSTEPS[paper]))
        del papers["p2p"]
        for schedule, printed in {**papers, "HDagg": papers["hdagg"], "HDagg, grouped": None}.items():
            values = rows.values(key, (schedule,), lambda row: int(row["wavefronts"]) / int(row["supersteps"]))
            name = published.BARRIER_NAMES.get(schedule, schedule) + (", re-made" if schedule == "hdagg" else "")
            lines.append([NAMES[key], name, show(printed), with_count(values),
                          show(tables.ratio(mean(values), printed)) if values else "–"])
    return report.table(["set", "algorithm", "paper", "ours (matrices)", "ours / paper"], lines)


@block_of_rows
def protocol_cores(rows):
    lines = []
    for cores, papers in published.BARRIER_SCALING.items():
        for schedule, paper in zip(("locking", "pivotal-path", "SpMP"), (*papers, None)):
            name = published.BARRIER_NAMES.get(schedule, schedule)
            lines.append(["7.6", f"{NAMES['large']}, {cores} cores", name, show(paper),
                          with_count(rows.speedups("large", schedule, cores))])
    names = {**published.BARRIER_NAMES, "p2p": "SpMP, re-made", "hdagg": "HDagg, re-made"}
    for (schedule, name), paper in zip(names.items(), published.BARRIER_NARROW_ON_8):
        lines.append(["7.2", f"{NAMES['narrow-band']}, 8 cores", name, show(paper),
                      with_count(rows.speedups("narrow-band", schedule, 8))])
    for rival, paper in zip(RIVALS, published.BARRIER_NARROW_ON_8[4:]):
        lines.append(["7.2", f"{NAMES['narrow-band']}, 8 cores", rival, show(paper),
                      with_count(rows.speedups("narrow-band", rival, 8))])
    return report.table(["table", "what", "algorithm", "paper", "ours"], lines)


@block_of_rows
def protocol_wavefronts(rows):
    lines = []
    for low, high, name in ((44, 200, "44 to 200"), (200, 1000, "200 to 1000"), (1000, float("inf"), "1000 and more")):
        cells = []
        for cores in published.BARRIER_SCALING:
            values = rows.values("large", ("pivotal-path",), lambda row: (
                int(row["rows"]) / int(row["wavefronts"]), float(row["speedup"])), cores)
            cells.append(with_count([speedup for wavefront, speedup in values if low <= wavefront < high]))
        lines.append([name] + cells)
    return report.table(["average wavefront", *(f"{cores} cores" for cores in published.BARRIER_SCALING)], lines)


@block_of_rows
def protocol_amortisation(rows):
    making = Rows(SCHEDULE_ROWS)
    lines = []
    papers = dict(zip(published.BARRIER_NAMES, published.BARRIER_AMORTISATION))
    for schedule, paper in {**papers, "SpMP": papers["p2p"], "HDagg": papers["hdagg"], "locking, runs, waits": None}.items():
        solves = []
        for matrix, by in rows.matrices("large").items():
            made = making.matrices("large", rows.cores()).get(matrix, {}).get(schedule) or by.get(schedule)
            if schedule in by and made["schedule_ms"]:
                ms = float(by[schedule]["solve_ms"])
                gain = ms * float(by[schedule]["speedup"]) - ms
                solves.append(float(made["schedule_ms"]) / gain if gain > 0.0 else float("inf"))
        name = published.BARRIER_NAMES.get(schedule, schedule)
        lines.append([name, "its program" if schedule in RIVALS else f"`{schedule}`",
                      ", ".join(map(show, paper)) if paper else "–",
                      f"{', '.join(map(show, quartiles(solves)))} ({len(solves)})" if solves else "not run"])
    return report.table(["algorithm", "variant here", "paper: quartiles", "ours: quartiles (matrices)"], lines)


@block_of_rows
def protocol_auto(rows):
    forms = ("auto", "plan", "locking, waits", "locking, runs, waits")
    lines = []
    for key, name in {**NAMES, "real": "the other real matrices"}.items():
        found = rows.values(key, forms, lambda *found: [float(row["speedup"]) for row in found])
        if not found:
            lines.append([name] + ["not run"] * (len(forms) + 2))
            continue
        best = [max(1.0, *speedups[1:3]) for speedups in found]
        behind = sum(speedups[0] < 0.9 * most for speedups, most in zip(found, best))
        lines.append([f"{name}, {len(found)}"] + [show(mean(list(column))) for column in zip(*found)] +
                     [show(mean(best)), str(behind)])
    return report.table(["speed-up over one thread", *(f"`{form}`" for form in forms),
                         "the best of serial, plan and Locking with waits", "matrices where `auto` is 10 % behind that"], lines)


@block_of_rows
def protocol_auto_since(rows):
    """Where its rule has changed since those rows: what it would give with Locking's rows of the matrices that it takes
    Locking for now, and what a later run of some of them gives."""
    later = Rows(LATER_ROWS)
    lines = []
    for key, changed in (("large", NOW_LOCKING), ("narrow-band", tuple(later.matrices("narrow-band")))):
        both, replaced, found = [], [], []
        for matrix, by in rows.matrices(key).items():
            if "auto" not in by or "locking, waits" not in by:
                continue
            both.append(float(by["auto"]["speedup"]))
            replaced.append(float(by["locking, waits" if matrix in changed else "auto"]["speedup"]))
            if matrix in changed:
                found.append([float(by["locking, waits"]["speedup"]), both[-1]])
        if not found:
            lines.append([NAMES[key]] + ["not run"] * 5)
            continue
        since = [later.speedups(key, form) for form in ("auto", "plan", "locking, waits")]
        lines.append([f"{NAMES[key]}, {len(both)}", show(mean(both)), str(len(found)),
                      show(mean([ours for ours, _ in found])) + " / " + show(mean([auto for _, auto in found])),
                      show(mean(replaced)), ", ".join(show(mean(values)) for values in since) if since[0] else "not run"])
    return report.table(["set, matrices", "`auto`", "of them changed", "there: `locking, waits` / `auto`", "`auto`, those replaced",
                         "those in a later run: `auto`, `plan`, `locking, waits`"], lines)

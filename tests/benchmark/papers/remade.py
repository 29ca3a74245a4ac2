"""Tables of what was made anew of the papers on the host: candidates for the start of Cuthill-McKee, their matrices."""
import csv

import published
from tables import block, mean, path, read, report, show

CANDIDATES = "host-rcm-candidates.csv"
MADE = "host-papers-matrices.csv"
SUPERSTEPS = "host-papers-supersteps.csv"
ONE = ("1", "least", "first")


def spread(values):
    """Mean (least … most)."""
    return f"{show(mean(values))} ({show(min(values))} … {show(max(values))})"


@block
def mhive_candidates():
    problems = {}
    for row in read(CANDIDATES):
        problems.setdefault(row["problem"], {})[row["candidates"], row["pick"], row["begin"]] = row
    lines = []
    for rule in next(iter(problems.values())):
        def ratios(column, rule=rule):
            return [float(rows[rule][column]) / float(rows[ONE][column]) for rows in problems.values()]
        bandwidth = ratios("bandwidth")
        deeper = sum(ratio > 1 for ratio in ratios("depth"))
        lines.append([*rule, str(deeper), spread(bandwidth), f"{sum(ratio < 1 for ratio in bandwidth)}, "
                      f"{sum(ratio > 1 for ratio in bandwidth)}", spread(ratios("profile")), show(mean(ratios("searches"))),
                      show(mean(ratios("levels"))), show(mean(ratios("milliseconds")))])
    return report.table(["candidates", "of the last level", "begins at", "deeper on", "bandwidth: mean (least … most)",
                         "smaller, larger on", "profile", "searches", "levels", "time"], lines)

VARIANTS = ("locking", "locking, no Funnel", "pivotal-path", "pivotal-path, no Funnel", "p2p", "hdagg")  # of table 7.3


@block
def papers_matrices():
    """What could not be made here has its reason in the last column."""
    with open(path(MADE), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))

    def number(row, column):
        return show(int(row[column])) if row[column] else "–"
    return report.table(
        ["paper, table", "matrix", "made as", "rows there", "here", "entries there", "here", "average wavefront there", "here",
         "levels here", "sizes"],
        [[f"{row['paper']}, {row['table']}", row["matrix"], row["made"], number(row, "rows_paper"), number(row, "rows"),
          number(row, "entries_paper"), number(row, "entries"), number(row, "wavefront_paper"),
          number(row, "wavefront") if row["wavefront_paper"] else "–", number(row, "levels"), row["status"]]
         for row in rows])


@block
def papers_supersteps():
    with open(path(SUPERSTEPS), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    lines = []
    for schedule, paper in zip(VARIANTS, published.BARRIER_SUPERSTEPS["real"]):
        if paper is None:  # waits for rows, without supersteps
            continue
        reductions = {row["matrix"]: float(row["wavefronts_per_superstep"]) for row in rows if row["schedule"] == schedule}
        lines.append([f"`{schedule}`", show(paper), *(show(reduction) for reduction in reductions.values())])
    matrices = list(dict.fromkeys(row["matrix"] for row in rows))
    return report.table(["variant here", "paper, mean of 33", *matrices], lines)

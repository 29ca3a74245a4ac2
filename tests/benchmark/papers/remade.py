"""Tables of what was made anew of the papers on the host: candidates for the start of Cuthill-McKee."""
from tables import block, mean, read, report, show

CANDIDATES = "host-rcm-candidates.csv"
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

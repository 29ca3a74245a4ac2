#!/usr/bin/env python3
"""Makes tables and plots of the rows that taskdag_graph_bench wrote.

usage: report.py [--plots DIR] [--timeline FILE.csv] [--short] ROWS.csv...

Prints Markdown: for each algorithm the fastest asynchronous form per graph against the bulk synchronous ones, geometric
means by class of graphs, and the overwork (work over that of the bulk synchronous form; for colourings, over the number
of vertices).
--plots: writes heat-ALGORITHM-GRAPH.svg (milliseconds by worker and fetch size, where the rows have several, one round)
and, with --timeline (the program's), throughput-ALGORITHM-GRAPH.svg (work per microsecond over the overwork). Those of
the paper's algorithms as written are heat-written-… and throughput-written-….
--short: form by form the geometric mean over the graphs of its speed over `bsp`, and of its overwork, no more.
Rows that were not verified are counted nowhere, and named at the end.
"""
import argparse
import collections
import csv
import math
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import plots  # noqa: E402 (the folder above is not a package)

BASELINES = ("bsp", "bsp graph", "bsp ahead")


def read(names):
    """Verified rows, and the names of the others."""
    good, bad = [], []
    for name in names:
        with open(name, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["verified"] == "true":
                    good.append(row)
                else:
                    bad.append(f'{row["algorithm"]}, {row["graph"]}, {row["form"]}')
    return good, bad


def by_place(rows):
    """(algorithm, graph) → form → row; of rows for the same, the fastest."""
    places = collections.OrderedDict()
    for row in rows:
        forms = places.setdefault((row["algorithm"], row["graph"]), collections.OrderedDict())
        if row["form"] not in forms or float(row["ms"]) < float(forms[row["form"]]["ms"]):
            forms[row["form"]] = row
    return places


def fastest(forms):
    tasks = [row for row in forms.values() if row["kind"] == "asynchronous"]
    return min(tasks, key=lambda row: float(row["ms"])) if tasks else None


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values)) if values else None


def speedups(places, baseline):
    """(algorithm, class) → times of the baseline over those of the fastest asynchronous form."""
    found = collections.defaultdict(list)
    for (algorithm, _), forms in places.items():
        best = fastest(forms)
        if best is None or baseline not in forms:
            continue
        ratio = float(forms[baseline]["ms"]) / float(best["ms"])
        found[algorithm, best["class"]].append(ratio)
        found[algorithm, "all"].append(ratio)
    return found


def overwork(row, baseline):
    """Of a colouring: over the number of vertices, the least work."""
    least = float(row["vertices"]) if row["algorithm"] == "colouring" else float(baseline["work"])
    return float(row["work"]) / least if least else 1.0


def table(head, lines):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] +
                     ["| " + " | ".join(line) + " |" for line in lines])


def describe(places):
    """The tables."""
    lines = []
    for (algorithm, graph), forms in places.items():
        best = fastest(forms)
        if best is None or "bsp" not in forms:
            continue
        line = [algorithm, graph, best["class"]]
        for name in BASELINES:
            line.append(f'{float(forms[name]["ms"]):.3g}' if name in forms else "")
        line += [best["form"], f'{float(best["ms"]):.3g}', f'{float(forms["bsp"]["ms"]) / float(best["ms"]):.2f}',
                 f'{overwork(best, forms["bsp"]):.2f}', f'{overwork(forms["bsp"], forms["bsp"]):.2f}',
                 best["colours"] and f'{best["colours"]} ({forms["bsp"]["colours"]})']
        lines.append(line)
    text = table(["algorithm", "graph", "class", "bsp ms", "bsp graph ms", "bsp ahead ms", "fastest asynchronous form",
                  "ms", "bsp over it", "overwork", "of bsp", "colours (of bsp)"], lines)
    lines = []
    for baseline in BASELINES:
        for (algorithm, kind), ratios in sorted(speedups(places, baseline).items()):
            lines.append([baseline, algorithm, kind, str(len(ratios)), f"{geometric_mean(ratios):.2f}",
                          f"{max(ratios):.2f}"])
    return text + "\n\n" + table(["against", "algorithm", "graphs", "number", "geometric mean", "most"], lines)


def describe_short(places):
    """A line a form of an algorithm."""
    found = collections.OrderedDict()
    for (algorithm, _), forms in places.items():
        for form, row in forms.items():
            if "bsp" in forms and form != "bsp":
                speeds, works = found.setdefault((algorithm, form), ([], []))
                speeds.append(float(forms["bsp"]["ms"]) / float(row["ms"]))
                if row["work"]:  # a rival does not tell its
                    works.append(overwork(row, forms["bsp"]))
    return table(["algorithm", "form", "graphs", "speed over bsp", "overwork"],
                 [[algorithm, form, str(len(speeds)), f"{geometric_mean(speeds):.2f}", f"{geometric_mean(works):.2f}" if works else ""]
                  for (algorithm, form), (speeds, works) in sorted(found.items())])


def shade(time, least, most):
    """From light blue, the fastest, to dark blue: never that of the ground."""
    share = math.log(time / least) / math.log(most / least) if most > least else 0.0
    tint = 225 - int(135 * share)
    return f"rgb({tint},{tint},255)"


def colour_bar(drawing, x, top, height, least, most):
    """What the shades mean."""
    steps = 40
    for k in range(steps):
        time = most * (least / most) ** (k / (steps - 1))
        drawing.box(x, top + height * k / steps, 16, height / steps + 0.5, shade(time, least, most))
    drawing.text(x + 22, top + 10, f"{most:.3g} ms")
    drawing.text(x + 22, top + height, f"{least:.3g} ms")


def heat_map(title, times):
    """times: (worker, fetch) → milliseconds. Workers from left to right, fetch sizes upwards; dark is slow."""
    workers = sorted({worker for worker, _ in times})
    fetches = sorted({fetch for _, fetch in times})
    left, top, width, height = 90, 40, 90, 40
    drawing = plots.Drawing(left + width * len(workers) + 120, top + height * len(fetches) + 50)
    drawing.text(10, 20, title)
    least, most = min(times.values()), max(times.values())
    for column, worker in enumerate(workers):
        for row, fetch in enumerate(reversed(fetches)):
            if (worker, fetch) not in times:
                continue
            time = times[worker, fetch]
            x, y = left + width * column, top + height * row
            drawing.box(x, y, width - 2, height - 2, shade(time, least, most))
            drawing.text(x + width / 2, y + height / 2 + 4, f"{time:.3g} ms", "middle")
    bottom = top + height * len(fetches)
    for column, worker in enumerate(workers):
        drawing.text(left + width * (column + 0.5), bottom + 18, str(worker), "middle")
    for row, fetch in enumerate(reversed(fetches)):
        drawing.text(left - 8, top + height * (row + 0.5) + 4, str(fetch), "end")
    drawing.text(left + width * len(workers) / 2, bottom + 38, "lanes of a worker", "middle")
    drawing.upwards(20, top + height * len(fetches) / 2, "items fetched")
    colour_bar(drawing, left + width * len(workers) + 16, top, height * len(fetches) - 2, least, most)
    return drawing.svg()


def throughput(title, curves):
    """curves: form → list of (µs, useful work per µs)."""
    left, top, width, height = 90, 40, 620, 300
    widest_letter = 8  # of a label, in the plots' font
    legend = max(240, 60 + widest_letter * max(len(form) for form in curves))
    drawing = plots.Drawing(left + width + legend, top + height + 50)
    drawing.text(10, 20, title)
    end = max(point[0] for curve in curves.values() for point in curve) or 1.0
    most = max(point[1] for curve in curves.values() for point in curve) or 1.0

    def place(time, rate):
        return left + width * time / end, top + height * (1 - rate / most)

    for rate in plots.even_ticks(most):
        x, y = place(0, rate)
        drawing.line(x, y, left + width, y)
        drawing.text(x - 6, y + 4, f"{rate:g}", "end")
    for time in plots.even_ticks(end):
        x, y = place(time, 0)
        drawing.text(x, y + 18, f"{time:g}", "middle")
    drawing.text(left + width / 2, top + height + 38, "µs since the start", "middle")
    drawing.upwards(16, top + height / 2, "useful work per µs")
    for k, (form, curve) in enumerate(curves.items()):
        colour, dashes = plots.COLOURS[k % len(plots.COLOURS)], k >= len(plots.COLOURS)
        drawing.path([place(*point) for point in curve], colour, dashes)
        y = top + 10 + 18 * k
        drawing.path([(left + width + 15, y), (left + width + 40, y)], colour, dashes)
        drawing.text(left + width + 46, y + 4, form)
    return drawing.svg()


def smoothed(points, most=120):
    """(µs, work) of equal bins as (µs, work per µs) of at most `most` groups of them."""
    if not points:
        return []
    step = points[1][0] - points[0][0] if len(points) > 1 else 1.0
    group = max(1, math.ceil(len(points) / most))
    curve = []
    for first in range(0, len(points), group):
        part = points[first:first + group]
        curve.append((part[0][0] + step * len(part) / 2, sum(work for _, work in part) / (step * len(part))))
    return curve


def file_name(kind, algorithm, graph):
    return f'{kind}-{algorithm}-{re.sub("[^A-Za-z0-9]+", "-", graph).strip("-").lower()}.svg'


def is_written(row):
    return row.get("as_written") == "true"


def draw_heat_maps(places):
    """File name → drawing, for places with two worker sizes at least. Of scans of several sizes the fastest."""
    drawings = {}
    for (algorithm, graph), forms in places.items():
        for written, kind, title in ((False, "heat", "persistent kernel"), (True, "heat-written", "persistent kernel, as written")):
            times = {}
            for row in forms.values():
                if row["scheduler"] == "megakernel" and row["rounds"] == "1" and is_written(row) == written:
                    size = int(row["worker"]), int(row["fetch"])
                    times[size] = min(times.get(size, math.inf), float(row["ms"]))
            if len(times) > 1:
                drawings[file_name(kind, algorithm, graph)] = heat_map(f"{algorithm}, {graph}: {title}", times)
    return drawings


def draw_throughput(places, name):
    """File name → drawing, from a file of timelines: the bulk synchronous form and the three fastest others."""
    curves = collections.OrderedDict()
    with open(name, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            place = curves.setdefault((row["algorithm"], row["graph"]), collections.OrderedDict())
            place.setdefault(row["form"], []).append((float(row["us"]), float(row["work"])))
    drawings = {}
    for (algorithm, graph), place in curves.items():
        forms = places.get((algorithm, graph), {})
        tasks = sorted((form for form in place if form in forms and form != "bsp"),
                       key=lambda form: float(forms[form]["ms"]))
        useful = collections.OrderedDict()
        for form in ["bsp"] + tasks[:3]:
            if form not in place or "bsp" not in forms:
                continue
            factor = overwork(forms[form], forms["bsp"])
            useful[form] = [(time, rate / factor) for time, rate in smoothed(place[form])]
        if useful:
            written = all(is_written(forms[form]) for form in useful if form != "bsp")
            kind, title = ("throughput-written", ", as written") if written and len(useful) > 1 else ("throughput", "")
            drawings[file_name(kind, algorithm, graph)] = throughput(
                f"{algorithm}, {graph}{title}", useful)
    return drawings


def main(arguments):
    parser = argparse.ArgumentParser(description="Tables and plots of graph algorithms' rows.")
    parser.add_argument("rows", nargs="+")
    parser.add_argument("--plots", help="folder for the plots")
    parser.add_argument("--timeline", help="file of timelines, for the plots")
    parser.add_argument("--short", action="store_true", help="a line a form")
    chosen = parser.parse_args(arguments)
    rows, bad = read(chosen.rows)
    places = by_place(rows)
    print(describe_short(places) if chosen.short else describe(places))
    if bad:
        print("\nNot verified:\n" + "\n".join("- " + name for name in bad))
    if chosen.plots:
        os.makedirs(chosen.plots, exist_ok=True)
        drawings = draw_heat_maps(places)
        if chosen.timeline:
            drawings.update(draw_throughput(places, chosen.timeline))
        for name, drawing in drawings.items():
            with open(os.path.join(chosen.plots, name), "w", encoding="utf-8") as file:
                file.write(drawing)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

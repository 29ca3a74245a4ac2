"""Plots as SVG, with nothing but the standard library: bars on a logarithmic scale, and performance profiles."""
import math
from xml.sax.saxutils import escape

COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf")
FONT = 'font-family="sans-serif" font-size="12"'


class Drawing:
    """Elements of an SVG image on white ground."""

    def __init__(self, width, height):
        self.elements = []
        self.head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                     f'viewBox="0 0 {width} {height}">')
        self.add(f'<rect width="{width}" height="{height}" fill="white"/>')

    def add(self, element):
        self.elements.append(element)

    def line(self, x1, y1, x2, y2, colour="#cccccc"):
        self.add(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>')

    def upwards(self, x, y, words):
        """Text along a vertical axis, with its middle at (x, y)."""
        self.add(f'<text transform="translate({x:.1f},{y:.1f}) rotate(-90)" text-anchor="middle" {FONT}>{escape(words)}</text>')

    def text(self, x, y, words, anchor="start"):
        self.add(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {FONT}>{escape(words)}</text>')

    def box(self, x, y, width, height, colour):
        self.add(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>')

    def path(self, points, colour, dashes):
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        style = ' stroke-dasharray="6 3"' if dashes else ""
        self.add(f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="2"{style}/>')

    def svg(self):
        return "\n".join([self.head] + self.elements + ["</svg>"]) + "\n"


def ticks(least, most):
    """1, 2, 5, 10, … and their inverses, from below least to above most."""
    values = [factor * 10.0**power for power in range(-3, 5) for factor in (1, 2, 5)]
    below = max([value for value in values if value <= least], default=values[0])
    above = min([value for value in values if value >= most], default=values[-1])
    return [value for value in values if below <= value <= above]


def even_ticks(most, count=4):
    """0 and multiples of 1, 2 or 5 times a power of ten, some `count` of them, the last at most `most`."""
    rough = most / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((factor * power for factor in (1, 2, 5, 10)), key=lambda value: abs(math.log(value / rough)))
    return [k * step for k in range(int(most / step * (1 + 1e-9)) + 1)]


def bars(ratios):
    """ratios: problem → {triangle: ratio of SpSV's time to ours}. A bar for each, from 1 to the ratio."""
    numbers = [value for pair in ratios.values() for value in pair.values()] or [1.0]
    scale = ticks(min(numbers + [1.0]), max(numbers + [1.0]))
    if len(scale) < 2:
        scale = [1.0, 2.0]
    left, width, top, step = 190, 560, 40, 32
    height = top + step * len(ratios) + 30
    drawing = Drawing(left + width + 60, height)
    low, high = math.log(scale[0]), math.log(scale[-1])

    def place(value):
        return left + width * (math.log(value) - low) / (high - low)

    drawing.text(left, 16, "SpSV's time over TaskDAG's, default schedule")
    for k, triangle in enumerate(("lower", "upper")):
        drawing.box(left + 330 + 90 * k, 6, 12, 12, COLOURS[k])
        drawing.text(left + 347 + 90 * k, 16, triangle)
    for value in scale:
        drawing.line(place(value), top - 6, place(value), height - 24, "#000000" if value == 1 else "#cccccc")
        drawing.text(place(value), height - 8, f"{value:g}", "middle")
    drawing.text(left - 16, height - 8, "ratio of times", "end")
    for number, (problem, pair) in enumerate(ratios.items()):
        y = top + step * number
        drawing.text(left - 8, y + 17, problem, "end")
        for k, triangle in enumerate(("lower", "upper")):
            if triangle not in pair:
                continue
            start, end = sorted((place(1.0), place(pair[triangle])))
            drawing.box(start, y + 13 * k, end - start, 12, COLOURS[k])
            drawing.text(max(end, place(1.0)) + 4, y + 13 * k + 10.5, f"{pair[triangle]:.2g}")
    return drawing.svg()


def curve(times, best, most):
    """Steps (τ, share of the systems solved within τ times the best time), from 1 to most."""
    ratios = sorted(time / least for time, least in zip(times, best) if time is not None)
    points = [(1.0, 0.0)]
    for count, ratio in enumerate(ratios, start=1):
        if ratio > most:
            break
        points += [(ratio, points[-1][1]), (ratio, count / len(best))]
    return points + [(most, points[-1][1])]


def profile(times):
    """times: solver → time on each system, None where it has none. Source: Dolan & Moré 2002."""
    systems = len(next(iter(times.values()), []))
    best = [min(column[k] for column in times.values() if column[k] is not None) for k in range(systems)]
    most = 32.0
    left, top, width, height, legend = 70, 30, 520, 320, 190
    drawing = Drawing(left + width + legend, top + height + 50)
    drawing.text(left, 16, f"Share of {systems} triangular solves within τ times the fastest")

    def place(ratio, share):
        return left + width * math.log(ratio) / math.log(most), top + height * (1 - share)

    for ratio in (1, 2, 4, 8, 16, 32):
        x, y = place(ratio, 0)
        drawing.line(x, top, x, y)
        drawing.text(x, y + 18, f"{ratio}", "middle")
    for share in (0, 0.25, 0.5, 0.75, 1):
        x, y = place(1, share)
        drawing.line(x, y, left + width, y)
        drawing.text(x - 6, y + 4, f"{share:g}", "end")
    drawing.text(left + width / 2, top + height + 38, "τ: time over the fastest", "middle")
    drawing.upwards(20, top + height / 2, "share of the solves")
    for k, (name, column) in enumerate(times.items()):
        colour, dashes = COLOURS[k % len(COLOURS)], k >= len(COLOURS)
        drawing.path([place(*point) for point in curve(column, best, most)], colour, dashes)
        y = top + 10 + 18 * k
        drawing.path([(left + width + 15, y), (left + width + 40, y)], colour, dashes)
        drawing.text(left + width + 46, y + 4, name)
    return drawing.svg()

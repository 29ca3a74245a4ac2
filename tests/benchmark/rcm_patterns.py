#!/ usr / bin / env python3
"""Draws patterns before and after reverse Cuthill-McKee as SVG (MHive, figure 8.1).

usage: rcm_patterns.py ROWS.csv IMAGE.svg     ROWS.csv: of `taskdag_rcm_bench --patterns ROWS.csv`
Fails where the cells of an order do not hold all entries of its matrix.
"""
import csv
import math
import sys

import plots

SIDE = 192  # of a pattern, in pixels
GAP = 24
HEAD = 40


def read(path):
    """{problem: {order: {(row cell, column cell): entries}}}, and cells a side."""
    problems, cells = {}, 0
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            order = problems.setdefault(row["problem"], {}).setdefault(row["order"], {})
            order[int(row["row_cell"]), int(row["column_cell"])] = int(row["entries_in_cell"])
            order.setdefault("all", int(row["entries"]))
            cells = int(row["cells"])
    for problem, orders in problems.items():
        for order, held in orders.items():
            entries = held.pop("all")
            if sum(held.values()) != entries:
                raise SystemExit(f"{problem}, {order}: cells hold {sum(held.values())} entries of {entries}")
    return problems, cells


def shade(entries, most):
    """Light where a cell has one entry, dark where it has most, by the logarithm."""
    dark = math.log1p(entries) / math.log1p(most)
    level = round(215 * (1 - dark))
    return f"#{level:02x}{level:02x}{min(255, level + 40):02x}"


def draw(problems, cells):
    drawing = plots.Drawing(GAP + len(problems) * (SIDE + GAP), HEAD + 2 * (SIDE + GAP))
    size = SIDE / cells
    for column, (problem, orders) in enumerate(problems.items()):
        left = GAP + column * (SIDE + GAP)
        drawing.text(left, 16, problem)
        for line, (order, held) in enumerate(orders.items()):
            top = HEAD + line * (SIDE + GAP)
            drawing.text(left, top - 6, order)
            drawing.box(left, top, SIDE, SIDE, "#f4f4f4")
            most = max(held.values())
            for (i, j), entries in held.items():
                drawing.box(left + j * size, top + i * size, size, size, shade(entries, most))
    return drawing.svg()


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    problems, cells = read(sys.argv[1])
    if not problems:
        raise SystemExit(f"{sys.argv[1]} has no rows")
    with open(sys.argv[2], "w") as file:
        file.write(draw(problems, cells))


if __name__ == "__main__":
    main()

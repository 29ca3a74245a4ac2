#!/usr/bin/env python3
"""Makes matrices of the papers again, from what is known of them, and compares sizes with the papers' tables.

usage: matrices.py [--only NAME]... [--write FOLDER] [--smoke]
Rows of CSV on the standard output: rows, entries, levels of the lower triangle, each beside the paper's. Patterns alone.
G3_circuit and one order of parabolic_fem are read from TASKDAG_MATRIX_DIR; those permuted by METIS need libmetis 5 with
32-bit indices, which is opened where it is found. What is not there is said in its row. --write: the patterns as
NAME.mtx, too, for other programs to read by TASKDAG_MATRIX_DIR. --smoke: small ones of each kind, of published sizes.
Exit status 1 where one of these has another size.
"""
import argparse
import array
import collections
import csv
import ctypes
import functools
import itertools
import lzma
import os
import sys

HEAD = ["paper", "table", "matrix", "made", "counted", "rows_paper", "rows", "entries_paper", "entries",
        "wavefront_paper", "levels", "wavefront", "status", "commit"]
METIS = "libmetis.so.5"


class Missing(Exception):
    """A file or a library that is not there."""


class Pattern:
    """A square pattern: the columns of each row, ascending; symmetric, or not."""

    def __init__(self, rows, symmetric=True):
        self.symmetric = symmetric
        self.offsets = array.array("q", [0])
        self.columns = array.array("i")
        for columns in rows:
            self.columns.extend(columns)
            self.offsets.append(len(self.columns))

    def rows(self):
        return len(self.offsets) - 1

    def row(self, i):
        return self.columns[self.offsets[i]:self.offsets[i + 1]]

    def permuted(self, order):
        """order[new] = old."""
        place = array.array("i", bytes(4 * len(order)))
        for new, old in enumerate(order):
            place[old] = new
        return Pattern((sorted(place[j] for j in self.row(old)) for old in order), self.symmetric)


def sizes(pattern):
    """Entries, those of the lower triangle with the diagonal, and levels of that triangle."""
    level = array.array("i", bytes(4 * pattern.rows()))
    lower = 0
    for i in range(pattern.rows()):
        most = 0
        for j in pattern.row(i):
            if j > i:
                break
            lower += 1
            if j < i and level[j] >= most:
                most = level[j] + 1
        level[i] = most
    return len(pattern.columns), lower, max(level) + 1


def stencil(shape, neighbours, without=None):
    """A grid, the first direction fastest; `without`: a point that is left out."""
    strides = list(itertools.accumulate(shape[:-1], lambda stride, length: stride * length, initial=1))

    def number(point):
        return sum(x * stride for x, stride in zip(point, strides))
    steps = sorted((number(step), step) for step in neighbours)
    gap = None if without is None else number(without)

    def rows():
        for own, point in enumerate(itertools.product(*(range(length) for length in reversed(shape)))):
            if own == gap:
                continue
            if all(0 < x < length - 1 for x, length in zip(point, reversed(shape))):
                near = [own + offset for offset, _ in steps]
            else:
                near = [own + offset for offset, step in steps
                        if all(0 <= x + d < length for x, d, length in zip(reversed(point), step, shape))]
            if gap is not None:
                near = [k - (k > gap) for k in near if k != gap]
            yield near
    return Pattern(rows())


def star(dimensions):
    """A point and its neighbours along the axes."""
    return [step for step in itertools.product((-1, 0, 1), repeat=dimensions) if sum(map(abs, step)) <= 1]


def triangles(columns, rows):
    """A grid whose cells are cut by diagonals of one direction: linear finite elements."""
    return stencil((columns, rows), star(2) + [(1, 1), (-1, -1)])


def tensor_elements(elements, degree):
    """Finite elements of this degree in each direction on elements² squares, without the boundary; row by row."""
    nodes = elements * degree + 1
    near = []
    for k in range(1, nodes - 1):
        first = (k - 1) // degree * degree
        last = first + degree if k % degree else k + degree
        near.append([j - 1 for j in range(first, last + 1) if 0 < j < nodes - 1])
    side = nodes - 2
    return Pattern([x + side * y for y in near[row] for x in near[column]] for row in range(side) for column in range(side))


def boundary_control(side):
    """The KKT matrix of a problem on side³ points with a 27-point stencil that is controlled on its six faces, each with
    9 points of its own: states, controls, multipliers; the multipliers' diagonal is stored."""
    points = side ** 3
    cube = range(side)

    def index(x, y, z):
        return x + side * (y + side * z)

    def box(point, fixed=None):
        ranges = [range(x, x + 1) if d == fixed else range(max(x - 1, 0), min(x + 2, side)) for d, x in enumerate(point)]
        return sorted(index(x, y, z) for z in ranges[2] for y in ranges[1] for x in ranges[0])

    faces = []  # of each control, the points that it acts on
    acts = collections.defaultdict(list)
    for fixed, end in itertools.product(range(3), (0, side - 1)):
        for a, b in itertools.product(cube, cube):
            point = [a, b]
            point.insert(fixed, end)
            for p in box(point, fixed):
                acts[p].append(points + len(faces))
            faces.append(box(point, fixed))
    first = points + len(faces)

    def rows():
        for z, y, x in itertools.product(cube, cube, cube):
            yield [index(x, y, z)] + [first + j for j in box((x, y, z))]
        for k, acted in enumerate(faces):
            yield [points + k] + [first + j for j in acted]
        for z, y, x in itertools.product(cube, cube, cube):
            own = index(x, y, z)
            yield box((x, y, z)) + acts[own] + [first + own]
    return Pattern(rows())


class Polymers:
    """The cage model's states: walks of n monomers on a tree that has three edges up and three down at each vertex, but
    for its symmetries and the direction of the walk. A walk is coded step by step: the number of a vertex that it has
    met, in the order in which they were met, or -1 and -2 for a new one up and down.

    A move replaces an end, or a monomer between two that are at one place. Source: van Heukelum, Barkema, Bisseling 2002,
    doi:10.1006/jcph.2002.7112; that its reduced states are these was found by their number and that of their entries.
    """
    EDGES = 3

    def __init__(self, monomers):
        first = self.code(*self.decode((-1,) * (monomers - 1)))
        self.number = {first: 0}
        self.near = []
        found = collections.deque([first])
        while found:
            near = self.moves(found.popleft())
            for state in near:
                if state not in self.number:
                    self.number[state] = len(self.number)
                    found.append(state)
            self.near.append(array.array("i", sorted(self.number[state] for state in near)))

    def pattern(self):
        return Pattern(self.near, symmetric=False)

    @staticmethod
    def decode(steps):
        """The walk's vertices, and the direction of each edge both ways."""
        path, up, new = [0], {}, 1
        for step in steps:
            to = step
            if step < 0:
                to, new = new, new + 1
                up[path[-1], to] = step == -1
                up[to, path[-1]] = step == -2
            path.append(to)
        return path, up

    @staticmethod
    def code(path, up):
        """The lesser of the codes of both directions."""
        codes = []
        for walk in (path, path[::-1]):
            name, steps = {walk[0]: 0}, []
            for here, to in zip(walk, walk[1:]):
                if to in name:
                    steps.append(name[to])
                else:
                    name[to] = len(name)
                    steps.append(-1 if up[here, to] else -2)
            codes.append(tuple(steps))
        return min(codes)

    def moves(self, steps):
        path, up = self.decode(steps)
        last = len(path) - 1
        states = set()
        for k in range(last + 1):
            if 0 < k < last and path[k - 1] != path[k + 1]:
                continue
            pivot = path[k - 1] if k else path[1]
            rest = path[:k] + path[k + (2 if 0 < k < last else 1):]
            near = {v for edge in zip(rest, rest[1:]) if pivot in edge for v in edge} - {pivot}
            for to in near:
                states.add(self.code(path[:k] + [to] + path[k + 1:], up))
            for upwards in (True, False):
                if sum(up[pivot, v] == upwards for v in near) < self.EDGES:
                    directed = {**up, (pivot, -1): upwards, (-1, pivot): not upwards}
                    states.add(self.code(path[:k] + [-1] + path[k + 1:], directed))
        return states


def read_file(name):
    """The full pattern of a symmetric Matrix Market file of TASKDAG_MATRIX_DIR."""
    path = os.path.join(os.environ.get("TASKDAG_MATRIX_DIR", ""), name + ".mtx.xz")
    if not os.path.exists(path):
        raise Missing(f"no file {name}.mtx.xz in TASKDAG_MATRIX_DIR")
    with lzma.open(path, "rt") as file:
        lines = (line for line in file if not line.startswith("%"))
        rows = [array.array("i") for _ in range(int(next(lines).split()[0]))]
        for line in lines:
            i, j = (int(word) - 1 for word in line.split()[:2])
            rows[i].append(j)
            if i != j:
                rows[j].append(i)
    return Pattern(sorted(row) for row in rows)


def metis_order(pattern):
    """METIS_NodeND with its defaults: order[new] = old."""
    try:
        library = ctypes.CDLL(METIS)
    except OSError:
        raise Missing(f"no {METIS}") from None
    n = pattern.rows()
    graph = Pattern([j for j in pattern.row(i) if j != i] for i in range(n))
    offsets = (ctypes.c_int32 * (n + 1))(*graph.offsets)
    columns = (ctypes.c_int32 * len(graph.columns)).from_buffer(graph.columns)
    order, place = (ctypes.c_int32 * n)(), (ctypes.c_int32 * n)()
    status = library.METIS_NodeND(ctypes.byref(ctypes.c_int32(n)), offsets, columns, None, None, order, place)
    if status != 1 or sorted(order) != list(range(n)):
        raise Missing(f"METIS_NodeND of 32-bit indices: status {status}")
    return list(order)


def dissected(make):
    def permuted():
        pattern = make()
        return pattern.permuted(metis_order(pattern))
    return permuted


@functools.cache
def ecology2():
    return stencil((1000, 1000), star(2), (500, 500))


@functools.cache
def apache2():
    return stencil((297, 301, 8), star(3))


@functools.cache
def g3_circuit():
    return read_file("G3_circuit")


@functools.cache
def parabolic_fem():
    return triangles(1025, 513)


@functools.cache
def dubcova3():
    return tensor_elements(128, 3)


# Paper, table, matrix, how it is made, whether the paper counts all entries or the lower triangle's, its rows, entries
# and average wavefront (0: it has none), the maker.
GRID = "5-point grid 1000², a point inside left out"
BOX = "7-point grid 297 × 301 × 8"
MESH = "linear elements on 1024 × 512 halved squares, row by row"
CUBIC = "bicubic elements on 128² squares, row by row"
MATRICES = [
    ("Böhnlein", "SuiteSparse", "ecology2", GRID, "lower", 999999, 2997995, 500, ecology2),
    ("Böhnlein", "SuiteSparse", "apache2", BOX, "lower", 715176, 2766523, 1077, apache2),
    ("Böhnlein", "SuiteSparse", "Dubcova3", CUBIC, "lower", 146689, 1891669, 44, dubcova3),
    ("Böhnlein", "SuiteSparse", "parabolic_fem", MESH, "lower", 525825, 2100225, 75117, parabolic_fem),
    ("Böhnlein", "SuiteSparse", "parabolic_fem", "the same in the order of a file of it", "lower", 525825, 2100225, 75117,
     lambda: read_file("parabolic_fem_rebuilt")),
    ("Böhnlein", "SuiteSparse", "G3_circuit", "its file", "lower", 1585478, 4623152, 611, g3_circuit),
    ("Böhnlein", "METIS", "ecology2_metis", GRID + ", METIS", "lower", 999999, 2997995, 62499, dissected(ecology2)),
    ("Böhnlein", "METIS", "apache2_metis", BOX + ", METIS", "lower", 715176, 2766523, 47678, dissected(apache2)),
    ("Böhnlein", "METIS", "G3_circuit_metis", "its file, METIS", "lower", 1585478, 4623152, 93263, dissected(g3_circuit)),
    ("Helal", "I", "cage13", "cage model, 13 monomers", "all", 445315, 7479343, 0, lambda: Polymers(13).pattern()),
    ("Helal", "I", "parabolic_fem", MESH, "all", 525825, 3674625, 0, parabolic_fem),
    ("Helal", "I", "apache2", BOX, "all", 715176, 4817870, 0, apache2),
    ("Helal", "I", "ecology2", GRID, "all", 999999, 4995991, 0, ecology2),
    ("Helal", "I", "atmosmodd", "7-point grid 148 × 148 × 58", "all", 1270432, 8814880, 0,
     lambda: stencil((148, 148, 58), star(3))),
    ("Helal", "I", "G3_circuit", "its file", "all", 1585478, 7660826, 0, g3_circuit),
    ("MHive", "8.1", "Dubcova3", CUBIC, "all", 146689, 3636649, 0, dubcova3),
    ("MHive", "8.1", "nlpkkt80", "boundary control on 80³ points", "all", 1062400, 28704672, 0,
     lambda: boundary_control(80)),
    ("MHive", "8.1", "G3_circuit", "its file", "all", 1585478, 7660826, 0, g3_circuit),
    ("MHive", "8.4", "parabolic_fem", MESH, "all", 525825, 3674625, 0, parabolic_fem),
]
# Sizes of the SuiteSparse collection, and of a small grid by hand.
SMALL = [
    ("SuiteSparse", "", "cage3", "cage model", "all", 5, 19, 0, lambda: Polymers(3).pattern()),
    ("SuiteSparse", "", "cage5", "cage model", "all", 37, 233, 0, lambda: Polymers(5).pattern()),
    ("SuiteSparse", "", "cage7", "cage model", "all", 340, 3084, 0, lambda: Polymers(7).pattern()),
    ("SuiteSparse", "", "cage8", "cage model", "all", 1015, 11003, 0, lambda: Polymers(8).pattern()),
    ("SuiteSparse", "", "Dubcova1", "biquadratic elements", "all", 16129, 253009, 0, lambda: tensor_elements(64, 2)),
    ("", "", "grid", "5-point grid 4 × 3 without a point", "all", 11, 37, 0, lambda: stencil((4, 3), star(2), (1, 1))),
    ("", "", "grid levels", "7-point grid 4 × 3 × 2", "lower", 24, 70, 3, lambda: stencil((4, 3, 2), star(3))),
    ("", "", "grid_metis", "5-point grid 8², METIS", "all", 64, 288, 0, dissected(lambda: stencil((8, 8), star(2)))),
    ("", "", "mesh", "halved squares", "all", 12, 58, 0, lambda: triangles(4, 3)),
    ("", "", "control", "boundary control on 3³ points", "all", 108, 1382, 0, lambda: boundary_control(3)),
]


def write(folder, name, pattern):
    """Matrix Market: the lower triangle of a symmetric pattern."""
    entries = sizes(pattern)[1] if pattern.symmetric else len(pattern.columns)
    with open(os.path.join(folder, name + ".mtx"), "w", encoding="ascii") as file:
        kind = "symmetric" if pattern.symmetric else "general"
        file.write(f"%%MatrixMarket matrix coordinate pattern {kind}\n{pattern.rows()} {pattern.rows()} {entries}\n")
        for i in range(pattern.rows()):
            file.writelines(f"{i + 1} {j + 1}\n" for j in pattern.row(i) if j <= i or not pattern.symmetric)


def compare(entry, pattern):
    """A row of CSV, as a list."""
    paper, table, name, made, counted, rows, entries, wavefront, _ = entry
    found = [paper, table, name, made, counted, rows, "", entries, "", wavefront or "", "", ""]
    if isinstance(pattern, Missing):
        return [*found, str(pattern)]
    both, lower, levels = sizes(pattern)
    ours = lower if counted == "lower" else both
    average = pattern.rows() // levels
    found[6], found[8], found[10:] = pattern.rows(), ours, [levels, average]
    other = [what for what, is_equal in (("rows", pattern.rows() == rows), ("entries", ours == entries),
                                         ("wavefront", not wavefront or average == wavefront)) if not is_equal]
    return [*found, "other " + " and ".join(other) if other else "equal"]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--write", default="")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(HEAD)
    well = True
    for entry in SMALL if options.smoke else MATRICES:
        name, maker = entry[2], entry[-1]
        if options.only and name not in options.only:
            continue
        try:
            pattern = maker()
            if options.write:
                write(options.write, name, pattern)
        except Missing as missing:
            pattern = missing
        row = compare(entry, pattern)
        well = well and not row[-1].startswith("other")
        out.writerow([*row, os.environ.get("TASKDAG_COMMIT", "unknown")])
        sys.stdout.flush()
    return 0 if well or not options.smoke else 1


if __name__ == "__main__":
    sys.exit(main())

"""Tables of docs/notes that are computed from rows of tests/benchmark/results, as those of tables.py are."""
from tables import block, one, ratio, read, report, show

ICC = "host-icc-shift.csv"
SHIFTED = ("bcsstk38", "ex10hs", "sherman1", "gun_K")
ORDERINGS = ("natural", "taskdag_rcm", "taskdag_bmc")


def icc_row(rows, matrix, norm, preconditioner, ordering=""):
    found = [row for row in rows if (row["matrix"], row["norm"], row["preconditioner"], row["ordering"]) ==
             (matrix, norm, preconditioner, ordering)]
    if len(found) != 1:
        raise ValueError(f"{len(found)} rows of {matrix}, {norm}, {preconditioner}, {ordering}")
    return found[0]


def ended(row):
    """Iterations of a solve, None where it did not converge."""
    return int(row["iterations"]) if row["reason"].startswith("CONVERGED") else None


def both_shifts(rows, matrix, norm, ordering):
    """Iterations with PETSc's shift and with the scaled one, the fewer bold."""
    counts = [ended(icc_row(rows, matrix, norm, f"ICC(0) {shift}", ordering)) for shift in ("petsc", "scaled")]
    least = min(count for count in counts if count)
    return ", ".join("no end" if count is None else f"**{count}**" if counts.count(least) == 1 and count == least
                     else str(count) for count in counts)


def icc_table(norm):
    rows = read(ICC)
    lines = []
    for matrix in SHIFTED:
        jacobi = ended(icc_row(rows, matrix, norm, "Jacobi"))
        lines.append([matrix, "no end" if jacobi is None else str(jacobi)] +
                     [both_shifts(rows, matrix, norm, ordering) for ordering in ORDERINGS])
    return ["Matrix", "Jacobi", "natural", "`taskdag_rcm`", "`taskdag_bmc`"], lines


def shift_found(row):
    return f"{float(row['shift']):.2g} in {row['attempts']}" if row["shift"] else "none"


@block
def icc_shift_residual():
    head, lines = icc_table("unpreconditioned")
    rows = read(ICC)
    for line in lines:
        line.append("; ".join(shift_found(icc_row(rows, line[0], "unpreconditioned", "ICC(0) scaled", ordering))
                              for ordering in ORDERINGS))
    return report.table([*head, "shift found, and attempts"], lines)


@block
def icc_shift_default():
    return report.table(*icc_table("preconditioned"))


# Milliseconds of the forms before, by hand: in rounds, and the first one with rows in registers.
BEFORE = {
    ("ilu0", "27-point 30^3"): (None, 0.28), ("ilu0", "27-point 60^3"): (None, None), ("ilu0", "27-point 80^3"): (1.84, 1.57),
    ("ic0", "27-point 80^3"): (None, 1.64), ("ilu0", "27-point 120^3"): (None, 4.62), ("ic0", "27-point 120^3"): (None, None),
    ("ilu0", "27-point 3 unknowns 36^3"): (2.79, 2.18), ("ic0", "27-point 3 unknowns 36^3"): (2.43, 1.77),
    ("ilu0", "27-point 3 unknowns 60^3"): (None, 8.26), ("ic0", "27-point 3 unknowns 60^3"): (None, None),
    ("ilu0", "wheelset_elast_r0"): (1.10, 0.95), ("ic0", "wheelset_elast_r0"): (0.93, 0.79),
    ("ilu0", "bcsstk38"): (3.26, 2.96), ("ilu0", "Dubcova2_rebuilt"): (0.47, 0.48), ("ilu0", "wave"): (1.19, 0.95),
    ("ic0", "wave"): (None, 1.18),
}


@block
def rows_in_registers():
    rows = read("h100-ilu0.csv") + read("h100-ilu0-registers.csv")
    lines = []
    for (what, problem), before in BEFORE.items():
        ours = one(rows, what=what, problem=problem, solver="TaskDAG")
        theirs = one(rows, what=what, problem=problem, solver="csrilu02" if what == "ilu0" else "csric02")
        lines.append([f"{'ILU' if what == 'ilu0' else 'IC'}(0), {problem}", *map(show, before), show(ours), show(theirs),
                      f"{ratio(theirs, ours):.1f}"])
    return report.table(["", "`rounds`", "first in registers", "present", "cuSPARSE", "ratio"], lines)

#!/usr/bin/env python3
"""Tests of check.py and tables.py: that they find what is wrong, and means by hand on made-up rows."""
import contextlib
import csv
import io
import os
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import check  # noqa: E402 (after the line that keeps the source folder clean)
import published  # noqa: E402
import tables  # noqa: E402
from tables import protocol  # noqa: E402

PAPERS = os.path.join(check.DOCS, "papers", "papers.md")


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_check(self, *arguments):
        """Exit status and printed text."""
        with contextlib.redirect_stdout(io.StringIO()) as out:
            status = check.main(list(arguments))
        return status, out.getvalue()

    def document(self, change=lambda text: text):
        """A changed copy of docs/papers/papers.md."""
        with open(PAPERS, encoding="utf-8") as file:
            text = file.read()
        path = os.path.join(self.folder, "papers.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write(change(text))
        return path

    def results(self):
        """A copy of the rows, which tables.py then reads."""
        copy = os.path.join(self.folder, "results")
        if tables.RESULTS == copy:
            return copy
        shutil.copytree(tables.RESULTS, copy)
        original, tables.RESULTS = tables.RESULTS, copy
        self.addCleanup(setattr, tables, "RESULTS", original)
        return copy


class CheckTest(WithFolder):
    def test_a_copy_passes(self):
        self.assertFalse(self.run_check(self.document())[0])

    def test_a_number_that_the_rows_do_not_give_is_found_and_mended(self):
        path = self.document(lambda text: text.replace("| 2.70 |", "| 3.00 |", 1))
        status, printed = self.run_check(path)
        self.assertTrue(status)
        self.assertIn("+| text of 8 |", printed)
        self.run_check("--write", path)
        self.assertFalse(self.run_check(path)[0])

    def test_a_changed_row_is_found(self):
        path = os.path.join(self.results(), "h200-schedules.csv")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        row = next(line for line in text.split("\n") if ",self," in line)
        cells = row.split(",")
        where = text.split("\n")[0].split(",").index("milliseconds")
        cells[where] = str(2 * float(cells[where]))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(row, ",".join(cells)))
        status, printed = self.run_check()
        self.assertTrue(status)
        self.assertIn("papers.md", printed)
        self.assertIn("schedules-compared.md", printed)

    def test_another_commit_is_found(self):
        path = os.path.join(self.results(), "h200-graph.csv")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("618c007", "0000000"))
        self.assertIn("+| `h200-graph.csv` |", self.run_check()[1])

    def test_a_table_that_is_missing_or_unknown_is_found(self):
        wanted = list(check.documents().values())[0]
        without = self.document(lambda text: text.replace("papers atos-work: begin", "no mark"))
        self.assertTrue(check.check(without, wanted, False))
        twice = self.document(lambda text: text + "<!-- papers atos-work: begin -->\n<!-- papers atos-work: end -->\n")
        self.assertTrue(check.check(twice, wanted, False))
        unknown = self.document(lambda text: text + "<!-- papers nothing: begin -->\n<!-- papers nothing: end -->\n")
        self.assertIn("nothing", "".join(check.check(unknown, wanted, False)))

    def test_a_mark_without_its_partner_is_found_and_nothing_written(self):
        path = self.document(lambda text: text.replace("<!-- papers atos-work: end -->", "").replace("2.70", "3.00", 1))
        status, printed = self.run_check("--write", path)
        self.assertTrue(status)
        self.assertIn("without its partner", printed)
        with open(path, encoding="utf-8") as file:
            self.assertIn("3.00", file.read())

    def test_every_file_in_the_tables_has_a_command(self):
        text = "\n".join(line for name, table in tables.BLOCKS.items() if name != "rows-and-commands" for line in table())
        named = {word for word in text.split("`") if word.endswith(".csv")}
        self.assertLessEqual(named, set(tables.COMMANDS))


class TablesTest(WithFolder):
    def write(self, name, rows):
        with open(os.path.join(self.results(), name), "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

    def test_failed_and_unchecked_rows_are_left_out(self):
        self.write("h200-rcm.csv", [{"method": "a", "status": "ok"}, {"method": "b", "status": "wrong"}])
        self.assertEqual([row["method"] for row in tables.read("h200-rcm.csv")], ["a"])

    def test_a_file_without_a_right_row_is_refused(self):
        self.write("h200-graph.csv", [{"form": "bsp", "verified": "false"}])
        with self.assertRaises(ValueError):
            tables.read("h200-graph.csv")

    def test_a_wrong_result_of_the_host_is_refused(self):
        self.write(tables.HOST, [{"cores": "16", "set": "real", "matrix": "a", "schedule": "locking", "solve_ms": "1",
                                  "speedup": "2", "error": "nan"}])
        with self.assertRaises(ValueError):
            tables.barrier_speed()

    def test_means_are_geometric_and_by_class(self):
        head = ("program,problem,triangle,transposed,rhs,solver,schedule,class,milliseconds,analysis_ms,status").split(",")

        def row(problem, schedule, dag_class, milliseconds, status="ok"):
            values = ("sptrsv", problem, "lower", "false", "1", "TaskDAG", schedule, dag_class, milliseconds, "1", status)
            return dict(zip(head, values))

        self.write(tables.SCHEDULES, [
            row("a", "ata-concurrency", "wide", "1"), row("a", "self", "wide", "2"), row("a", "level-launch", "wide", "4"),
            row("b", "ata-concurrency", "L-shape", "1"), row("b", "self", "L-shape", "8"),
            row("b", "level-launch", "L-shape", "1"), row("b", "ata-greedy", "L-shape", "1", "wrong result")])
        self.assertAlmostEqual(tables.faster("ata-concurrency", "self"), 4.0)
        self.assertAlmostEqual(tables.faster("ata-concurrency", "self", "wide"), 2.0)
        self.assertAlmostEqual(tables.faster("ata-concurrency", ("self", "level-launch")), 2.0 ** 0.5)
        with self.assertRaises(KeyError):  # its only row is wrong
            tables.faster("ata-greedy", "self")

    def test_rows_of_ata_are_taken_where_they_are_there(self):
        results = self.results()
        for name in (tables.ATA_ROWS, tables.ATA_CLASSES, tables.ATA_G3):
            if os.path.exists(os.path.join(results, name)):
                os.remove(os.path.join(results, name))
        self.assertEqual(tables.over_others(tables.TRIANGLES, "push"), "not run")
        self.assertIn("Not run", tables.ata_sizes()[0])
        head = ("problem,rows,class,what,flow,schedule,coarse,rows_share_warps,S_given,R,S,tasks,T_l_us,T_u_us,milliseconds,"
                "unmanaged_ms,aggregation_ms,analysis_ms,status").split(",")

        def row(what, flow, schedule, milliseconds, share="false", coarse="", given="", ratio="", status="ok"):
            values = ("a", "1000", "wide", what, flow, schedule, coarse, share, given, ratio, "100", "10", "2.5", "0.01",
                      milliseconds, "0.5", "8", "9", status)
            return dict(zip(head, values))

        self.write(tables.ATA_CLASSES, [
            row("lower", "push", "ata-concurrency", "1", coarse="graph", ratio="100"), row("lower", "push", "level-launch", "4"),
            row("lower", "push", "self", "9"), row("upper", "push", "ata-concurrency", "1", coarse="graph", ratio="100"),
            row("lower", "pull", "ata-concurrency", "3", coarse="graph", ratio="100"),
            # None of these counts: by streams, another R, a given S, shared warps, wrong.
            row("lower", "push", "ata-concurrency", "50", coarse="streams", ratio="100"),
            row("lower", "push", "ata-concurrency", "50", coarse="graph", ratio="10"),
            row("lower", "push", "ata-concurrency", "50", coarse="graph", given="64"),
            row("lower", "push", "ata-concurrency", "50", share="true", coarse="graph", ratio="100"),
            row("upper", "push", "self", "50", status="wrong result")])
        self.assertAlmostEqual(tables.over_others(tables.TRIANGLES, "push"), 6.0)
        self.assertEqual(tables.over_others(tables.COLUMNS), "not run")
        self.assertAlmostEqual(tables.push_over_pull("ata-concurrency"), 3.0)
        self.assertAlmostEqual(tables.over_unmanaged(tables.TRIANGLES, "self", "push"), 18.0)
        self.assertAlmostEqual(tables.over_rival("self", "level-launch", tables.TRIANGLES, "push", "wide"), 4.0 / 9.0)
        self.assertEqual(tables.over_rival("self", "level-launch", tables.TRIANGLES, "push", "L-shape"), "not run")
        self.assertEqual(tables.preparations("ata-locality", "aggregation_ms"), ("not run", "not run"))
        self.assertAlmostEqual(tables.preparations("ata-concurrency", "aggregation_ms")[0], 8.0)
        self.assertAlmostEqual(tables.preparations("ata-concurrency", "analysis_ms")[1], 9.0)
        self.assertTrue(tables.ata_speedups())
        self.write(tables.ATA_ROWS, [row("lower", "pull", schedule, "1", "true", "graph", ratio="100")
                                     for schedule in ("ata-concurrency", "ata-locality", "ata-greedy")])
        self.assertIn("| a | lower | wide | 1,000 | 2.50 | 0.01 | 100 (10) | 100 (10) | 100 (10) |", tables.ata_sizes())

    def without(self, name):
        if os.path.exists(os.path.join(self.results(), name)):
            os.remove(os.path.join(self.results(), name))

    def test_the_chosen_granularity_is_held_against_the_others(self):
        self.without(tables.ATA_STUDY)
        for table in (tables.ata_study, tables.ata_ratios):
            self.assertIn("Not run", table()[0])
        head = "problem,rows,class,schedule,S_given,R,S,tasks,T_l_us,T_u_us,milliseconds,status".split(",")

        def row(schedule, given, ratio, s, milliseconds, status="ok"):
            measured = ("0.5", "0.001") if ratio else ("", "")
            return dict(zip(head, ("a", "1000", "wide", schedule, given, ratio, s, "2", *measured, milliseconds, status)))

        self.write(tables.ATA_STUDY, [
            row("ata-concurrency", "", "100", "800", "3"), row("ata-concurrency", "400", "", "400", "2"),
            row("ata-concurrency", "200", "", "200", "1", "wrong result"), row("ata-concurrency", "", "10", "80", "6"),
            row("ata-greedy", "", "", "500", "1.04"), row("ata-greedy", "250", "", "250", "1")])
        study = "\n".join(tables.ata_study())
        self.assertIn("| a | wide | CA | 800 (2) | 3.00 | 400 (2) | 2.00 | 1.50 |", study)
        self.assertIn("| a | wide | greedy | 500 (2) | 1.04 | 250 (2) | 1.00 | 1.04 |", study)
        self.assertIn("CA 0 of 1, greedy 1 of 1.", study)
        ratios = "\n".join(tables.ata_ratios())
        self.assertIn("| a | CA | 0.50 | 0.001 | 1,000 | 800 | – | – | 2.00 | – | – |", ratios)
        self.assertNotIn("greedy", ratios)

    def test_a_size_by_warps_and_levels_is_held_against_the_best(self):
        self.without(tables.ATA_STUDY)
        self.assertIn("Not run", tables.ata_rule()[0])
        head = "problem,rows,levels,class,schedule,S_given,R,S,tasks,milliseconds,status".split(",")

        def row(problem, given, s, milliseconds):
            ratio = "" if given else "100"
            return dict(zip(head, (problem, "100000", "100", "wide", "ata-concurrency", given, ratio, s, "2", milliseconds, "ok")))

        # The row of the rule counts, neither the one beside it nor the best; without one a problem has no line.
        self.write(tables.ATA_STUDY, [
            row("a", "", "100000", "3"), row("a", "20000", "20000", "1.1"), row("a", "levels", "21120", "1.2"),
            row("a", "40000", "40000", "1"), row("b", "", "100000", "3"), row("b", "20000", "20000", "1")])
        rule = "\n".join(tables.ata_rule())
        self.assertIn("| a | CA | 100 | 21,120 | 1.20 | 3.00 |", rule)
        self.assertNotIn("| b |", rule)
        self.assertIn("CA 0 of 1, at most 1.20.", rule)

    def test_classes_are_means_over_their_problems(self):
        self.without(tables.ATA_CLASSES)
        self.assertIn("Not run", tables.ata_classes()[0])
        head = "problem,class,what,flow,schedule,milliseconds,status".split(",")
        times = {"ata-concurrency": 1, "level-launch": 4, "self": 2, "ata-locality": 3, "ata-greedy": 1}
        rows = [dict(zip(head, (problem, "wide", "lower", "push", schedule, str(times[schedule] * factor ** (schedule == "self")), "ok")))
                for problem, factor in (("a", 1), ("b", 4)) for schedule in times]
        lacks_one = [dict(zip(head, ("c", "wide", "lower", "push", schedule, "1", "ok"))) for schedule in list(times)[:-1]]
        self.write(tables.ATA_CLASSES, rows + lacks_one)
        self.assertEqual([line for line in tables.ata_classes() if line.startswith("| wide")],
                         ["| wide | SpTS, push | 2 | 4.00 | 4.00 | 3.00 | 1.00 | 2.83 |"])

    def test_the_listings_are_not_run_without_their_rows(self):
        results = self.results()
        if os.path.exists(os.path.join(results, tables.PROGRESSION)):
            os.remove(os.path.join(results, tables.PROGRESSION))
        for table in (tables.progression_listings, tables.progression_figures, tables.progression_changes,
                      tables.progression_irregular):
            self.assertIn("Not run", table()[0])

    def test_the_listings_are_set_beside_the_papers_figures(self):
        head = "dag,tasks,edges,levels,variant,form,tasks_per_second,cas_per_task,memory_per_task,status".split(",")

        def row(dag, variant, speed="", cas="", memory="", status="ok"):
            form = "count" if cas else "time"
            return dict(zip(head, (dag, "1000", "2000", "30", variant, form, speed, cas, memory, status)))

        grid, large = tables.PROGRESSION_GRID, tables.PROGRESSION_LARGE
        self.write(tables.PROGRESSION, [
            row(grid, "single", "1e6"), row(grid, "scanning", "2e6"), row(grid, "multi a 100 %", "8e6"),
            row(grid, "single", cas="60", memory="10"), row(grid, "scanning", cas="3", memory="80"),
            row(grid, "multi a 100 %", cas="6", memory="20"),
            row(large, "multi a 100 %", "30e6"), row(large, "multi b 100 %", "33e6"), row(large, "multi a 25 %", "20e6"),
            row(grid, "multi b 100 %", "20e6"), row(grid, "own multi a", "7e6"),
            row(grid, "own multi a 25 %", "14e6"), row(grid, "multi b 100 %, fifo", "5e6"),
            row("R-MAT 16", "multi a 50 %", "3e6"), row("R-MAT 16", "multi b 25 %", "4e6"), row("R-MAT 16", "own best", "9e6"),
            row("R-MAT 16", "single", "9e9", status="WRONG: a lock is not free"), row("G3", "scanning", "", status="time limit")])
        listings = "\n".join(tables.progression_listings())
        for text in ("fastest multi-queue (multi b 100 % here), M tasks/s | 38 | 33.0 | 0.87 |",
                     "scanning's speed / single's | 3 | 2.00 |", "on one grid | 100 | 20.0 |", "500 × 500 | 100 | 33.0 |",
                     "as many queues as blocks | 1.13 | 1.10 | 0.97 |", "… a quarter | no gain | – | – |",
                     "single's / multi-queue a's | more than 100 | 10.0 |", "scanning's / the next | 20 | 4.00 |"):
            self.assertIn(text, listings)
        figures = tables.progression_figures()
        self.assertIn("| scanning | – | 2.00 | 3.00 | 80.0 |", figures)
        self.assertIn("| multi a 100 % | 30.0 | 8.00 | 6.00 | 20.0 |", figures)
        self.assertIn("| multi b 75 % | – | – | – | – |", figures)
        changes = "\n".join(tables.progression_changes())
        self.assertIn("| as in listing 4 | 8.00 | 20.0 | – | – | 2.50 |", changes)
        self.assertIn("| first in, first out | – | 5.00 |", changes)
        self.assertIn("| the engine's: counters, no locks | 7.00 | – | 14.0 | – | – | – | 0.50 | – |", changes)
        irregular = "\n".join(tables.progression_irregular())
        self.assertIn("| R-MAT 16 | 1,000 | 2,000 | 30 | – | – | – | – | – | 4.00 (b 25 %) | – | – | – | – | 9.00 |", irregular)
        self.assertNotIn("G3", irregular)

    def protocol_rows(self, *entries, error="0"):
        """(set, matrix, schedule, milliseconds) on 16 cores; behind them those of one thread in that run, if not 8."""
        self.write(protocol.ROWS, [
            {"commit": "abc", "machine": "m", "cores": "16", "set": key, "matrix": matrix, "rows": "1000000", "entries": "2500000",
             "wavefronts": "1000", "schedule": schedule, "supersteps": "100", "schedule_ms": "30", "solve_ms": str(ms),
             "speedup": str((serial[0] if serial else 8.0) / ms), "error": error} for key, matrix, schedule, ms, *serial in entries])

    def test_the_protocol_is_not_run_without_rows(self):
        for name in (protocol.ROWS, protocol.SCHEDULE_ROWS, protocol.BARRIER_ROWS):
            if os.path.exists(os.path.join(self.results(), name)):
                os.remove(os.path.join(self.results(), name))
        for name, table in tables.BLOCKS.items():
            if name.startswith("protocol-"):
                self.assertIn("Not run", table()[0], name)
        self.assertNotIn(protocol.ROWS, "".join(tables.rows_and_commands()))

    def test_ratios_of_the_protocol_are_over_the_matrices_that_have_both(self):
        self.protocol_rows(("large", "a", "locking", 1.0), ("large", "a", "SpMP", 2.0), ("large", "b", "locking", 1.0),
                           ("large", "b", "SpMP", 8.0), ("large", "c", "locking", 1.0), ("large", "a", "p2p", 3.0))
        lines = protocol.protocol_ratios()
        self.assertIn("SpMP, its own schedule | 1.45 | 4.00 (2) | not run | not run |", lines[2])
        self.assertIn("`p2p`, re-made | 1.45 | 3.00 (1) |", lines[3])
        self.assertIn("HDagg, its own schedule | 3.24 | not run |", lines[4])
        self.assertIn("8.00 (3): 8.00, 8.00, 8.00", protocol.protocol_speed()[2])

    def test_ahead_on_every_set_is_said_of_a_form_that_is(self):
        sets = list(protocol.SETS)
        forms = [("locking", 1.0, 1.0), ("pivotal-path", 1.0, 9.0), ("p2p", 2.0, 2.0), ("HDagg", 3.0, 3.0)]
        self.protocol_rows(*((key, "a", form, last if key == sets[-1] else first) for key in sets for form, first, last in forms))
        lines = {line.split(" | ")[0]: line for line in protocol.protocol_ahead()}
        self.assertTrue(lines["| `locking`"].endswith("| 2.00 (p2p) | 2.00 (p2p) | 2.00 (p2p) | yes |"))
        self.assertTrue(lines["| `pivotal-path`"].endswith("| 0.22 (p2p) | no |"))
        self.assertTrue(lines["| `locking, waits`"].endswith("| not run |"))
        self.protocol_rows(("large", "a", "locking", 1.0), ("large", "a", "p2p", 2.0))  # the other sets have no rows
        self.assertTrue(protocol.protocol_ahead()[2].endswith("| not run |"))

    def test_reordering_and_parts_are_beside_the_papers(self):
        self.protocol_rows(("large", "a", "locking, reordered", 1.0), ("large", "a", "locking, not reordered", 2.0),
                           ("large", "a", "locking", 1.0), ("large", "a", "locking, no fill-up", 4.0),
                           ("large", "a", "pivotal-path", 2.0))
        self.assertIn("10.7 / 7.86 | 1.36 | 8.00 (1) / 4.00 (1) | 2.00 (1) |", protocol.protocol_reordering()[2])
        line = next(line for line in protocol.protocol_ablations() if "fill-up" in line)
        self.assertIn("| 0.25 (1) | 10.0 (1) |", line)
        self.assertIn("| 1000 and more | not run | not run | not run | 4.00 (1) |", protocol.protocol_wavefronts())

    def test_a_changed_choice_is_replaced_by_the_rows_of_what_it_is_now(self):
        changed = protocol.NOW_LOCKING[0]
        self.protocol_rows(("large", changed, "auto", 4.0), ("large", changed, "locking, waits", 1.0),
                           ("large", "other", "auto", 2.0), ("large", "other", "locking, waits", 1.0))
        lines = protocol.protocol_auto_since()
        self.assertIn("| large matrices, 2 | 2.83 | 1 | 8.00 / 2.00 | 5.66 | not run |", lines)
        self.assertIn("| narrow band | not run | not run | not run | not run | not run |", lines)

    def test_auto_is_beside_the_best_that_it_can_take(self):
        self.protocol_rows(*(("large", matrix, form, ms) for matrix, times in (("a", (2, 4, 2, 1)), ("b", (8, 2, 4, 1)))
                             for form, ms in zip(("auto", "plan", "locking, waits", "locking, runs, waits"), times)))
        self.assertEqual(protocol.protocol_auto()[2], "| large matrices, 2 | 2.00 | 2.83 | 2.83 | 8.00 | 4.00 | 1 |")
        self.assertIn("not run", protocol.protocol_auto()[3])

    def test_runs_of_the_protocol_are_held_together_by_one_thread(self):
        self.protocol_rows(("large", "a", "SpMP", 2.0), ("large", "a", "p2p", 4.0), ("large", "a", "locking", 2.0),
                           ("large", "a", "locking, reordered", 1.0, 12.0), ("large", "a", "pivotal-path, reordered", 2.0, 16.0),
                           ("large", "a", "locking, no fill-up", 2.0, 10.0),
                           ("erdos-renyi", "b", "SpMP", 2.0), ("erdos-renyi", "b", "locking, waits", 2.5, 16.0))
        lines = protocol.protocol_one_thread()
        self.assertEqual(lines[2], "| large matrices | 1.50 … 2.00 | 2.00 … 3.00 | 4.00 … 6.00 | 1.25 |")
        self.assertEqual(lines[3], "| Erdős–Rényi | not run | not run | not run | not run |")
        self.assertEqual(protocol.protocol_text_p()[4], "| `locking, waits` | 0.80 (1) | not run | 2.00 (1) | 1.60 (1) |")

    def test_a_schedule_of_the_protocol_has_paid_after_its_making_over_its_gain(self):
        self.protocol_rows(("large", "a", "locking", 2.0), ("large", "a", "SpMP", 8.0))
        lines = protocol.protocol_amortisation()
        self.assertIn("| 5.00, 5.00, 5.00 (1) |", lines[2])
        self.assertIn("never, never, never (1)", next(line for line in lines if "| its program |" in line))

    def test_a_wrong_result_of_the_protocol_is_refused(self):
        self.protocol_rows(("large", "a", "locking", 1.0), error="1e-3")
        with self.assertRaises(ValueError):
            protocol.protocol_speed()

    def test_one_form_on_all_graphs_is_not_the_fastest_of_each(self):
        head = "algorithm,graph,class,form,kind,ms,work,vertices,iterations,verified".split(",")
        rows = []
        for algorithm in published.ATOS_HEADLINE:
            for graph, times in (("x", (8, 1, 4)), ("y", (8, 4, 1))):
                for form, kind, ms in zip(("bsp", "megakernel 32-4 x16", "megakernel 256-64 x16"),
                                          ("bsp", "asynchronous", "asynchronous"), times):
                    rows.append(dict(zip(head, (algorithm, graph, "mesh", form, kind, ms, 1, 1, 1, "true"))))
                rows += [dict(rows[-1], form=form, ms=8) for form, _ in tables.ATOS_FORMS
                         if form not in ("megakernel 32-4 x16", "megakernel 256-64 x16")]
        self.write(tables.GRAPH, rows)
        self.assertIn("| 4.00 |", tables.atos_headline()[2])  # sqrt(8 · 2)
        found = tables.graph_report.speedups(tables.graph_places(), "bsp")
        self.assertAlmostEqual(tables.mean(found["bfs", "all"]), 8.0)

    def test_memory_and_types_of_mhive_are_taken_where_they_are_there(self):
        for name in (tables.RCM_COSTS, tables.RCM_TYPES, tables.JACOBI_SOLVES, tables.JACOBI_THESIS):
            if os.path.exists(os.path.join(self.results(), name)):
                os.remove(os.path.join(self.results(), name))
        self.assertIn("Not run", tables.mhive_memory()[0])
        self.assertIn("Not run", tables.mhive_types()[0])
        for table in (tables.mhive_memory_jacobi, tables.mhive_jacobi, tables.mhive_jacobi_matrices):
            self.assertIn("Not run", table()[0])
        costs = dict(tables.PHASES, problem="G3_circuit", rows="1000000", entries="4000000", scheduler="megakernel", device_mb="216",
                     tightest_kernel="megakernel of phase 3", registers="90", blocks_per_sm="2", status="ok")
        self.write(tables.RCM_COSTS, [costs, dict(costs, scheduler="timesliced", device_mb=""), dict(costs, form="cub")])
        self.assertIn("| 8.2 | G3_circuit | bitonic | megakernel | 108 | 216 | 2.00 | megakernel of phase 3 | 90 | 2 |",
                      tables.mhive_memory())
        self.assertEqual(len(tables.mhive_memory()), 4)  # head, line, one row, an empty one
        self.assertTrue(any("our RCM, its tightest kernel | 1 | 2 | 2.00" in line for line in tables.mhive_orders()))
        self.write(tables.RCM_TYPES, [
            {"problem": "a", "scheduler": "megakernel", "type": name, "tasks": "2", "worker_ms": ms, "dropped": "0", "status": "ok"}
            for name, ms in (("sort block", "3"), ("delegate", "1"))])
        self.assertIn("| a | megakernel | 75 | 25 | 4.00 | 4 | 0 |", tables.mhive_types())

    def test_jacobi_is_compared_on_the_thesis_own_matrices(self):
        def rows(problem, kernels, times):
            made = [{"problem": problem, "rows": "1000000", "entries": "4000000", "form": "kernels, checked every 1", "scheduler": "",
                     "device_mb": "500", "milliseconds": kernels, "status": "ok"}]
            for (scheduler, form), ms in times.items():
                checked = f"{form}, checked every {10 if form == 'checkpoints' else 50}"
                made.append(dict(made[0], form=checked, scheduler=scheduler, milliseconds=ms, device_mb=str(100 * ms)))
            return made

        every = {(scheduler, form): 1 for scheduler in published.JACOBI for form in published.JACOBI_FORMS}
        self.write(tables.JACOBI_THESIS, rows("G3_circuit", 2, {**every, ("controller", "stages"): 5.68, ("megakernel", "stages"): 0.5}) +
                   rows("Chem97ZtZ", 8, every) + rows("another", 100, every))
        lines = tables.mhive_jacobi()
        self.assertIn("| 8.6 | stages, MK | 1.74 (0.83 … 3.63) | 5.66 (4.00 … 8.00) | 3.26 |", lines)
        self.assertIn("| 8.7 | stages, PDC | 0.73 (0.61 … 0.88) | 1.68 (0.35 … 8.00) | 2.29 |", lines)
        self.assertIn("| 8.6 | stages-phases, MK | no row | 4.00 (2.00 … 8.00) | – |", lines)
        self.assertIn("| G3_circuit | G3_circuit | 2.00 | 1.34 (autonomous) / 2.00 (stages-phases) | 1.39 (autonomous) / 4.00 (stages) | "
                      "1.54 (checkpoints) / 2.00 (stages-phases) | 0.90 / 2.00 |", tables.mhive_jacobi_matrices())
        self.write(tables.JACOBI_SOLVES, rows("mine", 3, every) + rows("G3_circuit", 1, every))
        self.assertIn("| stages, PDC | 3.00 |", tables.mhive_jacobi_others())
        self.assertIn("| G3_circuit | 1,000,000 | 4,000,000 | 1,136 | 100 (stages-phases) | 568 (stages) | 0.088 | 0.50 |",
                      tables.mhive_memory_jacobi())

    def test_rows_of_atos_as_written_are_taken_where_they_are_there(self):
        files = (tables.GRAPH_WRITTEN, tables.GRAPH_WRITTEN_HEAT, tables.GRAPH_PERMUTED, tables.GRAPH_LARGE) + tables.GRAPH_KERNELS
        for name in files:
            if os.path.exists(os.path.join(self.results(), name)):
                os.remove(os.path.join(self.results(), name))
        names = ("atos-written-speed", "atos-written-work", "atos-written-heat", "atos-permuted", "atos-large", "atos-kernels")
        for name in names:
            self.assertIn("Not run", tables.BLOCKS[name]()[0])
        head = "algorithm,graph,class,form,kind,scheduler,worker,fetch,rounds,ms,work,vertices,verified".split(",")

        def rows(graph, dag_class, times):
            made = []
            for algorithm in published.ATOS_HEADLINE:
                forms = [("bsp", "bsp", "", "", "")]
                forms += [(form, "asynchronous") + tuple(form.replace("-", " ").split()[:3])
                          for form, _ in tables.written_forms(algorithm)]
                for (form, kind, scheduler, worker, fetch), ms in zip(forms, times):
                    made.append(dict(zip(head, (algorithm, graph, dag_class, form, kind, scheduler, worker, fetch, 1, ms, ms, 2, "true"))))
            return made

        both = rows("x", "mesh", (8, 2, 4, 1, 8)) + rows("y", "scale-free", (8, 8, 4, 1, 8))
        for name in (tables.GRAPH_WRITTEN, tables.GRAPH_LARGE):
            self.write(name, both)
        self.write(tables.GRAPH_WRITTEN_HEAT, both)
        self.write(tables.GRAPH_PERMUTED, rows("x", "mesh", (8, 2, 4, 6, 8)) + rows("x, random", "mesh", (8, 2, 2, 2, 8)) +
                   rows("x, rcm", "mesh", (8, 2, 8, 4, 8)))
        self.assertIn("| bfs | `megakernel 32-1 as written` | persist warp | 1.02 | 0.75 | 1.61 | 2.00 | 1.00 | 4.00 | 1.96 |",
                      tables.atos_written_speed())
        self.assertIn("| pagerank | `megakernel 256-64 as written, check 4` | persist CTA | 0.89 | 0.85 | 0.94 | 0.50 | 0.50 | 0.50 | 0.56 |",
                      tables.atos_written_work())
        self.assertIn("| `timesliced 32-1 as written` | discrete warp | 5.85 | x | 6.00 → 2.00 → 4.00 | 3.00 | 2.00 | 3.00 → 1.00 → 2.00 |",
                      tables.atos_permuted())
        self.assertIn("| bfs | x | mesh | ours | 8.00 | 1.00 | `timesliced 32-1 as written` | 8.00 | 0.12 |", tables.atos_large())
        self.assertIn("| bfs | y | 8.00 | 4.00 (256-64) | 8.00 (32-1) | 2.00 | 2.00 |", tables.atos_written_heat())
        head = "algorithm,form,kernel,threads,registers,local_bytes,shared_bytes,blocks_per_sm".split(",")
        self.write(tables.GRAPH_KERNELS[1], [
            dict(zip(head, ("colouring", "megakernel 32-1 as written", "megakernel", 256, 64, 0, 512, 4))),
            dict(zip(head, ("bfs", "bsp", "expand", 256, 32, 0, 4, 8)))])
        self.assertIn("| colouring | `megakernel 32-1 as written` | megakernel | 72 (43 %) | 64 | 512 | 4 | 50 % |", tables.atos_kernels())
        self.assertIn("| bfs | `bsp` | expand | – | 32 | 4 | 8 | 100 % |", tables.atos_kernels())

    def test_small_frontiers_are_told_by_their_time_and_uneven_load_by_degrees(self):
        head = ("algorithm,graph,class,vertices,edges,largest_degree,iterations,median_edges,lanes,small_iterations,small_edges,"
                "all_edges").split(",")
        self.write(tables.GRAPH_FRONTIERS, [dict(zip(head, row)) for row in (
            ("bfs", "x", "mesh", 100, 400, 4, 50, 8, 60, 50, 400, 400), ("pagerank", "x", "mesh", 100, 400, 4, 20, 300, 60, 10, 200, 4000),
            ("bfs", "y", "scale-free", 100, 1000, 200, 4, 500, 60, 1, 10, 1000))])
        head = "algorithm,graph,class,form,kind,vertices,ms,work,iterations,verified".split(",")
        self.write(tables.GRAPH_WRITTEN, [dict(zip(head, (algorithm, graph, kind, "bsp", "bsp", 100, ms, work, iterations, "true")))
                                          for algorithm, graph, kind, ms, work, iterations in (
            ("bfs", "x", "mesh", 5, 400, 50), ("pagerank", "x", "mesh", 10, 4000, 20), ("colouring", "x", "mesh", 1, 220, 5),
            ("bfs", "y", "scale-free", 1, 1000, 4), ("colouring", "y", "scale-free", 1, 120, 11))])
        self.assertEqual(tables.atos_challenges()[2:7], [
            "| BFS | x | mesh | 1.00 | 50 | 8 | 100 | 100 | 100 | small frontier | small frontier |",
            "| BFS | y | scale-free | 20.0 | 4 | 500 | 25 | 1 | 10 | load imbalance | load imbalance |",
            "| PageRank | x | mesh | 1.00 | 20 | 300 | 50 | 5 | 10 | none | none |",
            "| colouring | x | mesh | 1.00 | 5 | 120 | – | – | – | none | none |",
            "| colouring | y | scale-free | 20.0 | 11 | 20 | – | – | – | load imbalance + small frontier | load imbalance + small frontier |"])
        self.without(tables.GRAPH_WRITTEN)
        self.assertIn("Not run", tables.atos_challenges()[0])

    def test_idle_workers_are_set_beside_the_same_without(self):
        head = "algorithm,graph,class,form,kind,ms,work,error,vertices,verified".split(",")
        times = {"x": (10, 2, 8, 4, 4), "y": (10, 2, 32, 4, 16)}
        forms = ("bsp", "megakernel 32-8 x1", "megakernel 32-8 x1 idle", "megakernel 32-8 x16", "megakernel 32-8 x16 idle")
        self.write(tables.GRAPH_IDLE, [dict(zip(head, ("pagerank", graph, "mesh", form, "", ms, 10 * ms, 0.1 * ms, 5, "true")))
                                       for graph, all_ms in times.items() for form, ms in zip(forms, all_ms)])
        lines = tables.atos_idle()
        self.assertIn("| y | 10.0 | 2.00 / 32.0 | 0.20 / 3.20 | 16.0 | 4.00 / 16.0 | 0.40 / 1.60 | 4.00 |", lines)
        self.assertIn("| mean of the ratios | – | 8.00 | – | – | 2.00 | – | – |", lines)
        self.without(tables.GRAPH_IDLE)
        self.assertIn("Not run", tables.atos_idle()[0])

    def test_throughput_is_that_of_useful_work(self):
        head = "algorithm,graph,class,form,kind,ms,work,vertices,verified".split(",")
        self.write(tables.GRAPH_TIMELINE_RUNS, [dict(zip(head, ("bfs", "x", "mesh", form, "", ms, work, 5, "true")))
                                                for form, ms, work in (("bsp", 4, 100), ("t", 2, 200))])
        head = "algorithm,graph,form,us,work,bin_ns".split(",")
        self.write(tables.GRAPH_TIMELINE, [dict(zip(head, ("bfs", "x", form, k, work, 2000))) for form, steps in
                                           (("bsp", (96, 4, 0, 0)), ("t", (120, 80))) for k, work in enumerate(steps)])
        self.assertEqual(tables.atos_timeline()[2:4], ["| BFS | x | mesh | `bsp` | 4.00 | 12.5 | 48.0 | 75 |",
                                                       "| BFS | x | mesh | `t` | 2.00 | 25.0 | 30.0 | 0 |"])
        self.without(tables.GRAPH_TIMELINE)
        self.assertIn("Not run", tables.atos_timeline()[0])

    def test_what_is_one_after_the_other_is_beside_the_time_that_it_may_take(self):
        head = "dag,tasks,edges,levels,most_successors,edges_of_many,longest_chain".split(",")
        self.write(tables.PROGRESSION_SHAPES, [dict(zip(head, ("a", 1000, 4000, 9, 700, 1000, 800))),
                                               dict(zip(head, ("b", 1000, 4000, 9, 7, 0, 50)))])
        head = "dag,variant,tasks_per_second,status".split(",")
        self.write(tables.PROGRESSION, [dict(zip(head, ("a", "own best", "1e6", "ok"))), dict(zip(head, ("a", "single", "1e9", "ok")))])
        self.assertEqual(tables.progression_shapes()[2:4], ["| a | 9 | 4.00 | 700 | 25 | 800 | 1.00 | 1,250 |",
                                                            "| b | 9 | 4.00 | 7 | 0 | 50 | – | – |"])

    def test_cut_lists_of_successors_stand_beside_the_uncut(self):
        head = "dag,tasks,edges,levels,most_successors,edges_of_many,longest_chain".split(",")
        self.write(tables.PROGRESSION_SHAPES, [dict(zip(head, ("a", 1000, 4000, 9, 700, 1000, 800))),
                                               dict(zip(head, ("a, cut", 1100, 4100, 12, 8, 0, 100)))])
        head = "dag,variant,seconds,tasks_per_second,status".split(",")
        self.write(tables.PROGRESSION_HUBS, [dict(zip(head, row)) for row in (
            ("a", "own best", "0.004", "2.5e5", "ok"), ("a, cut", "own best", "0.001", "1.1e6", "ok"),
            ("a", "own shared", "0.002", "5e5", "ok"), ("a, cut", "own shared", "0.1", "1e9", "WRONG"))])
        lines = tables.progression_hubs()
        self.assertIn("| `own best` | 4.00 | 1.00 | 4.00 | 5,000 | 10,000 |", lines)
        self.assertIn("| `own shared` | 2.00 | – | 1.00 | 2,500 | – |", lines)
        self.assertIn("| a, cut | 12 | 3.73 | 8 | 0 | 100 | 1.00 | 10,000 |", tables.progression_shapes())
        self.without(tables.PROGRESSION_HUBS)
        self.assertIn("Not run", tables.progression_hubs()[0])

    def test_gradients_are_compared_with_rows_that_share_warps_alike(self):
        self.without(tables.ATA_PCG_WARPS)
        self.without(tables.ATA_PCG_OTHERS)
        head = "problem,rows,schedule,rows_share_warps,iterations,solve_s,share,status".split(",")
        self.write(tables.ATA_PCG_ROWS, [dict(zip(head, ("a", 1000, schedule, share, 9, seconds, percent, "ok")))
                                         for schedule, share, seconds, percent in (
            ("level-launch", "true", "0.4", "0.5"), ("level-launch", "false", "0.6", "0.9"), ("self", "false", "0.8", ""),
            ("ata-concurrency", "true", "0.2", ""), ("ata-concurrency", "false", "0.1", ""))])
        for share, rival, ratio in (("true", "level-launch", 2), ("true", "self", 4), ("false", "level-launch", 6), ("false", "self", 8)):
            mean, count = tables.pcg_over(tables.pcg_cases(share), rival)
            self.assertAlmostEqual(mean, ratio)
            self.assertEqual(count, 1)
        self.assertEqual(tables.ata_pcg()[2:4], ["| a | 1,000 | 9 | a warp a row | 100 | 600 (90) | 800 |",
                                                 "| a | 1,000 | 9 | short rows share warps | 200 | 400 (50) | 800 |"])
        head.remove("rows_share_warps")  # as the script had it
        self.write(tables.ATA_PCG_ROWS, [dict(zip(head, ("a", 1000, schedule, 9, "1", "", "ok"))) for schedule in ("self", "ata-greedy")])
        self.assertEqual((len(tables.pcg_cases("true")), len(tables.pcg_cases("false"))), (1, 0))

    def test_what_is_compared_of_a_gradient_is_of_one_run(self):
        self.without(tables.ATA_PCG_OTHERS)
        head = "problem,rows,schedule,rows_share_warps,iterations,solve_s,share,status".split(",")
        every = ("level-launch", "self", "ata-concurrency", "ata-greedy", "ata-locality")

        def rows(problem, share, seconds, schedules):
            return [dict(zip(head, (problem, 1000, schedule, "false" if schedule == "self" else share, 9, seconds, "", "ok")))
                    for schedule in schedules]

        self.write(tables.ATA_PCG_ROWS, rows("a", "true", "1", every) + rows("b", "true", "1", every))
        self.write(tables.ATA_PCG_WARPS, rows("a", "true", "2", every[:4]) + rows("b", "true", "2", every[:2]) +
                   rows("a", "false", "3", every[:1] + every[2:4]) + rows("b", "false", "3", every[:1]))
        shared, alone = tables.pcg_cases("true"), tables.pcg_cases("false")
        self.assertEqual({name: row["solve_s"] for name, row in shared["a"].items()}, {**dict.fromkeys(every[:4], "2"), "ata-locality": "1"})
        self.assertEqual({name: row["solve_s"] for name, row in shared["b"].items()}, dict.fromkeys(every, "1"))
        self.assertEqual(set(alone["a"]), set(every[:4]))
        self.assertEqual(tables.pcg_over(alone, "level-launch")[1], 1)  # b has no row of CA
        table = "\n".join(tables.ata_speedups())
        self.assertIn("PCG, a warp a row, 1 problems, time by level sets / by CA | 4.4 | 1.00 |", table)
        self.assertIn("… CA, the 1 problems that have rows with a warp a row | – | 1.00 |", table)

    def test_both_sizes_of_tasks_are_compared_problem_by_problem(self):
        head = "problem,class,what,rows_share_warps,schedule,S_given,milliseconds,status".split(",")
        self.write(tables.ATA_RULE, [
            dict(zip(head, ("a", "wide", what, share, schedule, size, ms, "ok")))
            for what, share, times in (("lower", "true", (4, 2, 1, 1.04)), ("lower", "false", (3, 2, 6, 4)))
            for (schedule, size), ms in zip((("ata-concurrency", ""), ("ata-greedy", ""), ("ata-concurrency", "levels"),
                                             ("ata-greedy", "levels")), times)] +
                   [dict(zip(head, ("b", "wide", "lower", "true", "ata-concurrency", "", "1", "ok")))])
        lines = tables.ata_rule_classes()
        self.assertIn("| solve, rows share warps | wide | 1 | 4.00 (4.00 … 4.00) | 1.92 (1.92 … 1.92) | 0 | 0 | 1 | 1 |", lines)
        self.assertIn("| solve, a warp a row | all | 1 | 0.50 (0.50 … 0.50) | 0.50 (0.50 … 0.50) | 0 | 1 | 0 | 0 |", lines)
        self.assertIn("they take 3.00 times as long", lines[-2])
        self.without(tables.ATA_RULE)
        self.assertIn("Not run", tables.ata_rule_classes()[0])

    def test_g3_circuit_has_a_line_for_each_way_of_working(self):
        head = "what,flow,rows_share_warps,schedule,coarse,S,tasks,milliseconds,unmanaged_ms,status".split(",")
        self.write(tables.ATA_G3, [dict(zip(head, ("lower", "push", share, schedule, coarse, "1000", "3", ms, "0.5", "ok")))
                                   for share, schedule, coarse, ms in (
            ("false", "level-launch", "", 8), ("false", "self", "", 12), ("false", "ata-concurrency", "graph", 2),
            ("true", "level-launch", "", 9), ("true", "ata-concurrency", "graph", 3), ("true", "ata-concurrency", "streams", 4))])
        self.assertEqual(tables.ata_g3()[2:4], [
            "| lower | push | one a row | 8.00 | – | – | 12.0 | 2.00 | – | – | – | 1,000 (3) | 4.00 | 6.00 | 4.00 |",
            "| lower | push | shared | 9.00 | – | – | – | 3.00 | – | – | 4.00 | 1,000 (3) | 3.00 | – | 6.00 |"])
        self.without(tables.ATA_G3)
        self.assertIn("Not run", tables.ata_g3()[0])

    def test_gunrock_is_beside_the_fastest_of_ours(self):
        self.without(tables.GRAPH_RIVAL)
        self.assertIn("Not run", tables.atos_rival()[0])
        head = "algorithm,graph,class,form,kind,ms,iterations,verified".split(",")
        forms = (("bsp", "bsp", 8, "true"), ("bsp graph", "bsp graph", 4, "true"), ("t", "asynchronous", 2, "true"),
                 ("u", "asynchronous", 3, "true"), ("g", "rival", 16, "true"), ("g, fast", "rival", 1, "true"),
                 ("g, wrong", "rival", 0.5, "false"))
        self.write(tables.GRAPH_RIVAL, [dict(zip(head, (algorithm, "x", dag_class, form, kind, ms, 5, right)))
                                        for algorithm, dag_class in (("bfs", "mesh"), ("pagerank", "scale-free"))
                                        for form, kind, ms, right in forms])
        lines = [line for line in tables.atos_rival() if "| x |" in line]
        ours = "8.00 | 4.00 (`bsp graph`) | 2.00 (`t`)"
        self.assertEqual(lines, [
            f"| bfs | x | mesh | {ours} | 1.00 (`g, fast`) | 5 | 0.12 | 0.25 | 0.50 | 12.8 |",
            f"| pagerank | x | scale-free | {ours} | 1.00 (`g, fast`) | 5 | 0.12 | 0.25 | 0.50 | 2.11 |",
            f"| pagerank | x | scale-free | {ours} | 16.0 (`g`) | 5 | 2.00 | 4.00 | 8.00 | 2.11 |"])

    def test_two_rows_for_one_place_are_refused(self):
        rows = [{"problem": "a", "milliseconds": "1"}, {"problem": "a", "milliseconds": "2"}]
        with self.assertRaises(ValueError):
            tables.one(rows, problem="a")
        self.assertIsNone(tables.one(rows, problem="b"))

    def test_numbers_are_shown_with_three_digits(self):
        self.assertEqual([tables.show(v) for v in (None, "no row", 1234.5, 123.4, 12.34, 1.2345, 0.0123, float("inf"))],
                         ["–", "no row", "1,234", "123", "12.3", "1.23", "0.0123", "never"])
        self.assertIsNone(tables.ratio(2.0, "over 100"))
        self.assertEqual(tables.ratio(2.0, "4"), 0.5)

    def test_the_papers_headlines_follow_from_their_tables(self):
        self.assertAlmostEqual(tables.mean(published.ATOS_SPEEDUP["bfs"]["persist CTA"]), 3.44, delta=0.02)
        self.assertAlmostEqual(tables.mean(published.ATOS_SPEEDUP["pagerank"]["discrete CTA"]), 2.1, delta=0.02)
        self.assertAlmostEqual(tables.mean(published.ATOS_SPEEDUP["colouring"]["persist warp"]), 2.77, delta=0.02)
        speedup = published.BARRIER_SPEEDUP
        self.assertAlmostEqual(speedup["real"][0] / speedup["real"][4], 1.45, delta=0.005)
        self.assertAlmostEqual(speedup["real"][0] / speedup["real"][5], 3.24, delta=0.005)
        self.assertAlmostEqual(speedup["erdos-renyi"][2] / speedup["erdos-renyi"][4], 1.62, delta=0.005)


if __name__ == "__main__":
    unittest.main()

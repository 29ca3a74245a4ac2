#!/usr/bin/env python3
"""Tests of report.py on made-up rows."""
import contextlib
import importlib.util
import io
import os
import re
import sys
import tempfile
import unittest
from xml.etree import ElementTree

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
SPEC = importlib.util.spec_from_file_location("graph_report", os.path.join(HERE, "report.py"))
report = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(report)

HEAD = "algorithm,graph,class,vertices,form,kind,scheduler,worker,fetch,rounds,ms,work,colours,verified"
ROWS = [
    "bfs,one,mesh,10,bsp,bsp,,,,,8,100,,true",
    "bfs,one,mesh,10,bsp graph,bsp graph,,,,,4,100,,true",
    "bfs,one,mesh,10,megakernel 32-1 x1,asynchronous,megakernel,32,1,1,2,150,,true",
    "bfs,one,mesh,10,megakernel 256-64 x1,asynchronous,megakernel,256,64,1,4,120,,true",
    "bfs,two,scale-free,10,bsp,bsp,,,,,1,100,,true",
    "bfs,two,scale-free,10,megakernel 32-1 x1,asynchronous,megakernel,32,1,1,1,100,,true",
    "bfs,two,scale-free,10,megakernel 32-8 x1,asynchronous,megakernel,32,8,1,0.1,100,,false",
    "colouring,one,mesh,10,bsp,bsp,,,,,3,20,4,true",
    "colouring,one,mesh,10,megakernel 32-1 x4,asynchronous,megakernel,32,1,4,1,11,3,true",
]
TIMELINE = "algorithm,graph,form,us,work,bin_ns\nbfs,one,bsp,0,60,2000\nbfs,one,bsp,2,40,2000\n" \
           "bfs,one,megakernel 32-1 x1,0,150,2000\n"


class ReportTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.rows = self.write("rows.csv", "\n".join([HEAD] + ROWS) + "\n")
        self.timeline = self.write("timeline.csv", TIMELINE)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_report(self, *arguments):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            status = report.main(list(arguments) + [self.rows])
        return status, text.getvalue()

    def test_means_are_of_the_fastest_verified_forms(self):
        places = report.by_place(report.read([self.rows])[0])
        found = report.speedups(places, "bsp")
        self.assertEqual(found["bfs", "mesh"], [4.0])
        self.assertEqual(found["bfs", "scale-free"], [1.0])
        self.assertAlmostEqual(report.geometric_mean(found["bfs", "all"]), 2.0)
        self.assertEqual(report.speedups(places, "bsp graph")["bfs", "all"], [2.0])

    def test_what_was_not_verified_is_named(self):
        status, text = self.run_report()
        self.assertEqual(status, 1)
        self.assertIn("- bfs, two, megakernel 32-8 x1", text)

    def test_overwork_of_colourings_is_over_the_vertices(self):
        places = report.by_place(report.read([self.rows])[0])
        forms = places["colouring", "one"]
        self.assertAlmostEqual(report.overwork(forms["megakernel 32-1 x4"], forms["bsp"]), 1.1)
        self.assertAlmostEqual(report.overwork(forms["bsp"], forms["bsp"]), 2.0)

    def test_a_rival_has_no_work(self):
        self.rows = self.write("rival.csv", "\n".join([HEAD] + ROWS + [
            "bfs,one,mesh,10,theirs,rival,,,,,16,,,true", "bfs,two,scale-free,10,theirs,rival,,,,,4,,,true"]) + "\n")
        self.assertIn("| bfs | theirs | 2 | 0.35 |  |", self.run_report("--short")[1])
        self.assertNotIn("theirs", self.run_report()[1])

    def test_a_short_table_has_a_line_for_each_form(self):
        _, text = self.run_report("--short")
        self.assertIn("| bfs | megakernel 32-1 x1 | 2 | 2.00 | 1.22 |", text)  # of 4 and 1, and of 1.5 and 1
        self.assertIn("| colouring | megakernel 32-1 x4 | 1 | 3.00 | 1.10 |", text)
        self.assertNotIn("| bfs | bsp |", text)

    def test_what_is_as_written_has_a_map_of_its_own(self):
        head, rows = HEAD + ",as_written", [row + ",false" for row in ROWS]
        rows += [f"bfs,one,mesh,10,megakernel {size} as written,asynchronous,megakernel,{size.replace('-', ',')},1,{ms},1,,true,true"
                 for size, ms in (("32-1", 3), ("1024-64", 5))]
        path = self.write("written.csv", "\n".join([head] + rows) + "\n")
        drawings = report.draw_heat_maps(report.by_place(report.read([path])[0]))
        self.assertEqual(sorted(drawings), ["heat-bfs-one.svg", "heat-written-bfs-one.svg"])
        self.assertIn("1024", drawings["heat-written-bfs-one.svg"])
        self.assertNotIn("1024", drawings["heat-bfs-one.svg"])
        rows = [row for row in [head] + rows if "x1" not in row]
        timeline = self.write("written-timeline.csv", TIMELINE.replace("32-1 x1", "32-1 as written"))
        path = self.write("written.csv", "\n".join(rows) + "\n")
        drawings = report.draw_throughput(report.by_place(report.read([path])[0]), timeline)
        self.assertEqual(list(drawings), ["throughput-written-bfs-one.svg"])

    def test_plots_are_drawn(self):
        plots = os.path.join(self.folder, "plots")
        self.run_report("--plots", plots, "--timeline", self.timeline)
        self.assertEqual(sorted(os.listdir(plots)), ["heat-bfs-one.svg", "throughput-bfs-one.svg"])
        for name in os.listdir(plots):
            ElementTree.parse(os.path.join(plots, name))

    def test_a_drawing_is_as_wide_as_its_labels(self):
        short, long = "bsp", "megakernel 256-64 as written, check 4"
        widths = [float(re.search(r'width="(\d+)"', report.throughput("a", {form: [(0, 1), (1, 1)]})).group(1)) for form in (short, long)]
        self.assertGreaterEqual(widths[1], 90 + 620 + 46 + 7 * len(long))
        self.assertLess(widths[0], widths[1])

    def test_the_fastest_cell_is_not_that_of_the_ground_and_a_bar_says_what_shades_mean(self):
        map_ = report.heat_map("a", {(32, 1): 2.0, (64, 1): 7.5})
        self.assertNotIn("rgb(255,255,255)", map_)
        self.assertIn(report.shade(2.0, 2.0, 7.5), map_)
        self.assertEqual(map_.count(">2 ms<"), 2)  # in its cell, and at the bar's end
        self.assertEqual(map_.count(">7.5 ms<"), 2)

    def test_ticks_are_round_and_axes_have_titles(self):
        self.assertEqual(report.plots.even_ticks(1770), [0, 500, 1000, 1500])
        self.assertEqual(report.plots.even_ticks(0.9), [0, 0.2, 0.4, 0.6000000000000001, 0.8])
        drawing = report.throughput("a", {"bsp": [(0, 1), (7080, 5)]})
        self.assertIn(">6000<", drawing)
        self.assertNotIn("e+", drawing)
        self.assertIn("useful work per µs", drawing)

    def test_throughput_keeps_the_work(self):
        curve = report.smoothed([(2.0 * k, 3.0) for k in range(1000)])
        self.assertLessEqual(len(curve), 120)
        self.assertAlmostEqual(curve[0][1], 1.5)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Runs the generic test with a trace and a plot, and compares them with what it prints.

usage: check_trace.py DIRECTORY COMMAND [ARGUMENT...]   (on the host: with two threads)
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    trace, plot = directory / "trace.json", directory / "plot.svg"
    command = sys.argv[2:] + ["--trace", str(trace), "--plot", str(plot), "--latency"]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    print(run.stdout)
    executed = {name: int(count) for name, count in re.findall(r"^  (.+): (\d+) executed", run.stdout, re.M)}
    executed = {name: count for name, count in executed.items() if count}
    assert executed, "no task was executed"

    events = json.loads(trace.read_text())["traceEvents"]
    tasks = [event for event in events if event["ph"] == "X"]
    assert collections.Counter(event["name"] for event in tasks) == executed, "the trace has other tasks"
    names = {event["tid"]: event["args"]["name"] for event in events if event.get("name") == "thread_name"}
    hosts = {name for name in names.values() if name.startswith("host")}
    assert hosts <= {"host thread 0", "host thread 1"}, "more host threads than two"
    ends = collections.defaultdict(float)
    for event in tasks:
        assert event["tid"] in names, "a track without a name"
        assert event["ts"] >= ends[event["tid"]] - 1e-6, "tasks overlap on a track, or are not in order"
        assert event["dur"] >= 0 and event["args"]["latency_ns"] >= 0
        ends[event["tid"]] = event["ts"] + event["dur"]

    svg = "{http://www.w3.org/2000/svg}"
    titles = {title.text for title in xml.etree.ElementTree.parse(plot).iter(svg + "title")}
    assert titles == set(executed), "the plot has other types"
    print(f"{len(tasks)} events on {len(names)} tracks, a plot of {len(titles)} types")


main()

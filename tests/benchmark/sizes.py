#!/usr/bin/env python3
"""Bytes that each room of src/ adds to libtaskdag: what its objects bring into memory, device code included.

usage: sizes.py BUILD-DIRECTORY
Prints a Markdown table, the largest room first, schedules one by one.
"""
import collections
import pathlib
import subprocess
import sys

LAYERS = ("base", "generators", "dag", "backends", "csr", "kernels", "solver", "engine")


def room_of(path):
    """src/…: the schedule's folder where it is one's, else the folder below kernels/, else the layer."""
    parts = path.parts
    if "schedules" in parts and len(parts) > parts.index("schedules") + 2:
        return "/".join(parts[: parts.index("schedules") + 2])
    return "/".join(parts[: 3 if parts[0] == "kernels" else 1][: len(parts) - 1])


def sizes_of(build):
    """(room, kind) → bytes; kind: host or device."""
    sizes = collections.Counter()
    for item in sorted(pathlib.Path(build, "src").rglob("*.o")):
        text = str(item.relative_to(pathlib.Path(build, "src")))
        folder, _, source = text.partition("/CMakeFiles/")
        path = pathlib.Path(folder, *source.split("/")[1:])
        if path.parts[0] not in LAYERS or "__" in path.parts:  # other targets; the link check's own sources
            continue
        lines = subprocess.run(["size", "-A", str(item)], capture_output=True, text=True, check=True).stdout.splitlines()
        for line in lines[2:]:
            fields = line.split()
            if len(fields) != 3 or fields[0] == "Total" or fields[0].startswith((".comment", ".debug", ".note")):
                continue
            sizes[room_of(path), "device" if fields[0] == ".nv_fatbin" else "host"] += int(fields[1])
    return sizes


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sizes = sizes_of(sys.argv[1])
    rooms = collections.Counter()
    for (room, _), count in sizes.items():
        rooms[room] += count
    if not rooms:
        sys.exit(f"{sys.argv[1]}: no objects of libtaskdag there")
    print("| room | host, kB | device, kB |\n|---|---|---|")
    for room, _ in rooms.most_common():
        print(f"| {room} | {sizes[room, 'host'] / 1000:.0f} | {sizes[room, 'device'] / 1000:.0f} |")
    total = [sum(count for (_, kind), count in sizes.items() if kind == wanted) for wanted in ("host", "device")]
    print(f"| all | {total[0] / 1000:.0f} | {total[1] / 1000:.0f} |")


if __name__ == "__main__":
    main()

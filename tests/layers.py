#!/usr/bin/env python3
"""Who includes whom: reads the #include lines of src, petsc_plugin and include against the order in src/layers.txt, and
the LINKS of each taskdag_layer() in src.

usage: layers.py [ROOT]        fails on an include or a link that the order does not allow, and on a CUDA schedule of the
                               catalogue whose folder has another name
       layers.py --self-test   fails where a mistake of each kind would go unseen

An include is allowed within a room, of the public headers (include/), of the system, and of the rooms that the including
room's line names. The file explains itself; its lines stand lowest first and name only what stands before them, so that
there is no cycle. A layer of CMake is all rooms below its folder but those of a layer inside; it may link layers whose
rooms all stand before its own.
"""
import fnmatch
import os
import re
import sys
import tempfile

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>|(\S.*))')
SOURCES = (".cpp", ".hpp", ".cu", ".cuh", ".c", ".h")
SCANNED = ("src", "petsc_plugin", "include")
PUBLIC = "(public headers)"
LAYER = re.compile(r"^taskdag_layer\(([\w/]+)(.*?)\)", re.M | re.S)
SCHEDULES = "src/kernels/sptrsv/schedules"
CATALOGUE = SCHEDULES + "/catalogue/catalogue.hpp"
# A row of the catalogue: its enumerator, its name, its role on CUDA.
SCHEDULE = re.compile(r'SolveScheduleInfo\{\s*\w+,\s*"([^"]+)",\s*(\w+)')


def files_of(root):
    """Paths from the root, sorted."""
    for top in SCANNED:
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if name.endswith(SOURCES):
                    yield os.path.relpath(os.path.join(folder, name), root)


def short(path):
    """As the order names it: rooms of src without `src/`."""
    return path[len("src/"):] if path.startswith("src/") else path


class Order:
    def __init__(self, lines):
        self.rooms = {}  # name -> names it may include
        self.errors = []
        for number, line in enumerate(lines, 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            room, colon, below = line.partition(":")
            room = room.strip()
            if not colon:
                self.errors.append(f"line {number}: `ROOM: ROOMS` is expected, not `{line}`")
                continue
            if room in self.rooms:
                self.errors.append(f"line {number}: {room} stands here a second time")
            allowed = set()
            for pattern in below.split():
                found = fnmatch.filter(self.rooms, pattern)
                if not found:
                    self.errors.append(f"line {number}: {room} may include {pattern}, which is not declared above it")
                allowed.update(found)
            self.rooms[room] = allowed

    def room_of(self, path):
        """The room of a file: itself without its ending, its folder, or a folder above it that is declared as `FOLDER/**`."""
        if path.startswith("include/") or path.startswith("petsc_plugin/include/"):
            return PUBLIC
        name = os.path.splitext(short(path))[0]
        if name in self.rooms:
            return name
        folder = os.path.dirname(name)
        if folder in self.rooms:
            return folder
        while folder:
            if folder + "/**" in self.rooms:
                return folder + "/**"
            folder = os.path.dirname(folder)
        return None


def included(root, path, quoted, name):
    """The file that the line means, from the root; None where it is none of ours."""
    places = [os.path.dirname(path)] if quoted else []
    places += ["src", "petsc_plugin", "include", "petsc_plugin/include"]
    for place in places:
        file = os.path.normpath(os.path.join(place, name))
        if os.path.isfile(os.path.join(root, file)):
            return file
    return None


def links(root):
    """Each layer of CMake with the names of the layers that it links."""
    found = {}
    for folder, _, names in sorted(os.walk(os.path.join(root, "src"))):
        if "CMakeLists.txt" in names:
            with open(os.path.join(folder, "CMakeLists.txt"), encoding="utf-8") as file:
                for layer, arguments in LAYER.findall(file.read()):
                    words = re.sub(r"#.*", "", arguments).partition("LINKS")[2].split()
                    found[layer] = [word[len("taskdag_"):] for word in words if word.startswith("taskdag_")]
    return found


def links_upwards(found, order):
    """A sentence for each link of a layer to one that does not stand before it."""
    names = {layer.replace("/", "_"): layer for layer in found}
    places = {layer: [] for layer in found}
    for place, room in enumerate(order.rooms):
        layers = [layer for layer in found if room == layer or room.startswith(layer + "/")]
        if layers:
            places[max(layers, key=len)].append(place)
    for layer, below in found.items():
        for name in below:
            if name not in names:
                yield f"{layer} links taskdag_{name}, which is no layer"
            elif max(places[names[name]], default=-1) >= min(places[layer], default=len(order.rooms)):
                yield f"{layer} may not link {names[name]}, whose rooms do not all stand before its own in layers.txt"


def check_schedules(root):
    """A schedule that may be chosen or tuned on CUDA is the folder of its name; studies may share one."""
    path = os.path.join(root, CATALOGUE)
    if not os.path.isfile(path):
        return []
    with open(path, encoding="utf-8") as file:
        rows = SCHEDULE.findall(file.read())
    folders = [f"{SCHEDULES}/{name.replace('-', '_')}" for name, role in rows
               if role in ("chosen", "tuned") and name != "auto"]
    errors = [f"{CATALOGUE}: there is no folder {folder}" for folder in folders
              if not os.path.isdir(os.path.join(root, folder))]
    return errors if folders else [f"{CATALOGUE}: no row of a schedule can be read"]


def check(root, order):
    """The complaints, a sentence each."""
    errors = [f"layers.txt, {error}" for error in order.errors]
    errors.extend(links_upwards(links(root), order))
    errors.extend(check_schedules(root))
    used = set()
    for path in files_of(root):
        room = order.room_of(path)
        if room is None:
            errors.append(f"{path}: its room is not declared in layers.txt")
            continue
        used.add(room)
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                place = f"{path}:{number}"
                quoted, system, other = match.groups()
                if other:
                    errors.append(f"{place}: includes {other}, which cannot be read here")
                    continue
                target = included(root, path, bool(quoted), quoted or system)
                if target is None:
                    if quoted:
                        errors.append(f"{place}: there is no {quoted}")
                    continue
                below = order.room_of(target)
                if below in (room, PUBLIC):
                    continue
                if room == PUBLIC:
                    errors.append(f"{place}: a public header includes {target}, which is not public")
                elif below is not None and below not in order.rooms[room]:
                    errors.append(f"{place}: {room} may not include {below} ({quoted or system})")
    for room in order.rooms:
        if room not in used and not room.endswith("/**"):  # what is to come may be declared
            errors.append(f"layers.txt: there is no {room}")
    return errors


def self_test():
    tree = {
        "include/taskdag/a.hpp": "#include <vector>\n",
        "src/base/a.hpp": "#include \"taskdag/a.hpp\"\n#include <memory>\n",
        "src/dag/d.cpp": "  #  include \"base/a.hpp\"\n#include \"d.hpp\"\n",
        "src/dag/d.hpp": "// #include \"kernels/k.cu\"\n",
        "src/dag/inner/i.hpp": "#include \"dag/d.hpp\"\n",
        "src/dag/hub.cpp": "#include \"inner/i.hpp\"\n",
        "src/base/CMakeLists.txt": "taskdag_layer(base\n  SOURCES a.cpp\n  LINKS )\n",
        "src/dag/CMakeLists.txt": "taskdag_layer(dag\n  LINKS taskdag_base Threads::Threads)\n",
        "src/dag/inner/CMakeLists.txt": "taskdag_room(taskdag_dag SOURCES i.cpp)\n",
        "src/kernels/k.cu": "#include \"dag/inner/i.hpp\"\n",
        "src/studies/one/s.cuh": "#include \"studies/two/t.hpp\"\n",
        "src/studies/two/t.hpp": "#include \"studies/one/s.cuh\"\n",
        "petsc_plugin/p.cpp": "#include <taskdag/a.hpp>\n#include <petsc.h>\n#include \"taskdagpetsc.h\"\n",
        "petsc_plugin/include/taskdagpetsc.h": "",
    }
    lines = ["# lowest first", "base:", "dag: base", "dag/inner: dag", "dag/hub: dag dag/inner  # above its folder",
             "kernels: base dag/*", "studies/**: kernels", "petsc_plugin/p:"]

    def complaints(files=None, order=None):
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**tree, **(files or {})}.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            return check(root, Order(order or lines))

    def schedule(name, role="tuned"):
        row = f'SolveScheduleInfo{{\n one_two, "{name}", {role}, no}},\n'
        return {CATALOGUE: row, f"{SCHEDULES}/one_two/s.cu": ""}

    with_schedules = lines + [f"{SCHEDULES[len('src/'):]}/**:"]

    def changed(old, new):
        return [new if line == old else line for line in lines]

    cases = [
        ("nothing where all is well", complaints(), None),
        ("an include upwards", complaints({"src/base/b.cuh": "#include \"dag/d.hpp\"\n"}), "base may not include dag "),
        ("one of angle brackets", complaints({"src/base/b.hpp": "#include <dag/d.hpp>\n"}), "base may not include dag "),
        ("one beside the file", complaints({"src/dag/x.cu": "#include \"inner/i.hpp\"\n"}), "dag may not include dag/inner"),
        ("a room that is not named", complaints({"src/kernels/k.cu": "#include \"dag/d.hpp\"\n"}),
         "kernels may not include dag "),
        ("the library's inside in the plugin", complaints({"petsc_plugin/p.cpp": "#include \"base/a.hpp\"\n"}),
         "petsc_plugin/p may not include base"),
        ("the library's inside in a public header", complaints({"include/taskdag/b.hpp": "#include \"base/a.hpp\"\n"}),
         "a public header includes"),
        ("a room that is not declared", complaints({"src/new/n.hpp": ""}), "src/new/n.hpp: its room is not declared"),
        ("a folder inside a room", complaints({"src/base/inner/n.cu": ""}), "its room is not declared"),
        ("a room that is gone", complaints(order=lines + ["gone: base"]), "there is no gone"),
        ("a cycle between rooms", complaints(order=changed("base:", "base: dag")), "which is not declared above it"),
        ("a room of two lines", complaints(order=lines + ["base:"]), "a second time"),
        ("a line that is none", complaints(order=lines + ["base dag"]), "is expected"),
        ("a file that is not there", complaints({"src/dag/x.cu": "#include \"dag/none.hpp\"\n"}), "there is no dag/none"),
        ("a link upwards", complaints({"src/base/CMakeLists.txt": "taskdag_layer(base\n  LINKS\n  CUDA_LINKS taskdag_dag)\n"}),
         "base may not link dag"),
        ("a link to what is no layer", complaints({"src/base/CMakeLists.txt": "taskdag_layer(base LINKS taskdag_dga)\n"}),
         "base links taskdag_dga, which is no layer"),
        ("nothing where the folder is the name", complaints(schedule("one-two"), with_schedules), None),
        ("a schedule whose folder has another name", complaints(schedule("other"), with_schedules),
         "there is no folder " + SCHEDULES + "/other"),
        ("nothing of a study without a folder",
         complaints({**schedule("one-two"), CATALOGUE: 'SolveScheduleInfo{a, "one-two", chosen},'
                                                       'SolveScheduleInfo{b, "other", study}'}, with_schedules), None),
        ("a catalogue that cannot be read", complaints({**schedule("one-two"), CATALOGUE: ""}, with_schedules),
         "no row of a schedule"),
        ("a macro for a name", complaints({"src/dag/x.cu": "#include NAME\n"}), "cannot be read"),
    ]
    failures = 0
    for what, errors, expected in cases:
        good = not errors if expected is None else len(errors) == 1 and expected in errors[0]
        if not good:
            failures += 1
            print(f"not as expected: {what}: {errors}")
    print(f"{len(cases) - failures} of {len(cases)} as expected")
    return failures


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 1 if self_test() else 0
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    with open(os.path.join(root, "src", "layers.txt"), encoding="utf-8") as file:
        order = Order(file)
    errors = check(root, order)
    for error in errors:
        print(error)
    if not errors:
        print(f"{sum(1 for _ in files_of(root))} files in {len(order.rooms)} rooms: no include and no link goes upwards")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())

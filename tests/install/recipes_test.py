#!/usr/bin/env python3
"""Checks the recipes of cmake/packaging against the project: versions, CMake options, what is needed and installed.

usage: recipes_test.py             the project around this file; TASKDAG_PREFIX: where it is installed, if it is
       recipes_test.py --self-test fails where a mistake of each kind would go unseen
"""
import ast
import os
import pathlib
import re
import shutil
import sys
import tempfile
import types

PACKAGING = pathlib.Path("cmake/packaging")
PETSC = PACKAGING / "petsc/taskdag.py"
SPACK = PACKAGING / "spack/package.py"
WHEEL = pathlib.Path("pyproject.toml")
CONDA = PACKAGING / "conda/recipe.yaml"
CONTAINER = PACKAGING / "Containerfile"
MACHINE = pathlib.Path(".ci/machine.sh")

# What find_package() asks for: Spack's name, EasyBuild's, conda-forge's; None where the compiler or the toolchain has it.
NEEDS = {
    "CUDAToolkit": ("cuda", "CUDA", "cuda"),
    "LibArchive": ("libarchive", "libarchive", "libarchive"),
    "MPI": ("mpi", None, "openmpi"),
    "nlohmann_json": ("nlohmann-json", "nlohmann_json", "nlohmann_json"),
    "PkgConfig": ("pkgconfig", "pkgconf", "pkg-config"),
    "Threads": (None, None, None),
    "ZLIB": ("zlib-api", "zlib", "zlib"),
}
# What every recipe decides, so that a build is the same wherever it is made.
DECIDED = ("TASKDAG_PETSC", "TASKDAG_IO", "TASKDAG_TESTS", "TASKDAG_EXAMPLES", "TASKDAG_WERROR")


class Project:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        header = self.text("include/taskdag/version.hpp")
        self.version = ".".join(re.findall(r"#define TASKDAG_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
        easyconfigs = sorted(self.root.glob(f"{PACKAGING}/easybuild/*.eb"))
        self.easyconfigs = [path.relative_to(self.root) for path in easyconfigs]
        self.recipes = [PETSC, SPACK, WHEEL, CONDA, CONTAINER, *self.easyconfigs]
        self.cmake = [path for folder in ("cmake", "src", "petsc_plugin") for path in self.root.glob(f"{folder}/**/*")
                      if path.name == "CMakeLists.txt" or path.suffix == ".cmake"]

    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def minimum(self, path, pattern):
        return re.search(pattern, self.text(path))[1]


def easyconfig(project, path):
    """The names that an easyconfig sets. It is Python with some constants."""
    names = {"SYSTEM": {"name": "system", "version": "system"}}
    exec(compile(project.text(path), str(path), "exec"), names)  # pylint: disable=exec-used
    return names


def spack_package(project):
    """Spack's recipe, run with a stand-in for Spack: what it says of the package, and cmake_args() of +cuda+petsc."""
    said = {name: [] for name in ("version", "variant", "depends_on", "conflicts", "license")}

    class Package:
        cuda_arch = types.SimpleNamespace(value=("90",))
        spec = types.SimpleNamespace(satisfies=lambda _: True, variants={"cuda_arch": cuda_arch})

        @staticmethod
        def define(name, value):
            return f"-D{name}={value}"

        def define_from_variant(self, name, variant):
            if variant != "cuda" and variant not in said["variant"]:
                raise KeyError(f"there is no variant {variant}")
            return self.define(name, True)

    tree = ast.parse(project.text(SPACK))
    tree.body = [node for node in tree.body if not isinstance(node, ast.ImportFrom)]
    names = {"CMakePackage": Package, "CudaPackage": object}
    names.update({name: lambda first, *_, _list=values, **__: _list.append(first) for name, values in said.items()})
    exec(compile(tree, str(SPACK), "exec"), names)  # pylint: disable=exec-used
    return said, names["Taskdag"]().cmake_args()


def faults_of_versions(project):
    for path in [*project.recipes, pathlib.Path("docs/installing.md"), pathlib.Path("docs/releasing.md")]:
        for found in re.findall(r"\b[Tt]ask(?:dag|DAG)[-@](\d+\.\d+\.\d+)", str(path.name) + project.text(path)):
            if found != project.version:
                yield f"{path} names version {found}"
    yield from (f"{path}: version {found}" for path, found in [
        (PETSC, project.minimum(PETSC, r'self\.version = "([^"]*)"')),
        (SPACK, spack_package(project)[0]["version"][0]),
        (CONDA, project.minimum(CONDA, r'(?m)^  version: "(.*)"$')),
        ("CITATION.cff", project.minimum("CITATION.cff", r"(?m)^version: (.*)$")),
        *((path, easyconfig(project, path)["version"]) for path in project.easyconfigs),
    ] if found != project.version)


def faults_of_options(project):
    texts = "\n".join(path.read_text(encoding="utf-8") for path in project.cmake)
    options = set(re.findall(r"\boption\((\w+)", texts)) | set(re.findall(r"\bset\((\w+)[^)]*? CACHE ", texts))
    for path in project.recipes:
        text = re.sub(r"\$\{?TASKDAG_\w+", "", project.text(path))
        passed = set(re.findall(r"-D(TASKDAG_\w+)|^(TASKDAG_\w+) = |define\w*\(\"(TASKDAG_\w+)", text, flags=re.M))
        passed = {next(filter(None, names)) for names in passed}
        yield from (f"{path}: there is no option {name}" for name in sorted(passed - options))
        yield from (f"{path} does not set {name}" for name in DECIDED if name not in passed)
    arguments = spack_package(project)[1]
    yield from (f"{SPACK}: cmake_args() lacks {name}" for name in (*DECIDED, "TASKDAG_CUDA", "CMAKE_CUDA_ARCHITECTURES")
                if not any(argument.startswith(f"-D{name}=") for argument in arguments))


def faults_of_needs(project):
    """What the project looks for, and from which version on."""
    found = {name for path in project.cmake
             for name in re.findall(r"find_package\((\w+)", path.read_text(encoding="utf-8"))}
    spack = spack_package(project)[0]["depends_on"]
    for name in sorted(found):
        if name not in NEEDS:
            yield f"find_package({name}): the recipes know nothing of it"
            continue
        in_spack, in_easybuild, in_conda = NEEDS[name]
        if in_spack and not any(re.match(rf"{in_spack}\b(?!-)", needed) for needed in spack):
            yield f"{SPACK} does not depend on {in_spack}"
        for path in project.easyconfigs:
            if in_easybuild and in_easybuild not in project.text(path):
                yield f"{path} does not name {in_easybuild}"
        if in_conda and not re.search(rf"^    - {in_conda}\b|compiler\(\"{in_conda}", project.text(CONDA), flags=re.M):
            yield f"{CONDA} does not name {in_conda}"
    cmake = project.minimum("CMakeLists.txt", r"cmake_minimum_required\(VERSION ([\d.]+)\)")
    cuda = project.minimum("cmake/TaskdagCuda.cmake", r"CUDAToolkit_VERSION VERSION_LESS ([\d.]+)\)")
    petsc = project.minimum("cmake/TaskdagPetsc.cmake", r"PETSC_PC_VERSION VERSION_LESS ([\d.]+)\)")
    for needed in (f"cmake@{cmake}:", f"cuda@{cuda}:", f"petsc@{petsc}:"):
        if not any(text.startswith(needed) for text in spack):
            yield f"{SPACK} does not depend on {needed}"
    if f"- cmake >={cmake}\n" not in project.text(CONDA) or f"- petsc >={petsc}," not in project.text(CONDA):
        yield f"{CONDA} does not ask for cmake >={cmake} and petsc >={petsc}"
    if f"minCmakeVersion = ({cmake.replace('.', ', ')}, 0)" not in project.text(PETSC):
        yield f"{PETSC} does not ask for CMake {cmake}"


def faults_of_container(project):
    text = project.text(CONTAINER)
    table = re.search(r"(?s)<<'TABLE'\n(.*?)\nTABLE", project.text(MACHINE))[1]
    rows = [line.split()[:2] for line in table.split("\n")]
    purposes, packages = {row[0] for row in rows}, {row[1] for row in rows}
    asked = [word for words in re.findall(r"install_missing ([\w ]+)", text) for word in words.split()]
    yield from (f"{CONTAINER}: {MACHINE} installs nothing for {word}" for word in asked if word not in purposes)
    if "build" not in asked:
        yield f"{CONTAINER} does not install what a build needs"
    for words in re.findall(r"apt-get install ([^&;\n]*)", text):
        yield from (f"{CONTAINER}: {word} is not in the table of {MACHINE}" for word in words.split()
                    if not word.startswith("-") and word not in packages)
    for name in re.findall(r"machine\.sh; *(?:\\\n *)?(\w+)", text):
        if f"\n{name}() {{" not in project.text(MACHINE):
            yield f"{CONTAINER}: {MACHINE} has no function {name}"


def is_installed(prefix, name):
    """Libraries may be in lib, lib64 or a folder of lib."""
    return any(prefix.glob(re.sub(r"^lib/", "lib*/**/", name)))


def faults_of_paths(project, prefix):
    """Files of the project that recipes name; with a prefix, installed ones, too."""
    for path in project.recipes:
        for name in re.findall(r"(?<![\w/])(?:examples|tests|\.ci|cmake)/[\w./-]*\w", project.text(path)):
            if not (project.root / name).exists():
                yield f"{path}: no such file: {name}"
    application = ", ".join(f'"{part}"' for part in ("examples", "3_linked_app"))
    if application not in project.text(PETSC):
        yield f"{PETSC} does not build examples/3_linked_app"
    if not prefix:
        return
    for path in project.easyconfigs:
        names = easyconfig(project, path)
        paths = names["sanity_check_paths"]
        variables = [value.replace("%(installdir)s/", "") for value in names["modextravars"].values()]
        named = [*paths["files"], *paths["dirs"], *names["modextrapaths"].values(), *variables]
        yield from (f"{path}: not installed: {name}" for name in named if not is_installed(prefix, name))
    for name in re.findall(r"\$\{PREFIX\}/(\S+)", project.text(CONDA)):
        if not is_installed(prefix, name):
            yield f"{CONDA}: not installed: {name}"
    for name in re.findall(r"=/opt/taskdag/(\S+)", project.text(CONTAINER)):
        if not is_installed(prefix, name):
            yield f"{CONTAINER}: not installed: {name}"


def faults(root, prefix=None):
    project = Project(root)
    for path in (PETSC, SPACK, PACKAGING / "wheel/taskdag/__init__.py", *project.easyconfigs):
        try:
            ast.parse(project.text(path))
        except SyntaxError as error:
            yield f"{path}: {error}"
            return
    if not project.easyconfigs:
        yield "there is no easyconfig"
    try:
        yield from faults_of_versions(project)
        yield from faults_of_options(project)
        yield from faults_of_needs(project)
        yield from faults_of_container(project)
        yield from faults_of_paths(project, prefix)
    except (AttributeError, KeyError, NameError, TypeError) as error:
        yield f"{type(error).__name__}: {error}"


# File, what stands there, what is put in its place, what has to be found.
MISTAKES = [
    ("include/taskdag/version.hpp", "VERSION_PATCH 0", "VERSION_PATCH 7", "version"),
    (PETSC, "import os", "import os os", "invalid syntax"),
    (PETSC, 'self.version = "', 'self.version = "9', "taskdag.py: version 9"),
    (PETSC, "-DTASKDAG_EXAMPLES=OFF", "-DTASKDAG_EXAMPLE=OFF", "no option TASKDAG_EXAMPLE"),
    (PETSC, '"3_linked_app"', '"3_linked"', "does not build examples/3_linked_app"),
    (PETSC, "(3, 25, 0)", "(3, 16, 0)", "does not ask for CMake"),
    (SPACK, '"TASKDAG_WERROR"', '"TASKDAG_STRICT"', "no option TASKDAG_STRICT"),
    (SPACK, '("TASKDAG_PETSC", "petsc")', '("TASKDAG_PETSC", "plugin")', "no variant plugin"),
    (SPACK, "self.define(", "self.defines(", "defines"),
    (SPACK, "cuda@12.4:", "cuda@11:", "cuda@12.4"),
    (SPACK, '    depends_on("libarchive")\n', "", "does not depend on libarchive"),
    (WHEEL, 'TASKDAG_TESTS = "OFF"\n', "", "does not set TASKDAG_TESTS"),
    (CONDA, 'version: "', 'version: "9', "recipe.yaml: version 9"),
    (CONDA, "-DTASKDAG_TESTS=OFF ", "", "does not set TASKDAG_TESTS"),
    (CONDA, "    - zlib\n", "", "does not name zlib"),
    (CONDA, "- petsc >=3.18,", "- petsc >=3.16,", "petsc >=3.18"),
    (CONTAINER, "install_missing build", "install_missing building", "installs nothing for building"),
    (CONTAINER, "RUN cmake", "RUN apt-get install -y no-such-package\nRUN cmake", "no-such-package is not in"),
    (CONTAINER, "examples/3_linked_app", "examples/3_linked", "no such file: examples/3_linked"),
    (CONTAINER, "build /tmp/build", "builds /tmp/build", "no function builds"),
    ("src/CMakeLists.txt", "find_package(ZLIB REQUIRED)", "find_package(BZip2 REQUIRED)", "find_package(BZip2)"),
    (PACKAGING / "easybuild", "-DTASKDAG_PETSC=ON", "-DTASKDAG_PLUGINS=ON", "no option TASKDAG_PLUGINS"),
    (PACKAGING / "easybuild", "('libarchive', ", "('archive', ", "does not name libarchive"),
    (PACKAGING / "easybuild", "version = '", "version = '9", "version 9"),
]


def self_test(root):
    def unread(_, names):
        return [name for name in names if name.endswith((".cpp", ".cu", ".cuh", ".c", ".svg"))
                or name.endswith(".hpp") and name != "version.hpp"]

    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for kept in ("cmake", "docs", "examples", ".ci", "include", "src", "petsc_plugin"):
            shutil.copytree(root / kept, copy / kept, ignore=unread)
        for kept in ("CMakeLists.txt", "CITATION.cff", "pyproject.toml"):
            shutil.copy(root / kept, copy)
        unseen = list(faults(copy))
        for name, old, new, word in MISTAKES:
            path = copy / name
            path = path if path.is_file() else next(path.glob("*.eb"))
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(old, new, 1), encoding="utf-8")
            if old not in text or not any(word in fault for fault in faults(copy)):
                unseen.append(f"{name}: {new!r} for {old!r} is not seen")
            path.write_text(text, encoding="utf-8")
    return unseen


def main():
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    if "--self-test" in sys.argv:
        found = self_test(root)
    else:
        prefix = os.environ.get("TASKDAG_PREFIX")
        found = list(faults(root, pathlib.Path(prefix) if prefix else None))
    print("\n".join(found) if found else "nothing found")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())

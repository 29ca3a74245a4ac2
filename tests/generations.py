#!/usr/bin/env python3
"""A library may have code that is older than the device it runs on. What a device can do is asked in one place, which
knows the code as well; launches overlap in one place; and a branch of a kernel that is not compiled for older devices
has another in its place, which traps where it must not be reached.

usage: generations.py [--self-test]
Looks at src, include and petsc_plugin. Exit status 1 where a line breaks one of these rules.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUFFIXES = {".hpp", ".cuh", ".cpp", ".cu", ".h"}
HOME = "src/backends/cuda/"
OVERLAP = HOME + "overlap.cuh"
# What stands in one file alone, and what others do in its place.
ALONE = [
    (re.compile(r"cudaDevAttrComputeCapability|\b(?:ptx|binary)Version\b|\b(?:properties|prop)\.m(?:aj|in)or\b"),
     HOME + "generation.cu", "ask cuda::generation()"),
    (re.compile(r"ProgrammaticStreamSerialization|LaunchAttributeProgrammaticEvent"), HOME + "launch.cu",
     "use cuda::Launch::overlapping()"),
    (re.compile(r"cudaGridDependencySynchronize|cudaTriggerProgrammaticLaunchCompletion|griddepcontrol"), OVERLAP,
     "call what overlap.cuh has"),
]
COMPARED = re.compile(r"__CUDA_ARCH__\s*[<>=!]|[<>=!]\s*__CUDA_ARCH__")
DIRECTIVE = re.compile(r"^\s*#\s*(ifdef|ifndef|if|elif|else|endif)\b(.*)")


def code_of(line):
    return line.split("//")[0].strip()


def bodiless(lines):
    """Numbers of the lines that begin a conditional on the generation which has a branch without code, or no other."""
    open_conditions = []  # [first line, compares, code in the branch, branches without code, has an else]
    for number, line in enumerate(lines, 1):
        found = DIRECTIVE.match(line)
        if not found:
            if open_conditions and code_of(line):
                open_conditions[-1][2] = True
            continue
        kind, rest = found.groups()
        if kind in ("if", "ifdef", "ifndef"):
            if open_conditions:
                open_conditions[-1][2] = True
            open_conditions.append([number, bool(COMPARED.search(rest)), False, False, False])
            continue
        if not open_conditions:
            continue
        condition = open_conditions[-1]
        condition[1] = condition[1] or bool(COMPARED.search(rest))
        condition[3] = condition[3] or not condition[2]
        condition[2] = False
        condition[4] = condition[4] or kind == "else"
        if kind == "endif":
            open_conditions.pop()
            if condition[1] and (condition[3] or not condition[4]):
                yield condition[0]


def faults(file, text):
    """One sentence for each line that breaks a rule."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        for pattern, home, instead in ALONE:
            if file != home and pattern.search(code_of(line)):
                yield f"{file}:{number}: {instead}: {pattern.search(line).group(0)} stands in {home} alone"
    if file != OVERLAP:  # where the launch does not overlap there is nothing to wait for
        for number in bodiless(lines):
            yield f"{file}:{number}: older code has no body here: __trap() at least"


def self_test():
    guarded = "#if __CUDA_ARCH__ >= 900\nrun();\n#else\n__trap();\n#endif\n"
    cases = [
        ("src/a.cu", guarded, 0),
        ("src/a.cu", guarded.replace("#else\n__trap();\n", ""), 1),
        ("src/a.cu", guarded.replace("__trap();", "// nothing"), 1),
        ("src/a.cu", guarded.replace("run();\n", ""), 1),
        ("src/a.cuh", "#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900\nrun();\n#endif\n", 1),
        ("src/a.cu", "#if defined(X)\n" + guarded.replace("#else\n__trap();\n", "") + "#else\nb();\n#endif\n", 1),
        ("src/a.cu", "#if defined(__CUDA_ARCH__)\nrun();\n#endif\n", 0),
        (OVERLAP, "#if __CUDA_ARCH__ >= 900\n  cudaGridDependencySynchronize();\n#endif\n", 0),
        ("src/a.cuh", "  cudaGridDependencySynchronize();\n", 1),
        ("src/a.cuh", "  asm volatile(\"griddepcontrol.wait;\");\n", 1),
        ("src/a.cuh", "// cudaGridDependencySynchronize() is what waits\n", 0),
        (HOME + "launch.cu", "add(cudaLaunchAttributeProgrammaticStreamSerialization);\n", 0),
        (HOME + "other.cu", "add(cudaLaunchAttributeProgrammaticStreamSerialization);\n", 1),
        ("src/a.cu", "cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);\n", 1),
        ("src/a.cu", "return attributes.ptxVersion >= 90;\n", 1),
        (HOME + "generation.cu", "return std::min(10 * major + minor, code.ptxVersion);\n", 0),
    ]
    wrong = [number for number, (file, text, count) in enumerate(cases) if len(list(faults(file, text))) != count]
    for number in wrong:
        print(f"case {number} of the self-test: {list(faults(*cases[number][:2]))}")
    return not wrong


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 0 if self_test() else 1
    files = [p for d in ("src", "include", "petsc_plugin") for p in sorted((ROOT / d).rglob("*")) if p.suffix in SUFFIXES]
    found = [s for p in files for s in faults(str(p.relative_to(ROOT)), p.read_text())]
    for sentence in found:
        print(sentence)
    print(f"{len(files)} files, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

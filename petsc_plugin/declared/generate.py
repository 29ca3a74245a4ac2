#!/usr/bin/env python3
"""Writes what follows from the declarations of table.py. usage: generate.py DIRECTORY

DIRECTORY/include/taskdagpetsc_settings.h           setters and getters, for C
DIRECTORY/include/taskdag_settings/*.inc            rows, fields, functions and tests, for the sources of the plugin
DIRECTORY/share/taskdag/fortran/taskdagpetsc.F90    the module for Fortran
DIRECTORY/share/taskdag/python/petsctaskdag.py      the module for Python
DIRECTORY/share/man                                 manual pages
Files that would not change are not touched.
"""
import os
import re
import sys
import textwrap

from manual import for_man, option_page, pages
from table import ALL, READERS, SETTINGS, TYPES

HERE = os.path.dirname(os.path.abspath(__file__))
NOTICE = "Made by petsc_plugin/declared/generate.py from table.py."
LEVELS = {"user": "beginner", "expert": "intermediate", "study": "developer"}
# C type: what a setter takes, what a getter fills, both of Fortran, of Fortran with ierr, and Python's kind.
PARAMETERS = {
    "PetscInt": ("PetscInt {}", "PetscInt* {}", "PetscInt, value", "PetscInt, intent(out)", "int"),
    "PetscReal": ("PetscReal {}", "PetscReal* {}", "PetscReal, value", "PetscReal, intent(out)", "float"),
    "PetscBool": ("PetscBool {}", "PetscBool* {}", "integer(c_int), value", "integer(c_int), intent(inout)", "bool"),
    "const char*": ("const char {}[]", "const char* {}[]", "character(kind=c_char), intent(in)", "type(c_ptr), intent(out)",
                    "str"),
    "PCTaskDAGType": ("PCTaskDAGType {}", "PCTaskDAGType* {}", "integer(c_int), value", "integer(c_int), intent(out)", "TYPES"),
    "PCTaskDAGBackend": ("PCTaskDAGBackend {}", "PCTaskDAGBackend* {}", "integer(c_int), value",
                         "integer(c_int), intent(out)", "BACKENDS"),
}
# Sources with manual pages that are not made from the table.
PAGES_OF = (("register.cpp",), ("interface", "general.cpp"), ("interface", "mat_sor.cpp"), ("interface", "mg.cpp"))
FUNCTIONS = [s for s in SETTINGS if s.function]


def wrap(words, prefix):
    return "\n".join(textwrap.wrap(words, 116, initial_indent=prefix, subsequent_indent=prefix, break_on_hyphens=False))


def summary(s):
    """What a header says of an option, with its values where they are words."""
    return f"{s.says} ({s.option}{': ' if s.kind.words else ''}{', '.join(s.kind.words)})."


def prototype(s, verb):
    form = PARAMETERS[s.kind.c_type][verb == "Get"]
    return f"PetscErrorCode {s.function.format(verb)}(PC pc, {form.format(s.value)})"


def c_header():
    types = ",\n".join(f"  PC_TASKDAG_{t.enumerator} /**< {t.says} */" for t in TYPES)
    functions = []
    for s in FUNCTIONS:
        functions.append("/**\n" + wrap(summary(s) + (" " + s.note.replace("`", "") if s.note else ""), " * ") + "\n */\n" +
                         "".join(f"TASKDAGPETSC_API {prototype(s, verb)};\n" for verb in ("Set", "Get")))
    return f"""/** \\file
 * {NOTICE} Included by taskdagpetsc.h.
 */
#ifndef TASKDAGPETSC_SETTINGS_H
#define TASKDAGPETSC_SETTINGS_H

/** What PCTASKDAG does (-pc_taskdag_type). */
typedef enum {{
{types}
}} PCTaskDAGType;

#ifdef __cplusplus
extern "C" {{
#endif

/* Setters take what the options take, and return PETSC_ERR_ARG_OUTOFRANGE for other values; a name that is null or empty
 * forgets a file. A new value discards what was set up with another one, as far as it depends on that; a new pivot tolerance
 * or shift amount costs a numeric phase. Preconditioners of other types ignore setters; getters return PETSC_ERR_ARG_WRONG
 * for them. A name that a getter hands out stays until it is set again. Setters are logically collective on the PC. */

{os.linesep.join(functions)}
#ifdef __cplusplus
}}
#endif

#endif
"""


def manual_page(s, verb):
    name, other = s.function.format(verb), s.function.format("Get" if verb == "Set" else "Set")
    values = ",".join(s.kind.words) or s.value
    if verb == "Set":
        parameters = f"""  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- {s.value} - the value

  Options Database Key:
{wrap(f"{s.option} <{values}> - {s.says}", "  ").replace("  ", ". ", 1)}
"""
    else:
        parameters = f"""  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
{wrap(f"{s.value} - {s.says}", "  ").replace("  ", ". ", 1)}
"""
    note = f"\n  Note:\n{wrap(s.note, '  ')}\n" if s.note and verb == "Set" else ""
    return f"""/*@
  {name} - {verb}s what {s.option} sets

  {"Logically" if verb == "Set" else "Not"} Collective

{parameters}
  Level: {LEVELS[s.tier]}
{note}
.seealso: `PCTASKDAG`, `{other}()`
@*/
"""


def setters():
    text = f"// {NOTICE}\n"
    for s in FUNCTIONS:
        for verb in ("Set", "Get"):
            enumeration = s.kind.c_type.startswith("PCTaskDAG")
            function, value = f"{verb.lower()}_value", s.value
            if enumeration:
                function = f"{verb.lower()}_place"
                value = f'"{s.kind.c_type}", static_cast<PetscInt>({s.value})' if verb == "Set" else value
            elif s.kind.maker == "file" and verb == "Set":
                function = "set_file"
            text += f'\n{manual_page(s, verb)}{prototype(s, verb)} {{\n  return {function}(pc, "{s.option}", {value});\n}}\n'
    return text


def readers(s):
    bits = [1 << ALL.index(who) if who in ALL else 1 << (16 + list(READERS).index(who)) for who in s.who]
    return f"{sum(bits):#x}U"


def string(words):
    return f'"{words}"' if words else "nullptr"


def rows():
    text = f"// {NOTICE}\n"
    for s in SETTINGS:
        field = f"s.{s.field}"
        value = {"PetscInt": "PetscInt", "PetscReal": "PetscReal", "PetscBool": "bool"}.get(s.kind.c_type, "PetscInt")
        if s.kind.maker in ("text", "file", "ordering"):
            value = "const char*"
        get = s.kind.get.format(field=field)
        if value in ("PetscInt", "PetscReal"):
            get = f"static_cast<{value}>({get})"
        reads = "s" if re.search(r"\bs\b", get) else ""
        setter = string(s.function and s.function.format("Set"))
        text += f"""{s.kind.maker}({{"{s.option}", {string(s.petsc)}, {setter}, Tier::{s.tier},
  {readers(s)}, "{s.says}", {s.more or '""'}, {string(s.default)}}},
  {"".join(e + ", " for e in s.kind.extra)}[](const Settings& {reads}) -> {value} {{ return {get}; }},
  [](Settings& s, {value} v) {{ {s.kind.put.format(field=field)}; }}),
"""
    return text


def fields():
    """The members of each group of settings.hpp that the table declares."""
    groups = {}
    for s in SETTINGS:
        if s.own:
            group, _, member = s.field.rpartition(".")
            c_type, _, value = s.own.partition(" = ")
            line = f"{c_type} {member}{' = ' + value if value else ''};  ///< {s.option}\n"
            groups.setdefault(group or "all", []).append(line)
    return {f"fields_{group}.inc": f"// {NOTICE}\n" + "".join(members) for group, members in groups.items()}


def type_rows():
    makers = sorted({t.members["make"] for t in TYPES})
    declared = "".join(f"std::unique_ptr<Preconditioner> {make}(const Settings& settings);\n" for make in makers)
    checks = sorted({t.members["check"] for t in TYPES})
    declared += "".join(f"PetscErrorCode {check}(const Settings& settings);\n" for check in checks)
    iterates = sorted({t.members["iterates"] for t in TYPES if "iterates" in t.members})
    declared += "".join(f"bool {one}(const Settings& settings);\n" for one in iterates)
    order = ("make", "check", "factors", "has_halves", "iterates", "consolidates", "watches_solves", "follows_matrix",
             "across")
    table = "".join("{{.type = PC_TASKDAG_{}, .name = \"{}\", .title = \"{}\", {}}},\n".format(
        t.enumerator, t.name, t.title, ", ".join(f".{m} = {t.members[m]}" for m in order if m in t.members)) for t in TYPES)
    names = "".join(f'"{t.name}", ' for t in TYPES)
    return {"type_functions.inc": f"// {NOTICE}\n{declared}", "types.inc": f"// {NOTICE}\n{table}",
            "type_names.inc": f"// {NOTICE}\n{names}\n",
            "readers.inc": f"// {NOTICE}\n" + "".join(f"by_{name} = 1U << {16 + k},\n" for k, name in enumerate(READERS)),
            "titles.inc": f"// {NOTICE}\n" + "".join(f'case by_{name}:\n  return "{READERS[name]}";\n' for name in READERS)}


def fortran_function(s, verb):
    name = s.function.format(verb)
    argument = PARAMETERS[s.kind.c_type][2 + (verb == "Get")]
    stars = "(*)" if argument.startswith("character") else ""
    return f"""    integer(c_int) function {name}(pc, {s.value}) &
      bind(C, name='{name}')
      import
      integer(c_intptr_t), value :: pc
      {argument} :: {s.value}{stars}
    end function
"""


def fortran_subroutine(s, verb):
    """The same with ierr, Fortran's own texts and truth values."""
    name, own = s.function.format(verb), s.kind.c_type
    direction = "in" if verb == "Set" else "out"
    declared, before, argument, after = f"{own}, intent({direction})", "", s.value, ""
    if own == "const char*":
        declared = f"character(len=*), intent({direction})"
        if verb == "Set":
            argument = f"trim({s.value})//c_null_char"
        else:
            before, argument, after = "    type(c_ptr) :: address\n", "address", f"    call take_text(address, {s.value})\n"
    elif own == "PetscBool":
        declared = f"PetscBool, intent({direction})"
        before, argument = "    integer(c_int) :: number\n", "number"
        before += f"    number = merge(1, 0, {s.value})\n" if verb == "Set" else "    number = 0\n"
        after = "" if verb == "Set" else f"    {s.value} = number /= 0\n"
    elif own.startswith("PCTaskDAG"):
        declared = f"integer(c_int), intent({direction})"
    return f"""  subroutine {name}(pc, {s.value}, ierr)
    PC, intent(in) :: pc
    {declared} :: {s.value}
    PetscErrorCode, intent(out) :: ierr
{before}    ierr = c_{name}(pc%v, &
      {argument})
{after}  end subroutine
"""


def fortran():
    functions = "".join(f"\n{wrap(summary(s), '    ! ')}\n" + "".join(fortran_function(s, verb) for verb in ("Set", "Get"))
                        for s in FUNCTIONS)
    names = [s.function.format(verb) for s in FUNCTIONS for verb in ("Set", "Get")]
    renamed = "".join(f"  use taskdagpetsc, only: c_{name} => {name}\n" for name in names)
    public = "".join(f"  public :: {name}\n" for name in names)
    subroutines = "\n".join(fortran_subroutine(s, verb) for s in FUNCTIONS for verb in ("Set", "Get"))
    return {"TYPES": ", &\n      ".join(f"PC_TASKDAG_{t.enumerator}" for t in TYPES), "FUNCTIONS": functions,
            "RENAMED": renamed, "PUBLIC": public, "SUBROUTINES": subroutines}


def version():
    return ".".join(re.findall(r"#define TASKDAG_VERSION_\w+ (\d+)", text_of("..", "include", "taskdag", "version.hpp")))


def python():
    return {"VERSION": version(), "TYPES": "(" + ", ".join(f'"{t.name}"' for t in TYPES) + ")",
            "FUNCTIONS": "".join(f'    "{s.option[len("-pc_taskdag_"):]}": '
                                 f'("{s.function[len("PCTaskDAG"):]}", {PARAMETERS[s.kind.c_type][4]}),\n' for s in FUNCTIONS)}


def tests():
    """For each option with functions: its name, a type that reads it, another value, a wrong one, and the functions."""
    text = f"// {NOTICE}\n"
    for s in FUNCTIONS:
        value, wrong = s.test
        c_type = s.kind.c_type
        of = "enum" if c_type.startswith("PCTaskDAG") else "text"
        names = f", {c_type}s" if of == "enum" else ""
        set_, get = s.function.format("Set"), s.function.format("Get")
        c_type = "const char*" if c_type == "const char*" else c_type
        text += (f'{{"{s.option}", "{s.who[0]}", "{value}", "{wrong}", set_{of}<{c_type}, {set_}{names}>, '
                 f"get_{of}<{c_type}, {get}{names}>}},\n")
    return text


def text_of(*path):
    """Of a file of the sources, from the plugin's folder on."""
    with open(os.path.join(HERE, "..", *path), encoding="utf-8") as file:
        return file.read()


def manual():
    """Pages of what the table declares, and of what the sources have beside it."""
    return pages(setters() + "".join(text_of(*path) for path in PAGES_OF))


def for_man_all():
    files = {f"man3/{page.name}.3": for_man(page, version()) for page in manual()}
    return {**files, "man7/petsctaskdag.7": option_page(text_of("..", "docs", "options.md"), version())}


def filled(template, values):
    text = text_of(template)
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text


def main(directory):
    inside = {"rows.inc": rows(), "setters.inc": setters(), "tests.inc": tests(), **fields(), **type_rows()}
    files = {f"include/taskdag_settings/{name}": text for name, text in inside.items()}
    files["include/taskdagpetsc_settings.h"] = c_header()
    files["share/taskdag/fortran/taskdagpetsc.F90"] = filled("fortran/taskdagpetsc.F90.in", fortran())
    files["share/taskdag/python/petsctaskdag.py"] = filled("python/petsctaskdag.py.in", python())
    files.update({f"share/man/{name}": text for name, text in for_man_all().items()})
    for name, text in files.items():
        path = os.path.join(directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                if file.read() == text:
                    continue
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])

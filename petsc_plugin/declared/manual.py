"""Manual pages for man: one of section 3 for each page that the sources hold in PETSc's form, and one of section 7 with all
options, from the tables of docs/options.md, which a test compares with what the plugin prints."""
import re

PAGE = re.compile(r"/\*(?:@|MC)\n(.*?)\n(?:@|M)\*/\n(?:(PetscErrorCode [^;{]*?) \{)?", re.S)
HEADING = re.compile(r"  ((?:Input |Output )?Parameters?|Options Database Keys?|Level|Notes?):(.*)")
HEADER = "#include <taskdagpetsc.h>"


def roff(words):
    words = words.strip().replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", re.sub(r"`([^`]*)`", r"\\fB\1\\fR", words))


def titled(name, section, brief, version):
    return f'.TH {name} {section} "" "TaskDAG {version}" "TaskDAG for PETSc"\n.SH NAME\n{name} \\- {roff(brief)}\n'


def items(lines):
    """Lines that begin with one of PETSc's marks of lists, and those that go on: pairs of what is named and what is said."""
    joined = re.split(r"\n[+.-] ", "\n" + "\n".join(lines))
    for item in joined[1:]:
        yield re.split(r"\s+- ", " ".join(item.split()), maxsplit=1)


def section_of(paragraph):
    if paragraph.startswith(".seealso:"):
        return ".SH SEE ALSO\n" + roff(" ".join(paragraph[len(".seealso:"):].split())) + "\n"
    lines = paragraph.split("\n")
    heading = HEADING.fullmatch(lines[0])
    if not heading:
        return ".PP\n" + roff(" ".join(paragraph.split())) + "\n"
    text = f".SH {heading[1].upper()}\n"
    if len(lines) > 1 and lines[1][:2] in ("+ ", "- ", ". "):
        return text + "".join(f".TP\n.B {roff(name)}\n{roff(says)}\n" for name, says in items(lines[1:]))
    return text + roff(" ".join(" ".join([heading[2], *lines[1:]]).split())) + "\n"


def function_page(comment, prototype, version):
    """The name, and the page in the language of man."""
    first, *paragraphs = comment.split("\n\n")
    name, brief = " ".join(first.split()).split(" - ", 1)
    text = titled(name, 3, brief, version) + f".SH SYNOPSIS\n.nf\n{HEADER}\n"
    if prototype:
        text += "\n" + roff(" ".join(prototype.split())) + ";\n"
    sections = "".join(section_of(paragraph) for paragraph in paragraphs)
    return name, text + ".fi\n" + (".SH DESCRIPTION\n" if sections.startswith(".PP") else "") + sections


def function_pages(source, version):
    return dict(function_page(*found, version) for found in PAGE.findall(source))


def option_page(document, version):
    text = titled("petsctaskdag", 7, "options of TaskDAG's plugin for PETSc", version)
    text += (".SH DESCRIPTION\n" + roff("A PETSc program takes the plugin with -dll_append PLUGIN, and its preconditioner with "
             "-pc_type taskdag. The documents that are named here lie in share/doc/taskdag.") + "\n")
    for line in document.split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("## "):
            text += f".SH OPTIONS {line[3:].upper()}\n"
        elif line.startswith("| `-"):
            names, default, values, says = cells
            text += f".TP\n{roff(names)} ({roff(values)})\n{roff(says)}. Default: {roff(default)}.\n"
    return text + ".SH SEE ALSO\n" + roff("`PCTASKDAG`(3), share/doc/taskdag/docs/options.md") + "\n"

"""Manual pages in PETSc's form, as the sources hold them, for man and in Markdown; and one page with all options, from the
tables of docs/options.md, which a test compares with what the plugin prints."""
import re

PAGE = re.compile(r"/\*(?:@|MC)\n(.*?)\n(?:@|M)\*/\n(?:(PetscErrorCode [^;{]*?) \{)?", re.S)
HEADING = re.compile(r"  ((?:Input |Output )?Parameters?|Options Database Keys?|Level|Notes?):(.*)")
HEADER = "#include <taskdagpetsc.h>"


class Page:
    """sections: the heading, or none, and what is under it: a sentence or more, or pairs of what is named and what is said."""

    def __init__(self, comment, prototype):
        first, *paragraphs = comment.split("\n\n")
        self.name, self.brief = joined(first).split(" - ", 1)
        self.prototype = joined(prototype) + ";" if prototype else ""
        self.sections = [section_of(paragraph) for paragraph in paragraphs]


def joined(text):
    return " ".join(text.split())


def pages(source):
    return [Page(*found) for found in PAGE.findall(source)]


def section_of(paragraph):
    if paragraph.startswith(".seealso:"):
        return "See also", joined(paragraph[len(".seealso:"):])
    first, _, rest = paragraph.partition("\n")
    heading = HEADING.fullmatch(first)
    if not heading:
        return "", joined(paragraph)
    # PETSc marks the items of a list at the beginning of the line.
    items = re.split(r"\n[+.-] ", "\n" + rest)[1:]
    return heading[1], [tuple(re.split(r"\s+- ", joined(item), maxsplit=1)) for item in items] or joined(heading[2] + " " + rest)


def roff(words):
    words = words.strip().replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", re.sub(r"`([^`]*)`", r"\\fB\1\\fR", words))


def titled(name, section, brief, version):
    return f'.TH {name} {section} "" "TaskDAG {version}" "TaskDAG for PETSc"\n.SH NAME\n{name} \\- {roff(brief)}\n'


def for_man(page, version):
    text = titled(page.name, 3, page.brief, version) + f".SH SYNOPSIS\n.nf\n{HEADER}\n{roff(page.prototype)}\n.fi\n"
    before = None
    for heading, body in page.sections:
        text += f".SH {heading.upper()}\n" if heading else ".SH DESCRIPTION\n" if before is None else ".PP\n"
        before = heading
        text += roff(body) + "\n" if isinstance(body, str) else "".join(f".TP\n.B {roff(name)}\n{roff(says)}\n" for name, says in body)
    return text


def in_markdown(page, names):
    """names: of the pages that may be linked."""
    def link(found):
        return f"[{found[0]}]({found[1]}.md)" if found[1] in names else found[0]

    text = f"# {page.name}\n\n{page.brief}\n\n    {HEADER}\n" + (f"    {page.prototype}\n" if page.prototype else "")
    for heading, body in page.sections:
        text += f"\n## {heading}\n" if heading else ""
        if heading == "See also":
            body = re.sub(r"`(\w+)(?:\(\))?`", link, body)
        text += f"\n{body}\n" if isinstance(body, str) else "".join(f"\n- `{name}`: {says}" for name, says in body) + "\n"
    return text


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

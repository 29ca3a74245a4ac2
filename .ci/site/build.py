#!/usr/bin/env python3
"""Makes a site of the documents, with the manual pages of functions and what the headers say, and checks every link.

usage: build.py DIRECTORY [TUTORIALS]
DIRECTORY/site is the site; TUTORIALS: pages of the tutorials with what they print, where tutorials.py has made them.
Needs mkdocs-material (PYTHONPATH) and doxygen.
What the documents link is copied, from wherever in the project it lies; of a folder without a README.md its files are listed.
"""
import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "petsc_plugin/declared")]
import docs_links  # noqa: E402
import generate  # noqa: E402
import manual  # noqa: E402


def for_python_markdown(text):
    """What a list holds is indented by four, not by two or three; code stays as it is."""
    parts = re.split(r"(^```.*?^```)", text, flags=re.M | re.S)
    parts[::2] = [re.sub(r"^ {2,3}(?=\S)", "    ", part, flags=re.M) for part in parts[::2]]
    return "".join(parts)


def listing(folder):
    return f"# {folder.name}\n\n" + "".join(f"- [{file.name}]({file.name})\n" for file in sorted(folder.iterdir()) if file.is_file())


def linked(path):
    """Files of the project that a document links."""
    text = docs_links.without_code(path.read_text(encoding="utf-8"))
    for target in docs_links.LINK.findall(re.sub(r"`[^`]*`", "", text)):
        name = target.partition("#")[0]
        if name and not re.match(r"[a-z]+:", name):
            yield (path.parent / name).resolve()


def copy(source):
    """README.md, and from it whatever is linked."""
    waiting, known = [ROOT / "README.md", *ROOT.glob("docs/**/*.md")], set()
    while waiting:
        path = waiting.pop()
        if path in known:
            continue
        known.add(path)
        to = source / path.relative_to(ROOT)
        if path.is_dir():
            if (path / "README.md").exists():
                waiting.append(path / "README.md")
            else:
                to.mkdir(parents=True, exist_ok=True)
                (to / "README.md").write_text(listing(path), encoding="utf-8")
                waiting += [file for file in path.iterdir() if file.is_file()]
            continue
        to.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            waiting += linked(path)
            to.write_text(for_python_markdown(path.read_text(encoding="utf-8")), encoding="utf-8")
        else:
            shutil.copy(path, to)


def write_manual(folder):
    folder.mkdir(parents=True)
    pages = sorted(generate.manual(), key=lambda page: page.name)
    names = {page.name for page in pages}
    for page in pages:
        (folder / f"{page.name}.md").write_text(manual.in_markdown(page, names), encoding="utf-8")
    index = "# Manual pages\n\n| Function | |\n|---|---|\n"
    index += "".join(f"| [{page.name}]({page.name}.md) | {page.brief} |\n" for page in pages)
    (folder / "README.md").write_text(index, encoding="utf-8")


def write_tutorials(folder, pages):
    """Beside the scripts, which the list of them names; here it names the pages."""
    shutil.copytree(pages, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.json"))
    index = folder / "README.md"
    index.write_text(re.sub(r"\]\((\d_\w+)\.py\)", r"](\1.md)", index.read_text(encoding="utf-8")), encoding="utf-8")


def write_headers(folder, declared):
    """declared: where the headers go that are made of the declarations of settings."""
    generate.main(declared)
    settings = (HERE / "Doxyfile").read_text(encoding="utf-8")
    settings += f"INPUT += {declared}/include\nEXCLUDE = {declared}/include/taskdag_settings\nHTML_OUTPUT = {folder}\n"
    settings += f"STRIP_FROM_INC_PATH = include petsc_plugin/include {declared}/include\n"
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True, cwd=ROOT)


def pages_of(folder, source):
    """Entries of a navigation: the folder's README.md first."""
    pages = sorted((source / folder).glob("*.md"), key=lambda page: (page.name != "README.md", page.name))
    return "".join(f"\n      - {page.relative_to(source)}" for page in pages)


def write_settings(directory, source):
    settings = (HERE / "mkdocs.yml").read_text(encoding="utf-8") + "docs_dir: source\nsite_dir: site\n"
    settings = re.sub(r" (\S+)/\*$", lambda found: pages_of(found[1], source), settings, flags=re.M)
    (directory / "mkdocs.yml").write_text(settings, encoding="utf-8")
    shutil.copy(HERE / "extra.css", source)


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.targets, self.names = [], set()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.targets += [given[name] for name in ("href", "src") if given.get(name) and tag != "link"]
        self.names.add(given.get("id"))


def dead_links(site):
    pages = {}
    for path in site.rglob("*.html"):
        pages[path] = Links()
        pages[path].feed(path.read_text(encoding="utf-8"))
    for path, page in pages.items():
        if path.name == "404.html" or path.parent.name == "headers":  # Doxygen links headings that it leaves out
            continue
        for target in page.targets:
            name, _, anchor = urllib.parse.unquote(target).partition("#")
            if re.match(r"[a-z]+:|//", name):
                continue
            to = (path.parent / name).resolve() if name else path
            to = to / "index.html" if to.is_dir() else to
            if not to.exists() or anchor and to in pages and anchor not in pages[to].names:
                yield f"{path.relative_to(site)}: {target} leads nowhere"


def main(directory, tutorials=None):
    source, site = directory / "source", directory / "site"
    shutil.rmtree(source, ignore_errors=True)
    copy(source)
    write_manual(source / "docs/manual")
    if tutorials and list(tutorials.glob("*.md")):
        write_tutorials(source / "examples/tutorials", tutorials)
    write_headers(source / "headers", directory / "declared")
    write_settings(directory, source)
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--clean", "-f", directory / "mkdocs.yml"], check=True)
    dead = list(dead_links(site))
    print("\n".join(dead) if dead else f"{len(list(site.rglob('*.html')))} pages, every link leads somewhere")
    return bool(dead)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:])))

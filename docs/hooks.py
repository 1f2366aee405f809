"""What the site adds to its pages.

Generated pages (commands, learners, the gallery), files of the repository, mathematics as MathML,
and for each page a Markdown twin, listed in llms.txt. Nothing is loaded from elsewhere.

`python docs/hooks.py` writes docs/gallery/index.md, which is also read in the repository.
"""

import ast
import html
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from pydoc import locate

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS))

from docstrings import described, docstring_of  # noqa: E402

COPIED = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
COPIED |= {"SECURITY.md": "security.md"}
OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)*(?:examples|benchmarks|tests|src)[^)]*\)")
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
OBJECT = re.compile(r"^::: (\S+)\n(?: {4}.*\n)*", re.MULTILINE)
SCRIPT = re.compile(r"^Script: \[(\w+\.py)\]\(\1\)$", re.MULTILINE)
CODE = re.compile(r"^Code: \[\w+\.pyx\]\(\.\./\.\./(src/\S+\.pyx)\)$", re.MULTILINE)
BAR = re.compile("<mo>(&#x0007C;|&#x02016;)</mo>")
STILL_BAR = r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>'
SHIM = "https://unpkg.com/iframe-worker/shim"
GALLERY = (
    "any_unit",
    "four_learners",
    "units_change",
    "drifting_stream",
    "honest_intervals",
    "views",
    "growing_trees",
    "late_labels",
    "decisions",
    "csv_bigger_than_memory",
    "adversary",
    "worst_case",
    "certified_regret",
)
"""The scripts of docs/gallery, in the order of the page."""
twins: dict[str, str] = {}


# Generated pages


def commands():
    """Return the page of the commands, as the program describes itself."""
    words = [sys.executable, "-m", "typer", "unitless.cli.app", "utils", "docs"]
    found = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [*words, "--name", "unitless", "--title", "Commands"],
        env=found,
        capture_output=True,
        text=True,
        check=True,
    )
    sections = r"^## `unitless (\w+)`\n\n(.+)$"
    summaries = dict(re.findall(sections, done.stdout, re.MULTILINE))
    cut = re.compile(r"^\* `(\w+)`: .+\.\.\.$", re.MULTILINE)  # made to fit into a terminal
    return cut.sub(lambda found: f"* `{found[1]}`: {summaries[found[1]]}", done.stdout)


def learners():
    """Return the page of the learners: one section per name of the registry."""
    from unitless.learners import REGISTRY

    parts = [
        "# Learners",
        "A learner is one online algorithm. The default, `blend`, combines several of the others. "
        'Use a name as `learner="name"` in Python and as `--learner name` on the command line.',
    ]
    lines = ["| name | invariance | what it is |", "|---|---|---|"]
    for name, path in REGISTRY.items():
        kind = locate(path)
        summary = docstring_of(kind).partition("\n\n")[0].replace("\n", " ").replace("|", "\\|")
        lines.append(f"| [`{name}`](#{name}) | {kind.invariance} | {summary} |")
    parts.append("\n".join(lines))
    for name, path in REGISTRY.items():
        parts += [f"## `{name}`", described(path)]
    return "\n\n".join(parts)


def gallery():
    """Return the page of the gallery, made from the docstrings of its scripts."""
    parts = [
        "# Gallery",
        "Each picture is made by a script of one page, which you can run: "
        "`python docs/gallery/NAME.py`. The scripts\nuse data that scikit-learn contains, or data "
        "that they make. The tests run all of them.",
    ]
    for name in GALLERY:
        text = ast.get_docstring(ast.parse((DOCS / "gallery" / f"{name}.py").read_text("utf-8")))
        first, _, rest = text.partition("\n")
        title, _, claim = first.partition(": ")
        parts += [f"## {title.rstrip('.')}", claim[:1].upper() + claim[1:], rest.strip()]
        parts += [f"![{title}]({name}.svg)", f"Script: [{name}.py]({name}.py)"]
    return "\n\n".join(filter(None, parts)) + "\n"


# What MkDocs calls


def on_files(files, config):
    """Add the generated pages, and those at the root of the repository."""
    from mkdocs.structure.files import File

    pages = {"reference/commands.md": commands(), "reference/learners.md": learners()}
    for source, name in COPIED.items():
        pages[name] = (ROOT / source).read_text(encoding="utf-8").replace("](docs/", "](")
        for other, place in COPIED.items():
            pages[name] = pages[name].replace(f"]({other})", f"]({place})")
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    """Lead links to files of the repository to their pages; unlink those without a page."""
    twins[page.file.src_uri] = CODE.sub(with_algorithm, OBJECT.sub(with_docstring, markdown))
    for source, name in COPIED.items():
        markdown = markdown.replace(f"/{source})", f"/{name})").replace(
            f"../../{name}", f"../{name}"
        )
    return OUTSIDE.sub(r"\1", CODE.sub(with_algorithm, SCRIPT.sub(with_code, markdown)))


def with_docstring(found):
    """Return an object of the API as its Markdown twin has it: with its public methods."""
    kind = locate(found[1])
    shown = re.search(r"members: \[(.+)\]", found[0])
    parts = [f"### {found[1]}", described(found[1])]
    for name, method in inspect.getmembers(kind if inspect.isclass(kind) else None):
        public = not name.startswith("_") and callable(method)
        ours = (getattr(method, "__module__", None) or "").startswith("unitless")
        if public and ours and (not shown or name in shown[1].split(", ")):
            parts += [f"#### {kind.__name__}.{name}", described(f"{found[1]}.{name}")]
    return "\n\n".join(parts)


def with_code(found):
    """Return a script of the gallery as a block that can be opened."""
    code = (DOCS / "gallery" / found[1]).read_text(encoding="utf-8")
    fence = "```{.python data-search-exclude=true}"
    lines = [f'??? example "{found[1]}"', "", fence, *code.splitlines(), "```"]
    return "\n".join(f"    {line}" if k else line for k, line in enumerate(lines))


def with_algorithm(found):
    """Return the code of an algorithm as a block of the page."""
    code = (ROOT / found[1]).read_text(encoding="utf-8")
    return f"```cython\n{code}```"


def on_page_content(output, page, config, files):
    """Make formulas MathML, which browsers draw without a script."""
    return FORMULA.sub(as_mathml, output)


def as_mathml(found):
    """Return a formula as MathML."""
    from latex2mathml.converter import convert

    display = "block" if found[2] == "[" else "inline"
    formula = html.unescape(found[3]).strip().replace("{aligned}", "{align*}")
    return BAR.sub(STILL_BAR, convert(formula, display=display))


def on_post_page(output, page, config):
    """Load the helper of the offline search from the site itself."""
    return output.replace(SHIM, "../" * page.url.count("/") + "assets/iframe-worker.js")


def on_post_template(output, template_name, config):
    """Do the same for 404.html."""
    return output.replace(SHIM, "assets/iframe-worker.js")


def on_post_build(config):
    """Write the Markdown twins beside the pages, and llms.txt, which lists them."""
    site = Path(config["site_dir"])
    lines = ["# Unitless", "", f"> {config['site_description']}", ""]
    for entry in config["nav"]:
        for door, pages in entry.items():
            lines += [f"## {door}", ""]
            lines += map(listed, [pages] if isinstance(pages, str) else pages)
            lines.append("")
    for name, text in twins.items():
        (site / name).write_text(text, encoding="utf-8")
    (site / "llms.txt").write_text("\n".join(lines), encoding="utf-8")


def listed(name):
    """Return the line of a page in llms.txt: its title and its first sentence."""
    title, _, text = twins[name].partition("\n")
    paragraphs = [part for part in text.split("\n\n") if re.match(r"\s*[A-Z*`]", part)]
    first = " ".join(paragraphs[0].split()) if paragraphs else ""
    first = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", first)  # links are relative to their page
    sentence = re.split(r"(?<=[.?:]) (?=[A-Z`*])", first)[0].rstrip(":")
    return f"- [{title.lstrip('# ')}]({name}): {sentence}"


if __name__ == "__main__":
    (DOCS / "gallery" / "index.md").write_text(gallery(), encoding="utf-8")

"""What the site adds to its pages: files of the repository, llms.txt, Markdown twins."""

import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
COPIED = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
COPIED |= {"SECURITY.md": "security.md"}
OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)*(?:examples|benchmarks|tests|src)[^)]*\)")
SHIM = "https://unpkg.com/iframe-worker/shim"


def on_files(files, config):
    """Add the pages that lie at the root of the repository."""
    for source, name in COPIED.items():
        text = (ROOT / source).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    """Lead links to files of the repository to their pages; unlink those without a page."""
    for source, name in COPIED.items():
        markdown = markdown.replace(f"/{source})", f"/{name})").replace(
            f"../../{name}", f"../{name}"
        )
    return OUTSIDE.sub(r"\1", markdown)


def on_post_page(output, page, config):
    """Load the helper of the offline search from the site itself."""
    return output.replace(SHIM, "../" * page.url.count("/") + "assets/iframe-worker.js")


def on_post_template(output, template_name, config):
    """Do the same for 404.html."""
    return output.replace(SHIM, "assets/iframe-worker.js")


def on_post_build(config):
    """Write each page as Markdown beside its HTML, and llms.txt, which lists them."""
    site = Path(config["site_dir"])
    docs = Path(config["docs_dir"])
    lines = ["# Unitless", "", f"> {config['site_description']}", ""]
    for path in sorted(docs.rglob("*.md")):
        name = path.relative_to(docs)
        text = path.read_text(encoding="utf-8")
        twin = site / name
        twin.parent.mkdir(parents=True, exist_ok=True)
        twin.write_text(text, encoding="utf-8")
        title = next((line[2:] for line in text.splitlines() if line.startswith("# ")), name.stem)
        lines.append(f"- [{title}]({name.as_posix()})")
    (site / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")

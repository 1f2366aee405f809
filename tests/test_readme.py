"""Links in the README and in the other pages lead to files and sections that exist."""

import importlib
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")
GENERATED = {"commands.md", "learners.md"}
"""Pages that exist in the site only."""


def anchors(page):
    """The anchors of a page's headings, formed as GitHub forms them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link in LINK.findall(page.read_text()):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if target.name in GENERATED and target.parent.name == "reference":
            continue
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_the_table_is_made_from_the_results_files(monkeypatch):
    """Otherwise: python benchmarks/readme_table.py."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import readme_table

    assert readme_table.page_with_table() == (ROOT / "README.md").read_text()


@pytest.mark.parametrize("name", ["quality", "curves", "ablation", "overheads"])
def test_the_tables_of_measurements_are_those_of_the_results_files(name, monkeypatch):
    """Otherwise: python benchmarks/NAME.py --write."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    benchmark = importlib.import_module(name)
    page = (ROOT / "docs" / "explanation" / "measurements.md").read_text()
    text = benchmark.markdown(json.loads(Path(benchmark.RESULTS).read_text()))
    assert f"<!-- {name} -->\n{text}\n<!-- end of {name} -->" in page


def test_the_readme_says_how_many_learners_the_study_has():
    study = (ROOT / "docs" / "explanation" / "study.md").read_text()
    for page in ("README.md", "docs/explanation/index.md"):
        count = re.search(r"(\d+) learners", (ROOT / page).read_text())[1]
        assert re.search(rf"of {count} learners|{count} learners", study), page


@pytest.mark.parametrize(
    "page",
    [page for page in (ROOT / "docs" / "how-to").glob("*.md") if page.stem != "index"],
    ids=lambda page: page.stem,
)
def test_each_guide_says_when_it_is_wrong(page):
    _, heading, text = page.read_text().partition("\n## When this is wrong\n\n")
    assert heading, page.name
    assert text.count("- **") >= 3
    assert "\n## " not in text

"""Every code block of every page runs, in the order of the page (`run_page`).

Each page has a folder and a process of its own, in which only those packages can be imported that
the page tells to install.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars
import pytest

import only_installed
import scripts
import unitless
from run_page import blocks_of
from unitless.learners import REGISTRY

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("docs/**/*.md")), ROOT / "README.md"]
GALLERY = sorted(ROOT.glob("docs/gallery/*.py"))


def site():
    """Import docs/hooks.py, which makes the generated pages of the site."""
    spec = importlib.util.spec_from_file_location("hooks", ROOT / "docs" / "hooks.py")
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    return hooks


def prepare(folder):
    """Write the files that the pages speak of."""
    rng = np.random.default_rng(0)
    rows = 200
    frame = polars.DataFrame(
        {
            "distance": rng.exponential(800, rows),
            "carrier": rng.choice(["AA", "BB"], rows),
            "price": rng.normal(size=rows) * 1000,
            "delay": rng.normal(size=rows) * 10,
        }
    )
    for name in ("data.csv", "new.csv", "houses.csv"):
        frame.write_csv(folder / name)
    (folder / "flights").mkdir()
    for k in range(4):
        frame[k::4].write_parquet(folder / "flights" / f"{k}.parquet")


def process(folder, page, *words):
    """Run Python with what the text of a page tells to install, and nothing else."""
    (folder / "sitecustomize.py").write_text(only_installed.startup(page))
    path = [str(folder), str(ROOT / "tests"), *sys.path]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(path)}
    words = [sys.executable, "-W", "error", *map(str, words)]
    work = folder / "work"
    work.mkdir(exist_ok=True)
    return subprocess.run(words, capture_output=True, text=True, cwd=work, env=env, timeout=900)


def test_a_page_has_only_what_it_tells_to_install(tmp_path):
    names = only_installed.named("$ pip install '.[river]' x    # in a clone")
    assert names == ["unitless[river]", "x"]
    plain = process(tmp_path, "$ pip install .\n", "-c", "import polars, pandas")
    assert "No module named 'pandas'" in plain.stderr
    assert (
        "No module named 'pandas'"
        not in process(tmp_path, "$ pip install . pandas", "-c", "import pandas").stderr
    )


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks_of(page)], ids=lambda page: page.stem
)
def test_every_block_runs(page, tmp_path):
    (tmp_path / "work").mkdir()
    prepare(tmp_path / "work")
    done = process(tmp_path, page.read_text(encoding="utf-8"), ROOT / "tests/run_page.py", page)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "script", [s for s in GALLERY if s.stem != "drawing"], ids=lambda s: s.stem
)
def test_gallery(script, tmp_path, capsys):
    """Each script draws its picture, and what it claims is true."""
    matplotlib = pytest.importorskip("matplotlib")
    with matplotlib.rc_context():
        scripts.run(script, tmp_path)
        matplotlib.pyplot.close("all")
    assert "False" not in capsys.readouterr().out
    assert (tmp_path / f"{script.stem}.svg").stat().st_size > 2000
    assert (script.parent / f"{script.stem}.svg").exists()


def test_the_page_of_the_gallery_is_made_from_its_scripts():
    """Otherwise: python docs/hooks.py."""
    hooks = site()
    assert {script.stem for script in GALLERY} == {*hooks.GALLERY, "drawing"}
    assert len(hooks.GALLERY) > 8
    assert (ROOT / "docs" / "gallery" / "index.md").read_text() == hooks.gallery()


def test_the_page_of_learners_has_all_of_them():
    page = site().learners()
    for name, path in REGISTRY.items():
        assert f"## `{name}`\n\n`{path.rpartition('.')[2]}(" in page
    assert "```python\n>>> " in page
    assert "- `alpha` (finite number > 9/8): " in page
    assert "| s2 | x^2 | sum of squares, sum x_i^2 |" in page


def test_the_page_of_commands_has_whole_sentences():
    pages = site().commands()
    assert (
        "* `evaluate`: Learn from a file in one pass, and measure how well it was predicted.\n"
        in pages
    )


def test_a_twin_describes_what_the_site_makes_from_docstrings():
    hooks = site()
    page = "::: unitless.load\n    options:\n      x: 1\n\n::: unitless.Model\n\nafter\n"
    text = hooks.OBJECT.sub(hooks.with_docstring, page)
    assert "`load(path)`" in text
    assert "#### Model.predict\n" in text
    assert unitless.load.__doc__.partition("\n")[0] in text
    assert "x: 1" not in text
    assert text.endswith("after\n")


def test_llms_txt_lists_every_page_by_its_first_sentence(tmp_path):
    hooks = site()
    hooks.twins["a.md"] = "# Late labels\n\nPredict [now](b.md). Learn later.\n"
    nav = [{"Home": "a.md"}, {"How-to": ["a.md"]}]
    hooks.on_post_build({"site_dir": tmp_path, "site_description": "Learning", "nav": nav})
    line = "- [Late labels](a.md): Predict now.\n"
    assert (tmp_path / "llms.txt").read_text().endswith(f"## How-to\n\n{line}")
    assert (tmp_path / "a.md").read_text() == hooks.twins["a.md"]


def test_formulas_become_mathml():
    pytest.importorskip("latex2mathml")
    hooks = site()
    text = hooks.FORMULA.sub(hooks.as_mathml, r'<span class="arithmatex">\(a &lt; b_i\)</span>')
    assert text.startswith("<math")
    assert "<mi>a</mi><mo>&#x0003C;</mo><msub>" in text
    norm = hooks.FORMULA.sub(hooks.as_mathml, r'<span class="arithmatex">\(\lVert a\)</span>')
    assert norm.count('stretchy="false"') == 1

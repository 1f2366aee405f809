"""Every code block of every page runs, in the order of the page, in a folder of its own.

Blocks of Python are doctests, or plain code. In a console block, lines that begin with `$` are run,
and the lines below a command are parts of what it prints. A shell runs those with a pipe or a
redirection; the others, like the scripts of the gallery, run in this process, because most of the
time of a new process is spent on loading the kernels.
"""

import doctest
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars
import pytest

import scripts
import unitless
from cli.material import Done, command
from unitless.learners import REGISTRY

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("docs/**/*.md")), ROOT / "README.md"]
GALLERY = sorted(ROOT.glob("docs/gallery/*.py"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def site():
    """Import docs/hooks.py, which makes the generated pages of the site."""
    spec = importlib.util.spec_from_file_location("hooks", ROOT / "docs" / "hooks.py")
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    return hooks


def blocks_of(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


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


def run_python(code, names, title):
    if ">>>" not in code:
        exec(compile(code, title, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(code, names, title, title, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    said = []
    runner.run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    assert not runner.failures, "".join(said)


def in_a_shell(line):
    start = f'unitless() {{ {sys.executable} -m unitless "$@"; }}; set -eo pipefail; '
    words = ["bash", "-c", start + line]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def run_console(text, unitless):
    """Run the commands; install commands are those of .ci/run, which runs them."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, expected = part.partition("\n")
        if line.startswith("pip "):
            continue
        name, *words = shlex.split(line)
        plain = name == "unitless" and not {"|", ">", "<", "&&"} & {*words}
        done = unitless(*words) if plain else in_a_shell(line)
        assert done.code == 0, f"{line}\n{done.err}"
        said = " ".join(done.out.split())
        for wanted in expected.splitlines():
            assert " ".join(wanted.split()) in said, f"{line}\n{wanted}"


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks_of(page)], ids=lambda page: page.stem
)
def test_every_block_runs(page, tmp_path, monkeypatch, capsys):
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), *sys.path]))
    unitless = command(monkeypatch, capsys)
    names = {"__name__": "__main__"}
    for language, text in blocks_of(page):
        if language == "python":
            run_python(text, names, page.name)
        elif language == "console":
            capsys.readouterr()
            run_console(text, unitless)
        else:
            assert language == "bash"  # the two commands of .ci/run
            assert page.name == "README.md"


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
    assert "| s2 | x^2 | sum x_i^2 |" in page


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

"""Every code block of every page runs, in the order of the page, in a folder of its own.

Blocks of Python are doctests, or plain code. In a console block, lines that begin with `$` are run
by a shell, and the lines below a command are parts of what it prints.
"""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars
import pytest

ROOT = Path(__file__).parent.parent
GENERATED = {"commands.md", "changelog.md"}
"""Pages made by a program, whose blocks show how a command is called."""
PAGES = [path for path in sorted(ROOT.glob("docs/**/*.md")) if path.name not in GENERATED]
PAGES.append(ROOT / "README.md")
GALLERY = sorted(ROOT.glob("docs/gallery/*.py"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


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


def run_shell(text, folder):
    """Run the commands; install commands are those of .ci/run, which runs them."""
    command = f'unitless() {{ {sys.executable} -m unitless "$@"; }}; set -eo pipefail; '
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, expected = part.partition("\n")
        if line.startswith("pip "):
            continue
        done = subprocess.run(
            ["bash", "-c", command + line], cwd=folder, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        for wanted in filter(None, map(str.strip, expected.splitlines())):
            assert wanted in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks_of(page)], ids=lambda page: page.stem
)
def test_every_block_runs(page, tmp_path, monkeypatch):
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), *sys.path]))
    names = {"__name__": "__main__"}
    for language, text in blocks_of(page):
        if language == "python":
            run_python(text, names, page.name)
        elif language == "console":
            run_shell(text, tmp_path)
        else:
            assert language == "bash"  # the two commands of .ci/run
            assert page.name == "README.md"


@pytest.mark.parametrize(
    "script", [s for s in GALLERY if s.stem != "drawing"], ids=lambda s: s.stem
)
def test_gallery(script, tmp_path):
    """Each script draws its picture, and what it claims is true."""
    pytest.importorskip("matplotlib")
    words = [sys.executable, "-W", "error::UserWarning", str(script), str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert "False" not in done.stdout
    assert (tmp_path / f"{script.stem}.svg").stat().st_size > 2000
    assert (script.parent / f"{script.stem}.svg").exists()
    assert f"{script.stem}.svg" in (script.parent / "index.md").read_text()


def test_the_gallery_has_eight_examples():
    assert len(GALLERY) > 8

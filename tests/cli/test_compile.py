"""`unitless compile` runs small files as the commands would, so that later runs compile nothing."""

import os
import subprocess
import sys

import pytest

from unitless.cli import compile as command

COUNT = """
import sys
from numba.core import event
from unitless.cli import main
class Listener(event.Listener):
    count = 0
    def on_start(self, event):
        Listener.count += 1
    def on_end(self, event):
        pass
with event.install_listener("numba:compile", Listener()):
    try:
        main()
    except SystemExit as end:
        assert not end.code
print("compiled", Listener.count)
"""


def test_every_part_is_told_with_its_time(unitless, monkeypatch):
    parts = ("two classes, hinge loss", "svmlight", "VW text")
    monkeypatch.setattr(command, "PARTS", {name: command.PARTS[name] for name in parts})
    before = os.getcwd()
    lines = unitless("compile").out.splitlines()
    assert [line[:32].strip() for line in lines] == [*parts, "all"]
    assert all(line.endswith(" s") for line in lines)
    assert os.getcwd() == before


@pytest.mark.slow
def test_afterwards_nothing_is_compiled(tmp_path, data):
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(*words):
        done = subprocess.run(
            [sys.executable, "-c", COUNT, *map(str, words)],
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        return int(done.stdout.split()[-1])

    assert run("compile") > 100
    for target in ("label", "score", "colour"):
        words = ("evaluate", data, "-t", target, "--quiet", "--save", tmp_path / "m")
        assert run(*words, "--report", tmp_path / "page.html") == 0
        assert run("predict", tmp_path / "m", data, "-o", tmp_path / "p.csv") == 0

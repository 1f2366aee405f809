"""A small part of what `benchmarks/reliability.py` does in full: kills and damaged files."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from faults.corruption import KINDS, ROOM, TIMES


def figures(name, *words):
    """What a program prints: lines of JSON."""
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name(f"{name}.py"), *map(str, words)],
        capture_output=True, text=True, timeout=1500,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


KILLS, SEED = 3, 0
RUNS = [
    ("full", "csv", KILLS, SEED, 0),
    ("coordinate", "svm", KILLS, SEED, 3),
    ("vaw", "parquet", KILLS, SEED, 2),
    ("coordinate", "folder", KILLS, SEED, 2),
]
"""Learner, ending of the file, kills, seed and passes."""


def test_killed_runs_are_resumed_to_the_bit():
    """In one process, because its start takes longer than a run."""
    for run, found in zip(RUNS, figures("killing", *sum(RUNS, ())), strict=True):
        assert found["kills"] >= KILLS, run
        assert found["wrong"] == 0, run


def test_damaged_files():
    (found,) = figures("corruption", 1170, 0)
    assert (found["failures"], found["first"]) == (0, [])
    assert found["grown"] <= ROOM + TIMES * found["largest"]
    tried = Counter()
    for name, count in found["outcomes"].items():
        tried[name.split()[0].replace("unchanged", "flipped")] += count
    assert tried == {**{kind.__name__: 180 for kind in KINDS}, "bomb_of_names": 45, "bomb": 45}
    for kind in ("flipped", "truncated", "lying", "bomb"):
        assert f"{kind} loaded" not in found["outcomes"]
    assert found["outcomes"].get("unchanged loaded", 0) < 20
    assert found["outcomes"]["forged_arrays loaded"] > 20  # compiled code ran on forged numbers

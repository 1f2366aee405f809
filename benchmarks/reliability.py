"""Faults and damage in full: `python benchmarks/reliability.py kills|disk|corruption|guard`.

`kills` ends 200 checkpointed runs with kill -9 and resumes them; `disk` fills a small file system
(root only: it mounts one); `corruption` tries 120 000 damaged model files; `guard` times what the
checks of every row cost. Each keeps its figures, with date and version, in
`results/reliability.json`, from which `page` writes docs/reliability.md. Tests run a small part of
each: tests/faults.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import unitless

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "reliability.json"
FAULTS = ROOT / "tests" / "faults"
RUNS = [
    ("coordinate", "csv", 80),
    ("full", "svm", 60),
    ("newton", "jsonl", 40),
    ("blend", "csv", 20),
]
"""Learner, format and kills: 200."""
FILES, PARTS = 120_000, 8
"""Damaged files, in so many processes one after the other."""


def program(name, *words):
    """The figures that a program of tests/faults prints."""
    found = subprocess.run(
        [sys.executable, FAULTS / f"{name}.py", *map(str, words)],
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(found.stdout.splitlines()[-1])


def kills():
    """Runs killed at a random moment and resumed."""
    parts = []
    for seed, (learner, ending, count) in enumerate(RUNS):
        parts.append(
            {"learner": learner, "format": ending}
            | program("killing", learner, ending, count, seed)
        )
        print(parts[-1], flush=True)
    whole = {
        key: sum(part[key] for part in parts) for key in ("kills", "no_checkpoint", "left", "wrong")
    }
    return whole | {"parts": parts}


def corruption():
    """Damaged files."""
    whole = {"files": 0, "failures": 0, "grown": 0, "largest": 0, "loaded": 0, "kinds": {}}
    each = FILES // PARTS
    for part in range(PARTS):  # turns go on where the last process ended
        found = program("corruption", each, part * each * 4 // 225)
        print(found, flush=True)
        whole["files"] += found["files"]
        whole["failures"] += found["failures"]
        for key in ("grown", "largest"):
            whole[key] = max(whole[key], found[key])
        for name, count in found["outcomes"].items():
            kind, outcome = name.split()
            whole["kinds"][kind] = whole["kinds"].get(kind, 0) + count
            whole["loaded"] += count * (outcome == "loaded")
    return whole


def disk():
    """A file system of 256 kB that fills up, again and again, while a model grows."""
    import numpy as np

    from unitless import models
    from unitless.learners import Coordinate
    from unitless.rows import as_rows

    counts = {"saves": 0, "refused": 0, "damaged": 0, "left": 0}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", folder], check=True)
        try:
            for columns in range(100, 20_000, 100):
                learner, path = Coordinate(), Path(folder, "model")
                learner.learn(as_rows(np.ones((1, columns)), [1.0]))
                before = path.read_bytes() if path.exists() else None
                counts["saves"] += 1
                try:
                    models.save(learner, path)
                except OSError as error:
                    counts["refused"] += str(path) in str(error)
                    counts["damaged"] += path.read_bytes() != before
                counts["left"] += len(os.listdir(folder)) - 1
        finally:
            subprocess.run(["umount", folder], check=True)
    return counts


def kept(name, figures):
    """Write the figures beside those of the other parts."""
    every = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    made = {"date": datetime.now(UTC).date().isoformat(), "package": unitless.__version__}
    every[name] = made | figures
    RESULTS.write_text(json.dumps(every, indent=1, sort_keys=True) + "\n")
    print(every[name])


if __name__ == "__main__":
    begin = time.monotonic()
    name = sys.argv[1]
    figures = {"kills": kills, "corruption": corruption, "disk": disk}[name]()
    kept(name, figures | {"seconds": round(time.monotonic() - begin)})

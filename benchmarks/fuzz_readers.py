"""Fuzz the readers: `python benchmarks/fuzz_readers.py [FORMAT ...]`; a million inputs for all.

Every input is made of its format and seed (tests/readers/fuzzing.py and comparing.py), so that a
failure, which is printed, is repeated by `tried(format, seed)` or `compared(format, seed)`. Inputs
run by the ten thousand in a process of their own; an input that crashes it, or a hundred that take
ten minutes, have failed, and another goes on behind them. The counts go, with date and version, to
`results/reliability.json` as each format ends; `reliability.py page` tells them.
"""

import faulthandler
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import reliability

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

INPUTS = {
    "csv": 70_000, "tsv": 50_000, "jsonl": 160_000, "svmlight": 420_000, "parquet": 20_000,
    "arrow": 20_000, "vw": 270_000,
    "csv cells": 20_000, "jsonl cells": 20_000, "svmlight cells": 20_000, "parquet cells": 20_000,
    "arrow cells": 20_000, "encodings cells": 20_000,
}  # fmt: skip
"""A million and more: formats with kernels of their own get the most.

"csv cells" are files whose cells are compared with those of another library's reader.
"""
PROCESS, ROUND, HANG = 10_000, 100, 600


def inputs(format, first, stop, note):
    """Try some seeds; keep the counts, and the seed at hand, in a file, in case of a crash."""
    from readers.comparing import compared
    from readers.fuzzing import tried

    name, _, cells = format.partition(" ")
    attempt = compared if cells else tried
    warnings.simplefilter("error")
    read = failed = 0
    for seed in range(first, stop):
        note.write_text(json.dumps({"seed": seed, "read": read, "failed": failed}))
        if seed % ROUND == 0:
            faulthandler.dump_traceback_later(HANG, exit=True)
        try:
            read += attempt(name, seed)
        except Exception as error:
            failed += 1
            told = f"{type(error).__name__}: {str(error)[:200]}"
            print(f"FAILED {format} {seed}: {told}", file=sys.stderr, flush=True)
    note.write_text(json.dumps({"seed": stop, "read": read, "failed": failed}))


def fuzzed(format, folder):
    """The counts of one format."""
    counts, seed = {"inputs": INPUTS[format], "read": 0, "failed": 0}, 0
    note = Path(folder, "note")
    while seed < INPUTS[format]:
        stop = min(seed + PROCESS, INPUTS[format])
        done = subprocess.run([sys.executable, __file__, format, str(seed), str(stop), note])
        found = json.loads(note.read_text())
        counts["read"] += found["read"]
        counts["failed"] += found["failed"]
        seed = found["seed"]
        if done.returncode:
            print(f"FAILED {format} {seed}: exit code {done.returncode}", file=sys.stderr)
            counts["failed"] += 1
            seed += 1
        print(format, seed, counts, flush=True)
    return counts


def main(formats):
    """Fuzz these formats, and keep the counts beside those of the others."""
    for format in formats:
        with tempfile.TemporaryDirectory() as folder:
            made = reliability.made() | fuzzed(format, folder)
        known = reliability.results().get("fuzz", {}).get("formats", {})
        reliability.kept("fuzz", {"formats": known | {format: made}})


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[2].isdigit():
        inputs(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
    else:
        main(sys.argv[1:] or [*INPUTS])

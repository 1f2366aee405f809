"""Fuzz the readers: `python benchmarks/fuzz_readers.py [FORMAT ...]`; a million inputs for all.

Every input is made of its format and seed (tests/readers/fuzzing.py), so that a failure, which is
printed, is repeated by `tried(format, seed)`. Inputs run by the ten thousand in a process of their
own: one that crashes, or takes a minute for a hundred inputs, has failed. The counts go, with date
and version, to `results/reliability.json` as each format ends; `reliability.py page` tells them.
"""

import faulthandler
import json
import subprocess
import sys
import warnings
from pathlib import Path

import reliability

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

INPUTS = {
    "csv": 70_000, "tsv": 50_000, "jsonl": 160_000, "svmlight": 420_000, "parquet": 20_000,
    "arrow": 20_000, "vw": 270_000,
}  # fmt: skip
"""A million and ten thousand: those with kernels of their own get the most."""
PROCESS, ROUND, HANG = 10_000, 100, 60


def inputs(format, first, stop):
    """Try the seeds of a process; print how many were read, and how many failed."""
    from readers.fuzzing import tried

    warnings.simplefilter("error")
    read = failed = 0
    for seed in range(first, stop):
        if seed % ROUND == 0:
            faulthandler.dump_traceback_later(HANG, exit=True)
        try:
            read += tried(format, seed)
        except Exception as error:
            failed += 1
            told = f"{type(error).__name__}: {str(error)[:200]}"
            print(f"FAILED {format} {seed}: {told}", file=sys.stderr, flush=True)
    faulthandler.cancel_dump_traceback_later()
    print(json.dumps({"read": read, "failed": failed}))


def fuzzed(format):
    """The counts of one format."""
    counts = {"inputs": INPUTS[format], "read": 0, "failed": 0}
    for first in range(0, INPUTS[format], PROCESS):
        stop = min(first + PROCESS, INPUTS[format])
        words = [sys.executable, __file__, format, str(first), str(stop)]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            print(f"FAILED {format} {first}-{stop}: exit code {done.returncode}", file=sys.stderr)
            counts["failed"] += 1
            continue
        found = json.loads(done.stdout.splitlines()[-1])
        for key, count in found.items():
            counts[key] += count
        print(format, stop, counts, flush=True)
    return counts


def main(formats):
    """Fuzz these formats, and keep the counts beside those of the others."""
    for format in formats:
        made = reliability.made() | fuzzed(format)
        known = reliability.results().get("fuzz", {}).get("formats", {})
        reliability.kept("fuzz", {"formats": known | {format: made}})


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[2].isdigit():
        inputs(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    else:
        main(sys.argv[1:] or [*INPUTS])

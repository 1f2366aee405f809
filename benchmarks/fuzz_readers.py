"""Fuzz the readers: `python benchmarks/fuzz_readers.py [inputs] [first seed]`; a million inputs.

The formats with kernels of their own (svmlight, VW text) get most of them, then JSON lines; CSV,
Parquet and Arrow cost polars ten times the time. Every input is made of its format and seed, so a
failure is repeated by giving its seed. A thousand inputs that take ten minutes are a hang: the
traceback is printed and the run ends.
"""

import faulthandler
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from readers.fuzzing import FORMATS, tried

TURNS = [*FORMATS, *["svmlight", "vw"] * 12, *["jsonl"] * 6]
HANG, ROUND = 600, 1000


def run(inputs: int, first: int) -> int:
    """Try that many inputs, all formats in turn; how many failed."""
    failed, begin = 0, time.monotonic()
    read = dict.fromkeys(FORMATS, 0)
    for k in range(inputs):
        format, seed = TURNS[k % len(TURNS)], first + k
        if k % ROUND == 0:
            faulthandler.dump_traceback_later(HANG, exit=True)
        try:
            read[format] += tried(format, seed)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            failed += 1
            print(f"FAILED {format} {seed}: {type(error).__name__}: {str(error)[:200]}", flush=True)
        if (k + 1) % 10_000 == 0 or k + 1 == inputs:
            took = time.monotonic() - begin
            print(f"{k + 1} inputs, {failed} failed, {took:.0f} s; read: {read}", flush=True)
    return failed


if __name__ == "__main__":
    warnings.simplefilter("error")
    counts = [int(argument) for argument in sys.argv[1:]] + [1_000_000, 0][len(sys.argv) - 1 :]
    sys.exit(run(*counts) > 0)

"""Fair timing on a noisy machine: one thread each, rivals interleaved, the minimum of several."""

import os
import time
from collections.abc import Callable

for _name in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
    os.environ[f"{_name}_NUM_THREADS"] = "1"  # read when NumPy is imported: import this first


def fastest(jobs: dict[str, Callable[[], object]], repeats: int = 7) -> dict[str, float]:
    """Seconds of each job: the fastest of several rounds, after one round to warm up."""
    best = dict.fromkeys(jobs, float("inf"))
    for turn in range(repeats + 1):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            if turn:
                best[name] = min(best[name], time.perf_counter() - start)
    return best


def report(work: str, measured: float, limit: float, *, at_most: bool, unit: str = "x") -> None:
    """One line: the ratio, what it must reach, and whether it does."""
    held = measured <= limit if at_most else measured >= limit
    bound = f"{'at most' if at_most else 'at least'} {limit:g}{unit}"
    print(f"{work:<62} {measured:8.2f}{unit:<2} {bound:<16} {'ok' if held else 'MISSED'}")

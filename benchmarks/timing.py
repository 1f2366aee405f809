"""Time several jobs on a noisy machine: one thread, alternating jobs, minimum of several runs."""

import os
import time
from collections.abc import Callable

for _name in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
    os.environ[f"{_name}_NUM_THREADS"] = "1"  # NumPy reads it at import, so import this first


def fastest(jobs: dict[str, Callable[[], object]], repeats: int = 7) -> dict[str, float]:
    """Return the seconds of each job: the fastest of several rounds after a warm-up round."""
    best = dict.fromkeys(jobs, float("inf"))
    for round_number in range(repeats + 1):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            if round_number > 0:
                best[name] = min(best[name], time.perf_counter() - start)
    return best


def report(work: str, measured: float, limit: float, *, at_most: bool, unit: str = "x") -> None:
    """Print one line: the measured ratio, its limit, and whether it is kept."""
    held = measured <= limit if at_most else measured >= limit
    bound = f"{'at most' if at_most else 'at least'} {limit:g}{unit}"
    print(f"{work:<62} {measured:8.2f}{unit:<2} {bound:<16} {'ok' if held else 'MISSED'}")

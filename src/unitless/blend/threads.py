"""Run the experts of a Blend in parallel; they are independent, so threads change no score.

There are as many threads as NUMBA_NUM_THREADS allows (all cores unless it says less), and no more
than help: the longest expert is about a quarter of the work. Threads are made for one tile of rows
and end with it (a tenth of a millisecond, a hundredth of its work), so that a process can fork
between calls.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

from numba import config

MIN_ROWS = 256
"""Rows that are worth a thread."""
MAX_THREADS = 4


def parallel(calls: list[tuple[Any, ...]], rows: int) -> list[Any]:
    """The results of calls (function, argument, ...) in order, on threads if there are many rows.

    >>> parallel([(max, 1, 2), (min, 1, 2)], 1)
    [2, 1]
    """
    threads = min(MAX_THREADS, cast(Any, config).NUMBA_NUM_THREADS)
    if rows < MIN_ROWS or threads < 2:
        return [function(*arguments) for function, *arguments in calls]
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(*call) for call in calls]
        return [future.result() for future in futures]

"""Members side by side: they do not know of each other, so threads change no bit of any score.

As many threads as NUMBA_NUM_THREADS allows (all cores unless it says less), and no more than help:
the longest member is about a quarter of the work. Threads are made for a tile of rows and end with
it (a tenth of a millisecond, a hundredth of its work), so that a process can fork between calls.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

from numba import config

Item = TypeVar("Item")
Result = TypeVar("Result")

MANY = 256
"""Rows that are worth a thread."""
MOST = 4


def parallel_map(job: Callable[[Item], Result], items: Iterable[Item], rows: int) -> list[Result]:
    """[job(item) for item in items], on threads if the rows are many."""
    threads = min(MOST, cast(Any, config).NUMBA_NUM_THREADS)
    if rows < MANY or threads < 2:
        return list(map(job, items))
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(job, items))

"""Prefetch: a thread computes the next item of an iterator while the caller uses the last one."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from concurrent.futures import Future, wait
from typing import Any, TypeVar

Item = TypeVar("Item")

PATIENCE = 1.0
"""Seconds to wait for the thread when the caller stops early; it may be waiting for a pipe."""

END = object()


def prefetch(items: Generator[Item, None, None]) -> Iterator[Item]:
    """The same items; the next one is being computed while the caller works.

    >>> list(prefetch(letter for letter in "abc"))
    ['a', 'b', 'c']
    """
    coming = _started(items)
    try:
        while (item := coming.result()) is not END:
            coming = _started(items)
            yield item
    finally:
        wait([coming], PATIENCE)
        if coming.done():
            items.close()


def _started(items: Iterator[Item]) -> Future[Any]:
    """The next item, which a thread computes, or `END`."""
    future: Future[object] = Future()

    def work() -> None:
        try:
            future.set_result(next(items, END))
        except BaseException as error:
            future.set_exception(error)

    # A daemon: a read that waits for a pipe must not keep the program from exiting.
    threading.Thread(target=work, daemon=True).start()
    return future

"""Prefetch: a thread computes the next item of an iterator while the caller uses the last one."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterator
from typing import Any, TypeVar

Item = TypeVar("Item")

PATIENCE = 1.0
"""Seconds to wait for the thread when the caller stops early; it may be waiting for a pipe."""


def prefetch(items: Generator[Item, None, None]) -> Iterator[Item]:
    """The same items; one is ready and one is being computed while the caller works.

    >>> list(prefetch(letter for letter in "abc"))
    ['a', 'b', 'c']
    """
    ready: queue.Queue[tuple[bool, Any]] = queue.Queue(maxsize=1)
    stopped = threading.Event()

    def put(more: bool, item: Any) -> None:
        while not stopped.is_set():
            try:
                ready.put((more, item), timeout=0.1)
                return
            except queue.Full:
                pass

    def work() -> None:
        try:
            for item in items:
                put(True, item)
                if stopped.is_set():
                    break
            put(False, None)
        except BaseException as error:
            put(False, error)
        finally:
            items.close()

    # A daemon: a read that waits for a pipe must not keep the program from exiting.
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while (found := ready.get())[0]:
            yield found[1]
        if found[1] is not None:
            raise found[1]
    finally:
        stopped.set()
        thread.join(PATIENCE)

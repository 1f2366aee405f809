"""Ctrl-C without harm: a run stops between two pieces of work, never inside one.

While rows are learned a signal is only noted; while the program waits for input it interrupts.
Asked a second time, the program stops at once: files already saved are whole, as always.
"""

import signal
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any, Self, TypeVar

Item = TypeVar("Item")
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(Exception):
    """The user, or the system, asked the program to stop."""

    def __init__(self, number: int) -> None:
        super().__init__("interrupted")
        self.code = 128 + number


class Stopper:
    """Takes the signals while it is open."""

    def __init__(self) -> None:
        self.asked: int | None = None
        self.waits = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        try:
            self._before = {s: signal.signal(s, self._handle) for s in SIGNALS}
        except ValueError:  # not the main thread: signals are another's business
            self._before = {}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, _: FrameType | None) -> None:
        again, self.asked = self.asked is not None, number
        if self.waits or again:
            raise Stopped(number)

    def waiting_for(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items; a signal interrupts the wait for the next one."""
        source = iter(items)
        while True:
            self.check()
            self.waits = True
            try:
                item = next(source)
            except StopIteration:
                return
            finally:
                self.waits = False
            yield item

    def check(self) -> None:
        """Stop here if that was asked for."""
        if self.asked is not None:
            raise Stopped(self.asked)

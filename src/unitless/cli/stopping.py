"""Ctrl-C and SIGTERM: a run stops between two pieces of work, never inside one.

While rows are learned, a signal is only noted; while the program waits for input, it interrupts.
The second signal stops the program at once; files that were saved are complete in any case.
"""

import signal
from collections.abc import Iterable, Iterator
from typing import Any, Self, TypeVar

Item = TypeVar("Item")


class Stopped(Exception):
    """The user, or the system, asked the program to stop."""

    def __init__(self, number: int) -> None:
        super().__init__("interrupted")
        self.code = 128 + number

    def add(self, text: str) -> None:
        """Say more in the message: what was saved, and how to continue."""
        self.args = (f"{self}; {text}",)


class Stopper:
    """Handles the signals while it is open."""

    def __init__(self) -> None:
        self.asked: int | None = None
        self.waits = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, _: object) -> None:
        is_second = self.asked is not None
        self.asked = number
        if self.waits or is_second:
            raise Stopped(number)

    def waiting_for(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items; a signal interrupts the wait for the next one."""
        self.check()
        self.waits = True
        try:
            for item in items:
                self.waits = False
                yield item
                self.check()
                self.waits = True
        finally:
            self.waits = False

    def check(self) -> None:
        """Raise `Stopped` if a signal arrived."""
        if self.asked is not None:
            raise Stopped(self.asked)

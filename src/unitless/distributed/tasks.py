"""Plain tasks: submitted with retries, waited for, their failures told as one sentence.

When one fails, the others are not cancelled one by one: a cancel that meets a task on its way ends
the driver (a check of Ray's fails, "tried to complete task that was not pending"). They end with
the Ray that was started for them, or with the driver's stay in a cluster.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

PATIENCE = 0.5
"""Seconds after which whoever watches is told again, and may end it all by an error."""


class WorkerLost(OSError):
    """A worker died, and so did those that tried again.

    >>> print(WorkerLost("part 3 of 8: the worker died 4 times"))
    part 3 of 8: the worker died 4 times
    """


class Progress(NamedTuple):
    """How far it is.

    >>> Progress("learning", 3, 16, 12_000).rows
    12000
    """

    stage: str
    done: int
    of: int
    rows: int
    """Rows worked on so far, in this stage."""
    each: str = "parts"
    """What is counted: parts of the source, or batches of keys."""


Watcher = Callable[[Progress], None]
STARTING = Progress("starting", 0, 1, 0)


@dataclass
class Crew:
    """Ray, how often a task is tried again, and who watches."""

    ray: Any
    retries: int
    watcher: Watcher | None = None
    last: Progress = STARTING

    def task(self, function: Callable[..., Any], returns: int = 1) -> Any:
        """The function as a task; `.remote(...)` submits it."""
        if self.retries < 0:
            raise ValueError(f"retries = {self.retries}: at least 0")
        options = {"max_retries": self.retries, "num_returns": returns, "name": function.__name__}
        return self.ray.remote(function).options(**options)

    def tell(self, stage: str, done: int, of: int, rows: int, each: str = "parts") -> None:
        """Tell the watcher, if there is one; that a stage begins, by done = 0."""
        self.last = Progress(stage, done, of, rows, each)
        self._tell_again()

    def _tell_again(self) -> None:
        if self.watcher is not None:
            self.watcher(self.last)

    def finished(self, refs: Mapping[Any, str]) -> Iterator[tuple[Any, Any]]:
        """(ref, result) as tasks end; refs are given with what each is, for errors."""
        waiting = list(refs)
        while waiting:
            done, waiting = self.ray.wait(waiting, num_returns=1, timeout=PATIENCE)
            if not done:
                self._tell_again()
            for ref in done:
                yield ref, self._taken(ref, refs[ref])

    def result(self, ref: Any, what: str) -> Any:
        """What a task returned; `what` it is, for errors."""
        return next(self.finished({ref: what}))[1]

    def _taken(self, ref: Any, what: str) -> Any:
        """The result of a task that has ended. Its own errors are raised as they are."""
        errors = self.ray.exceptions
        try:
            return self.ray.get(ref)
        except errors.RayTaskError as error:
            if isinstance(error.cause, ValueError | OSError):
                raise error.cause from None
            raise
        except errors.RayError as error:
            raise WorkerLost(
                f"{what}: the worker died {self.retries + 1} times, so nothing was made; was it "
                f"killed, or is there too little memory? ({type(error).__name__})"
            ) from None

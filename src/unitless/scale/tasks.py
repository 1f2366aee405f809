"""Plain tasks: submitted with retries, waited for, their failures told as one sentence."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple


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
    """Parts of the source; of the keyed ones, when they are learned, batches of keys."""
    rows: int
    """Rows worked on so far, in this stage."""


Watcher = Callable[[Progress], None]


def told(watcher: Watcher | None, *progress: Any) -> None:
    """Tell the watcher, if there is one."""
    if watcher is not None:
        watcher(Progress(*progress))


def task(ray: Any, function: Callable[..., Any], retries: int, returns: int = 1) -> Any:
    """The function as a task; `.remote(...)` submits it. A dead worker's task is tried again."""
    if retries < 0:
        raise ValueError(f"retries = {retries}: at least 0")
    options = {"max_retries": retries, "num_returns": returns, "name": function.__name__}
    return ray.remote(function).options(**options)


def result(ray: Any, ref: Any, what: str, retries: int) -> Any:
    """What a task returned. Its own errors are raised as they are, they name part and row."""
    try:
        return ray.get(ref)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, ValueError | OSError):
            raise error.cause from None
        raise
    except ray.exceptions.RayError as error:
        raise WorkerLost(
            f"{what}: the worker died {retries + 1} times, so nothing was made; was it killed, or "
            f"is there too little memory? ({type(error).__name__})"
        ) from None


def finished(ray: Any, refs: Mapping[Any, str], retries: int) -> Iterator[tuple[Any, Any]]:
    """(ref, result) as tasks end; refs are given with what each is, for errors."""
    waiting = list(refs)
    while waiting:
        done, waiting = ray.wait(waiting, num_returns=1)
        for ref in done:
            yield ref, result(ray, ref, refs[ref], retries)


@contextmanager
def cancelling(ray: Any, refs: Iterable[Any]) -> Iterator[None]:
    """If it fails, tasks still under way are not let run on."""
    try:
        yield
    except BaseException:
        for ref in list(refs):
            ray.cancel(ref, force=True)
        raise

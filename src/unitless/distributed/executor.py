"""Executors run tasks in processes of this machine (joblib) or on a Ray cluster.

A task is a call of a function whose result depends on its arguments only, so a task whose worker
died can simply run again. It returns a small report, which comes back to the caller, and possibly
large outputs, which stay in the executor's store until a later task takes them as arguments.
"""

import os
import pickle
import tempfile
import warnings
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from typing import Any, NamedTuple, Self


class WorkerLost(OSError):
    """A worker process died, and so did those that repeated its task.

    >>> print(WorkerLost("part 3 of 8: the worker died 4 times"))
    part 3 of 8: the worker died 4 times
    """


class TaskProgress(NamedTuple):
    """How far a fit is; passed to the callback `progress`.

    >>> TaskProgress("learning", 3, 16, 12_000).rows
    12000
    """

    stage: str
    """"reading" or "learning"."""
    done: int
    total: int
    rows: int
    """Rows processed so far in this stage."""
    unit: str = "parts"
    """What `done` and `total` count: parts of the source, or batches of keys."""


ProgressCallback = Callable[[TaskProgress], None]


class Call(NamedTuple):
    """The arguments of a task."""

    name: str
    """What the task works on, for error messages."""
    arguments: tuple[Any, ...]


class Executor(ABC):
    """Runs tasks; used as a context manager.

    Parameters
    ----------
    retries
        How often a task is repeated after its worker died.
    """

    def __init__(self, retries: int) -> None:
        if retries < 0:
            raise ValueError(f"retries = {retries}: must be at least 0")
        self.retries = retries

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(self, *error: object) -> None:
        """Free all resources, also when an error occurred."""

    @abstractmethod
    def share(self, value: Any) -> Any:
        """Return a reference to a value that is an argument of many calls."""

    @abstractmethod
    def run(
        self, function: Callable[..., Any], calls: Iterable[Call], outputs: int = 0
    ) -> Iterator[tuple[Any, list[Any]]]:
        """Run a task for each call, several at a time.

        Parameters
        ----------
        function
            Returns a report; with `outputs`, a tuple of the report and as many outputs.
        calls
            The arguments of each task. Outputs of earlier tasks among them are loaded first.

        Yields
        ------
        tuple
            The report of a task and references to its outputs, in the order of the calls.
        """

    def _lost(self, name: str, why: object = "") -> WorkerLost:
        reason = f" ({why})" if why else ""
        return WorkerLost(
            f"{name}: the worker died {self.retries + 1} times, so no model was made; was it "
            f"killed, or is there too little memory?{reason}"
        )


class StoredOutput(NamedTuple):
    """Where an output of a task lies in a file of the local store."""

    path: str
    offset: int


class LocalExecutor(Executor):
    """Runs tasks in processes of this machine; outputs go to temporary files.

    Parameters
    ----------
    workers
        Number of processes; by default one per core. With 1, tasks run in this process.
    """

    def __init__(self, workers: int | None = None, retries: int = 3) -> None:
        from joblib import cpu_count

        super().__init__(retries)
        self.workers = cpu_count() if workers is None else workers
        self._store: tempfile.TemporaryDirectory[str] | None = None
        self._files = 0
        self._results: Any = (_ for _ in ())

    def __exit__(self, *error: object) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib warns of tasks that it cancels
            self._results.close()
        if self._store is not None:
            self._store.cleanup()

    def share(self, value: Any) -> Any:
        """Return the value itself: joblib sends it with each call."""
        return value

    def run(
        self, function: Callable[..., Any], calls: Iterable[Call], outputs: int = 0
    ) -> Iterator[tuple[Any, list[Any]]]:
        """Run tasks; when a worker dies, repeat those whose results are missing."""
        pending = deque(calls)
        failures = 0
        while pending:
            try:
                for result in self._attempt(function, pending, outputs > 0):
                    pending.popleft()
                    failures = 0
                    yield result
            except BrokenProcessPool as error:
                failures += 1
                if failures > self.retries:
                    raise self._lost(pending[0].name, type(error).__name__) from None

    def _attempt(
        self, function: Callable[..., Any], calls: Iterable[Call], keep: bool
    ) -> Iterator[tuple[Any, list[Any]]]:
        from joblib import Parallel, delayed

        tasks = [
            delayed(_run_task)(function, call.arguments, self._new_file() if keep else None)
            for call in calls
        ]
        parallel = Parallel(
            n_jobs=self.workers,
            backend="loky",
            return_as="generator",
            batch_size=1,
            max_nbytes=None,
            inner_max_num_threads=1,
        )
        self._results = parallel(tasks)
        yield from self._results

    def _new_file(self) -> str:
        if self._store is None:
            self._store = tempfile.TemporaryDirectory(prefix="unitless-")
        self._files += 1
        return os.path.join(self._store.name, str(self._files))


def _run_task(
    function: Callable[..., Any], arguments: tuple[Any, ...], path: str | None
) -> tuple[Any, list[StoredOutput]]:
    """Run one task in a worker; with a path, its outputs are written there."""
    result = function(*map(_load, arguments))
    if path is None:
        return result, []
    report, *outputs = result
    stored = []
    with open(path, "wb") as file:
        for output in outputs:
            stored.append(StoredOutput(path, file.tell()))
            pickle.dump(output, file, protocol=pickle.HIGHEST_PROTOCOL)
    return report, stored


def _load(argument: Any) -> Any:
    if not isinstance(argument, StoredOutput):
        return argument
    with open(argument.path, "rb") as file:
        file.seek(argument.offset)
        return pickle.load(file)  # written by a worker of this run


def open_executor(address: str | None, workers: int | None, retries: int) -> Executor:
    """Return an executor: a Ray cluster if there is an address, otherwise this machine."""
    if address is None:
        return LocalExecutor(workers, retries)
    from unitless.distributed.ray_executor import RayExecutor

    return RayExecutor(address, retries)

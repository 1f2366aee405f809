"""Run tasks in processes of this machine (joblib) or on a Ray cluster.

A task is a call of a function whose result depends on its arguments only, so a task whose worker
died can simply run again.
"""

import logging
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from typing import Any, NamedTuple

WAIT_SECONDS = 0.5
"""How long to wait for a task of Ray before Python handles signals again."""
WORKER_VARIABLES = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Environment of a worker of Ray, which starts one worker per core."""


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
    """What `done` and `total` count: parts of the source, or partitions of keys."""


Progress = Callable[[TaskProgress], None]
Calls = Mapping[str, tuple[object, ...]]
"""The arguments of each task, by what it works on, for error messages."""
Executor = Callable[[Callable[..., object], Calls], Iterator[Any]]
"""Calls a function for each task, and yields the results in this order."""


def no_progress(progress: TaskProgress) -> None:
    """Do nothing: the default of `progress`."""


@contextmanager
def open_executor(address: str | None, workers: int | None, retries: int) -> Iterator[Executor]:
    """An executor: on a Ray cluster if there is an address, otherwise on this machine."""
    if retries < 0:
        raise ValueError(f"retries = {retries}: must be at least 0")
    with ExitStack() as stack:
        run = partial(_run_here, workers, retries)
        if address is not None:
            run = partial(_run_on_ray, _connected(address, stack), retries)
        yield lambda function, calls: stack.enter_context(closing(run(function, calls)))


def _run_here(
    workers: int | None, retries: int, function: Callable[..., object], calls: Calls
) -> Generator[object, None, None]:
    """Run tasks in processes; when one dies, tasks whose results are missing are repeated."""
    from joblib import Parallel, cpu_count, delayed

    pending = deque(calls)
    found: dict[str, object] = {}
    failures = 0
    while pending:
        # One object per attempt: a late task of the last attempt would disturb this one.
        parallel = Parallel(
            n_jobs=cpu_count() if workers is None else workers,
            backend="loky",
            return_as="generator",
            batch_size=1,
            max_nbytes=None,
            inner_max_num_threads=1,
        )
        results = parallel([delayed(_named)(name, function, calls[name]) for name in pending])
        try:
            for name, result in results:
                found[name] = result
                failures = 0
                while pending and pending[0] in found:
                    yield found.pop(pending.popleft())
        except BrokenProcessPool as error:
            failures += 1
            if failures > retries:
                raise _lost(pending[0], retries, error) from None
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # joblib warns of tasks that it cancels
                results.close()


def _named(
    name: str, function: Callable[..., object], arguments: tuple[object, ...]
) -> tuple[str, object]:
    """The result of a task with its name, so that it cannot be taken for another's."""
    return name, function(*arguments)


def _connected(address: str, stack: ExitStack) -> object:
    """Ray, connected to the cluster until the stack is closed.

    The address is `host:port`, `ray://host:10001`, or "auto" on a node of the cluster. If this
    process is already connected, that connection is used and left open.
    """
    try:
        import ray
    except ImportError:
        raise ModuleNotFoundError(
            "a cluster needs Ray, which is not installed: pip install 'unitless[ray]'"
        ) from None
    if not ray.is_initialized():
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level=logging.ERROR,
            runtime_env={"env_vars": WORKER_VARIABLES},
        )
        # Unfinished tasks end with the connection. Cancelling them one by one can end this
        # process: a check inside Ray fails if a task is just being submitted.
        stack.callback(ray.shutdown)
    return ray


def _run_on_ray(
    ray: Any, retries: int, function: Callable[..., object], calls: Calls
) -> Generator[object, None, None]:
    """Run tasks, with at most twice as many under way as the cluster has cores."""
    task = ray.remote(function).options(max_retries=retries, name=function.__name__)
    cores = int(ray.cluster_resources().get("CPU", 1))
    limit = 2 * max(1, cores)
    waiting = deque(calls.items())
    running: deque[tuple[str, object]] = deque()
    while waiting or running:
        while waiting and len(running) < limit:
            name, arguments = waiting.popleft()
            running.append((name, task.remote(*arguments)))
        name, reference = running.popleft()
        while not ray.wait([reference], timeout=WAIT_SECONDS)[0]:
            pass
        try:
            result = ray.get(reference)
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, ValueError | OSError):
                raise error.cause from None
            raise
        except ray.exceptions.RayError as error:
            raise _lost(name, retries, error) from None
        yield result


def _lost(name: str, retries: int, why: Exception) -> WorkerLost:
    return WorkerLost(
        f"{name}: the worker died {retries + 1} times, so no model was made; was it killed, or is "
        f"there too little memory? ({type(why).__name__})"
    )

"""An executor that runs tasks on a Ray cluster."""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from unitless.distributed.executor import Call, Executor

WAIT_SECONDS = 0.5
"""How long to wait for a task before Python handles signals again."""
WORKER_VARIABLES = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
"""Environment of a worker. Ray starts one worker per core."""


class RayExecutor(Executor):
    """Runs tasks on a Ray cluster; outputs stay in Ray's object store.

    Parameters
    ----------
    address
        The cluster: `host:port`, `ray://host:10001`, or "auto" on one of its nodes. If this process
        is already connected to Ray, that connection is used and left open.
    """

    def __init__(self, address: str, retries: int = 3) -> None:
        super().__init__(retries)
        try:
            import ray
        except ImportError:
            raise ModuleNotFoundError(
                "a cluster needs Ray, which is not installed: pip install 'unitless[ray]'"
            ) from None
        self._ray = ray
        self._joined = not ray.is_initialized()
        if self._joined:
            ray.init(
                address=address,
                log_to_driver=False,
                logging_level=logging.ERROR,
                runtime_env={"env_vars": WORKER_VARIABLES},
            )

    def __exit__(self, *error: object) -> None:
        # Unfinished tasks end with the connection. Cancelling them one by one can end this
        # process: a check inside Ray fails if a task is just being submitted.
        if self._joined:
            self._ray.shutdown()

    def share(self, value: Any) -> Any:
        """Put a value into the object store, once for all calls."""
        return self._ray.put(value)

    def run(
        self, function: Callable[..., Any], calls: Iterable[Call], outputs: int = 0
    ) -> Iterator[tuple[Any, list[Any]]]:
        """Run tasks, with at most twice as many under way as the cluster has cores."""
        task = self._ray.remote(function).options(
            max_retries=self.retries, num_returns=1 + outputs, name=function.__name__
        )
        limit = 2 * max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        running: deque[tuple[str, list[Any]]] = deque()
        for call in calls:
            references = task.remote(*call.arguments)
            running.append((call.name, references if outputs else [references]))
            if len(running) == limit:
                yield self._finished(*running.popleft())
        while running:
            yield self._finished(*running.popleft())

    def _finished(self, name: str, references: list[Any]) -> tuple[Any, list[Any]]:
        """Wait for a task. Errors of the task itself are raised unchanged."""
        report, *outputs = references
        errors = self._ray.exceptions
        while not self._ray.wait([report], timeout=WAIT_SECONDS)[0]:
            pass
        try:
            return self._ray.get(report), outputs
        except errors.RayTaskError as error:
            if isinstance(error.cause, ValueError | OSError):
                raise error.cause from None
            raise
        except errors.RayError as error:
            raise self._lost(name, type(error).__name__) from None

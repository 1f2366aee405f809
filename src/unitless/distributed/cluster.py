"""Ray, started and stopped here on this machine alone, or joined where it runs already.

The embedded Ray listens on 127.0.0.1 only. Ray would otherwise turn that into the machine's
address; a switch that it has for other systems prevents it, and whether it did is looked at before
anything is started.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LOOPBACK = ("127.0.0.1", "::1")
SWITCH = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
VARIABLES = {
    SWITCH: "0", "RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_IGNORE_UNHANDLED_ERRORS": "1", "RAY_task_oom_retries": "3", "RAY_worker_niceness": "0",
}  # fmt: skip
"""While Ray runs: nothing beyond this machine, no reports of use, errors told once, tasks that need
too much memory not tried for ever, and workers that do not wait for whatever else runs here."""
THREADS = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
"""Of a worker: there is one for every core."""


def imported() -> Any:
    """Ray, or what to install."""
    try:
        import ray
    except ImportError:
        raise ModuleNotFoundError(
            "this needs Ray, which is not installed: pip install 'unitless[ray]'"
        ) from None
    return ray


@contextmanager
def running(address: str | None = None, workers: int | None = None) -> Iterator[Any]:
    """Ray, for as long as the block lasts.

    Parameters
    ----------
    address
        A cluster to join (`host:port`, `ray://host:10001` or "auto"); None: one is started on this
        machine and stopped at the end. Where Ray runs already in this process, it is used.
    workers
        How many tasks the embedded one runs at a time; by default as many as there are cores.
    """
    with _variables(VARIABLES if address is None else {}):
        ray = imported()
        if ray.is_initialized():
            yield ray
            return
        _join(ray, address) if address is not None else _start(ray, workers)
        try:
            yield ray
        finally:
            ray.shutdown()


COMMON: dict[str, Any] = {
    "log_to_driver": False, "logging_level": logging.ERROR, "runtime_env": {"env_vars": THREADS},
}  # fmt: skip


def _join(ray: Any, address: str) -> None:
    ray.init(address=address, **COMMON)


def _start(ray: Any, workers: int | None) -> None:
    from ray._private import ray_constants

    before = getattr(ray_constants, "ENABLE_RAY_CLUSTER", None)
    ray_constants.ENABLE_RAY_CLUSTER = False  # the variable does the same before Ray is imported
    try:
        here = ray.util.get_node_ip_address()
        if here not in LOOPBACK:
            raise RuntimeError(
                f"this version of Ray would listen on {here}, beyond this machine: set {SWITCH}=0 "
                "before Python starts, or start Ray yourself and give its address"
            )
        ray.init(
            address="local", num_cpus=workers, include_dashboard=False, _node_ip_address=here,
            **COMMON,
        )  # fmt: skip
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before


@contextmanager
def _variables(wanted: dict[str, str]) -> Iterator[None]:
    """Set in the environment, and then as they were."""
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value

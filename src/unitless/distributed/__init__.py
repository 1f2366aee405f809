"""Past one machine: keyed and sharded training on Ray (docs/scale.md; pip install 'unitless[ray]').

What may be put together, and what must not: one model a key is exact, least squares is a sum over
rows, and members of a Blend do not look at each other. Nothing else is offered.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unitless.distributed.cluster import running as running
    from unitless.distributed.keyed import fit_by_key as fit_by_key
    from unitless.distributed.parts import Source as Source
    from unitless.distributed.sharded import fit_sharded as fit_sharded
    from unitless.distributed.tasks import WorkerLost as WorkerLost

_WHERE = {
    "Source": "parts", "WorkerLost": "tasks", "fit_by_key": "keyed", "fit_sharded": "sharded",
    "running": "cluster",
}  # fmt: skip
__all__ = ["Source", "WorkerLost", "fit_by_key", "fit_sharded", "running"]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)

"""Learners by name; each is imported when it is asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unitless.learners.coordinate import Coordinate as Coordinate
    from unitless.learners.full import Full as Full
    from unitless.learners.protocol import Learner
    from unitless.learners.zero import Zero as Zero

REGISTRY = {
    "coordinate": "Coordinate",
    "full": "Full",
    "zero": "Zero",
}
"""Name -> class; the class of name `n` lives in `unitless.learners.n`."""

__all__ = ["REGISTRY", *REGISTRY.values(), "get"]


def __getattr__(class_name: str) -> Any:
    for name, registered in REGISTRY.items():
        if registered == class_name:
            return get(name)
    raise AttributeError(f"module {__name__!r} has no attribute {class_name!r}")


def get(name: str) -> "type[Learner]":
    """The learner registered under a lower-case name.

    >>> get("coordinate").__name__
    'Coordinate'
    """
    if name not in REGISTRY:
        raise ValueError(f"unknown learner {name!r}; choose one of {', '.join(sorted(REGISTRY))}")
    learner: type[Learner] = getattr(import_module(f"{__name__}.{name}"), REGISTRY[name])
    return learner

"""Learners by name; each is imported when it is asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unitless.learners.coordinate import Coordinate as Coordinate
    from unitless.learners.full import Full as Full
    from unitless.learners.protocol import Learner
    from unitless.learners.zero import Zero as Zero

REGISTRY = {
    "coordinate": "coordinate.Coordinate",
    "full": "full.Full",
    "zero": "zero.Zero",
    # members of the blend
    "scinol2": "scinol2.Scinol2",
    "nag": "nag.Nag",
    "inag": "inag.Inag",
    "diagonal": "diagonal.Diagonal",
    "bayes": "bayes.Bayes",
    "tracker": "tracker.Tracker",
    # baselines: the comparators of the paper
}
"""Name -> where its class is found below `unitless.learners`."""

_CLASSES = {path.rpartition(".")[2]: name for name, path in REGISTRY.items()}
__all__ = ["REGISTRY", *_CLASSES, "get"]


def __getattr__(class_name: str) -> Any:
    if class_name in _CLASSES:
        return get(_CLASSES[class_name])
    raise AttributeError(f"module {__name__!r} has no attribute {class_name!r}")


def get(name: str) -> "type[Learner]":
    """The learner registered under a lower-case name.

    >>> get("coordinate").__name__
    'Coordinate'
    """
    if name not in REGISTRY:
        raise ValueError(f"unknown learner {name!r}; choose one of {', '.join(sorted(REGISTRY))}")
    module, _, class_name = REGISTRY[name].rpartition(".")
    learner: type[Learner] = getattr(import_module(f"{__name__}.{module}"), class_name)
    return learner

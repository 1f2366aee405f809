"""Online learning that does not care about your units."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unitless import learners as learners
    from unitless import losses as losses
    from unitless import persistence as persistence
    from unitless import regret as regret
    from unitless.estimators.classifier import OnlineClassifier as OnlineClassifier
    from unitless.estimators.regressor import OnlineRegressor as OnlineRegressor

__version__ = "0.1.0"
__all__ = [
    "OnlineClassifier",
    "OnlineRegressor",
    "distributed",
    "learners",
    "losses",
    "persistence",
    "regret",
]

_WHERE = {
    "OnlineClassifier": "unitless.estimators.classifier",
    "OnlineRegressor": "unitless.estimators.regressor",
}


def __getattr__(name: str) -> Any:
    """Load what is asked for when it is asked for: importing the package costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'unitless' has no attribute {name!r}")
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    return import_module(f"unitless.{name}")


def __dir__() -> list[str]:
    return sorted(__all__)

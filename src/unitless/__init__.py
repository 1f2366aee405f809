"""Online learning that does not care about your units."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unitless import learners as learners
    from unitless import losses as losses
    from unitless import persistence as persistence
    from unitless import regret as regret
    from unitless.decisions import OnlineBandit as OnlineBandit
    from unitless.estimators.classifier import OnlineClassifier as OnlineClassifier
    from unitless.estimators.regressor import OnlineRegressor as OnlineRegressor
    from unitless.model import Model as Model
    from unitless.model import load as load
    from unitless.model import save as save

if os.path.isdir(os.path.join(os.path.dirname(__file__), "avx2")):  # in wheels for x86-64
    from unitless.processor import choose

    choose()

__version__ = "0.2.0.dev0"
__all__ = [
    "Model",
    "OnlineBandit",
    "OnlineClassifier",
    "OnlineRegressor",
    "distributed",
    "learners",
    "load",
    "losses",
    "persistence",
    "regret",
    "save",
]

_WHERE = {
    "OnlineBandit": "unitless.decisions",
    "OnlineClassifier": "unitless.estimators.classifier",
    "OnlineRegressor": "unitless.estimators.regressor",
    "Model": "unitless.model",
    "load": "unitless.model",
    "save": "unitless.model",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is used first: importing the package itself costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'unitless' has no attribute {name!r}")
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    return import_module(f"unitless.{name}")


def __dir__() -> list[str]:
    return sorted(__all__)

"""The registry of learners by name; each is imported when it is first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unitless.learners.base import Learner
    from unitless.learners.coordinate import Coordinate as Coordinate
    from unitless.learners.full import Full as Full
    from unitless.learners.zero import Zero as Zero

REGISTRY = {
    "coordinate": "unitless.learners.coordinate.Coordinate",
    "coordinate2": "unitless.learners.coordinate2.Coordinate2",
    "full": "unitless.learners.full.Full",
    "zero": "unitless.learners.zero.Zero",
    "scinol1": "unitless.learners.scinol.Scinol1",
    "vaw": "unitless.learners.vaw.Vaw",
    "blend": "unitless.blend.blend.Blend",
    "linear_blend": "unitless.blend.blend.LinearBlend",
    # members of the blend
    "newton": "unitless.learners.newton.Newton",
    "ridge": "unitless.learners.newton.Ridge",
    "scinol2": "unitless.learners.scinol.Scinol2",
    "nag": "unitless.learners.nag.Nag",
    "inag": "unitless.learners.nag.Inag",
    "diagonal": "unitless.learners.diagonal.Diagonal",
    "boosted_trees": "unitless.learners.boosted_trees.BoostedTrees",
    "neighbours": "unitless.learners.neighbours.Neighbours",
    "bayes": "unitless.learners.naive_bayes.Bayes",
    "tracker": "unitless.learners.label_tracker.Tracker",
    # baselines: the comparators of the paper
    "ogd": "unitless.baselines.gradient_descent.Ogd",
    "adagrad": "unitless.baselines.gradient_descent.Adagrad",
    "adagrad_da": "unitless.baselines.dual_averaging.AdagradDa",
    "ftrl": "unitless.baselines.gradient_descent.Ftrl",
    "ng": "unitless.baselines.gradient_descent.Ng",
    "snag": "unitless.baselines.gradient_descent.Snag",
    "nda": "unitless.baselines.dual_averaging.Nda",
    "son": "unitless.baselines.sketched_newton.Son",
    "fd_son": "unitless.baselines.sketched_newton.FdSon",
    "oja_son": "unitless.baselines.sketched_newton.OjaSon",
    "ons": "unitless.baselines.full_matrix.Ons",
    "adaptive_normal": "unitless.baselines.dual_averaging.AdaptiveNormal",
    "pistol": "unitless.baselines.coin_betting.Pistol",
    "kt": "unitless.baselines.coin_betting.Kt",
    "coin": "unitless.baselines.coin_betting.Coin",
    "solo": "unitless.baselines.dual_averaging.Solo",
    "dfeg": "unitless.baselines.exponentiated_gradient.Dfeg",
    "reward_doubling": "unitless.baselines.coin_betting.RewardDoubling",
    "minimax": "unitless.baselines.dual_averaging.Minimax",
    "eg": "unitless.baselines.exponentiated_gradient.Eg",
    "second_order_perceptron": "unitless.baselines.full_matrix.SecondOrderPerceptron",
    "arow": "unitless.baselines.full_matrix.Arow",
}
"""Name -> the full path of its class."""

_CLASSES = {path.rpartition(".")[2]: name for name, path in REGISTRY.items()}
__all__ = ["REGISTRY", *_CLASSES, "get"]


def __dir__() -> list[str]:
    return sorted(__all__)


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
    learner: type[Learner] = getattr(import_module(module), class_name)
    return learner

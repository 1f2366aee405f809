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
    "full": "unitless.learners.full.Full",
    "zero": "unitless.learners.zero.Zero",
    "scinol1": "unitless.learners.scinol1.Scinol1",
    "vaw": "unitless.learners.vaw.Vaw",
    "blend": "unitless.blend.blend.Blend",
    # members of the blend
    "newton": "unitless.learners.newton.Newton",
    "ridge": "unitless.learners.ridge.Ridge",
    "scinol2": "unitless.learners.scinol2.Scinol2",
    "nag": "unitless.learners.nag.Nag",
    "inag": "unitless.learners.inag.Inag",
    "diagonal": "unitless.learners.diagonal.Diagonal",
    "bayes": "unitless.learners.naive_bayes.Bayes",
    "tracker": "unitless.learners.label_tracker.Tracker",
    # baselines: the comparators of the paper
    "ogd": "unitless.baselines.ogd.Ogd",
    "adagrad": "unitless.baselines.adagrad.Adagrad",
    "adagrad_da": "unitless.baselines.adagrad_da.AdagradDa",
    "ftrl": "unitless.baselines.ftrl.Ftrl",
    "ng": "unitless.baselines.ng.Ng",
    "snag": "unitless.baselines.snag.Snag",
    "nda": "unitless.baselines.nda.Nda",
    "son": "unitless.baselines.son.Son",
    "fd_son": "unitless.baselines.fd_son.FdSon",
    "oja_son": "unitless.baselines.oja_son.OjaSon",
    "ons": "unitless.baselines.ons.Ons",
    "adaptive_normal": "unitless.baselines.adaptive_normal.AdaptiveNormal",
    "pistol": "unitless.baselines.pistol.Pistol",
    "kt": "unitless.baselines.kt.Kt",
    "coin": "unitless.baselines.coin.Coin",
    "solo": "unitless.baselines.solo.Solo",
    "dfeg": "unitless.baselines.dfeg.Dfeg",
    "reward_doubling": "unitless.baselines.reward_doubling.RewardDoubling",
    "minimax": "unitless.baselines.minimax.Minimax",
    "eg": "unitless.baselines.eg.Eg",
    "second_order_perceptron": "unitless.baselines.second_order_perceptron.SecondOrderPerceptron",
    "arow": "unitless.baselines.arow.Arow",
}
"""Name -> the full path of its class."""

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
    learner: type[Learner] = getattr(import_module(module), class_name)
    return learner

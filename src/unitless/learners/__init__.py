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
    "scinol1": "scinol1.Scinol1",
    "vaw": "vaw.Vaw",
    "blend": "blend.Blend",
    # members of the blend
    "newton": "newton.Newton",
    "ridge": "ridge.Ridge",
    "scinol2": "scinol2.Scinol2",
    "nag": "nag.Nag",
    "inag": "inag.Inag",
    "diagonal": "diagonal.Diagonal",
    "bayes": "bayes.Bayes",
    "tracker": "tracker.Tracker",
    # baselines: the comparators of the paper
    "ogd": "baselines.ogd.Ogd",
    "adagrad": "baselines.adagrad.Adagrad",
    "adagrad_da": "baselines.adagrad_da.AdagradDa",
    "ftrl": "baselines.ftrl.Ftrl",
    "ng": "baselines.ng.Ng",
    "snag": "baselines.snag.Snag",
    "nda": "baselines.nda.Nda",
    "son": "baselines.son.Son",
    "fd_son": "baselines.fd_son.FdSon",
    "oja_son": "baselines.oja_son.OjaSon",
    "ons": "baselines.ons.Ons",
    "adaptive_normal": "baselines.adaptive_normal.AdaptiveNormal",
    "pistol": "baselines.pistol.Pistol",
    "kt": "baselines.kt.Kt",
    "coin": "baselines.coin.Coin",
    "solo": "baselines.solo.Solo",
    "dfeg": "baselines.dfeg.Dfeg",
    "reward_doubling": "baselines.reward_doubling.RewardDoubling",
    "minimax": "baselines.minimax.Minimax",
    "eg": "baselines.eg.Eg",
    "second_order_perceptron": "baselines.second_order_perceptron.SecondOrderPerceptron",
    "arow": "baselines.arow.Arow",
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

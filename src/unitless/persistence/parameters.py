"""Convert learners to a name with parameters, and create fresh learners from these."""

import inspect
import math
from typing import Any

from unitless import learners
from unitless.learners.base import Learner
from unitless.learners.one_vs_rest import OneVsRest

Spec = dict[str, Any]
"""{"name": ..., "parameters": {...}}, and "each": ... for one learner per class."""
ENDLESS = {"inf": math.inf, "-inf": -math.inf}
"""Numbers that JSON cannot represent."""
OLD_NAMES: dict[str, str] = {"one_a_class": OneVsRest.name}
"""Names of learners in files of 0.1.0."""


def parameters_of(learner: Learner) -> dict[str, Any]:
    """The arguments that make a learner like this one.

    >>> from unitless.learners import Coordinate
    >>> parameters_of(Coordinate("hinge", alpha=2.0))
    {'loss': 'hinge', 'alpha': 2.0, 'wealth': 1.0, 'd': None, 'intercept': True}
    """
    given = {name: getattr(learner, name) for name in inspect.signature(type(learner)).parameters}
    if "loss" in given:
        given["loss"] = learner.loss.name
    if "classes" in given and learner.loss.name != "softmax":
        given["classes"] = 0
    return given


def spec_of(learner: Learner) -> Spec:
    """What to save so that `made` makes a fresh learner like this one.

    >>> from unitless.learners import Full
    >>> spec_of(OneVsRest(Full, classes=3))["each"]
    'full'
    """
    if isinstance(learner, OneVsRest):
        own = {"classes": learner.classes, "intercept": learner.intercept, **learner.parameters}
        return {"name": OneVsRest.name, "each": learner.kind.name, "parameters": _plain(own)}
    if learners.REGISTRY.get(learner.name, "").rpartition(".")[2] != type(learner).__name__:
        raise ValueError(f"{type(learner).__name__} is not a registered learner: register it first")
    return {"name": learner.name, "parameters": _plain(parameters_of(learner))}


def _plain(parameters: dict[str, Any]) -> dict[str, Any]:
    endless = {number: text for text, number in ENDLESS.items()}
    return {
        name: endless.get(value, value) if isinstance(value, float) else value
        for name, value in parameters.items()
    }


def made(spec: Spec, size: int) -> Learner:
    """A fresh learner; `size` is the length of the file, which bounds the size of the parameters.

    >>> made({"name": "full", "parameters": {"loss": "hinge"}}, 1000).loss.name
    'hinge'
    """
    name = str(OLD_NAMES.get(spec["name"], spec["name"]))
    given = {key: ENDLESS.get(value, value) for key, value in spec["parameters"].items()}
    _refuse_large(name, given, size)
    if name == OneVsRest.name:
        each = learners.get(spec["each"])
        _refuse_large(spec["each"], given, size)
        return OneVsRest(each, **given)
    return learners.get(name)(**given)


def _refuse_large(name: str, given: dict[str, Any], size: int) -> None:
    """A learner is never larger than the file that holds all of its arrays."""
    at_least = {"classes": 8 * (12 if name == "blend" else 1), "m": 8}
    if name == OneVsRest.name:
        at_least["classes"] = 200  # names and bytes of each one's arrays
    for parameter, bytes_each in at_least.items():
        count = given.get(parameter, 0)
        square = parameter == "m" and name == "fd_son"
        if isinstance(count, float | int) and bytes_each * count * (count if square else 1) > size:
            raise ValueError(f"{parameter} = {count} needs a longer file than this one")

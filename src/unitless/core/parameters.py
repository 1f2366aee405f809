"""Declared parameters of learners.

``parameters = (Parameter("rate", 1.0, "the learning rate"),)`` in the body of a class is enough:
the constructor, its signature, its checks and the documentation follow from it.
"""

import math
from collections.abc import Callable
from inspect import Parameter as Argument
from inspect import Signature, signature
from typing import Any, NamedTuple

ALPHA_0 = 1.1148186546427592
"""The smallest a with x + exp(-x) <= exp(a x^2 / 2) for all x: all that the paper's lemma needs."""
AT_LEAST_ALPHA_0 = f"finite number >= {ALPHA_0}"

RANGES: dict[str, Callable[[Any], bool]] = {
    "finite number > 0": lambda value: 0 < value < math.inf,
    "number > 0": lambda value: value > 0,
    "finite number >= 0": lambda value: 0 <= value < math.inf,
    "number from 0 to 1": lambda value: 0 <= value <= 1,
    "whole number >= 0": lambda value: value >= 0 and value % 1 == 0,
    "whole number >= 1": lambda value: value >= 1 and value % 1 == 0,
    "number > 0, at most 1": lambda value: 0 < value <= 1,
    "whole number >= 2": lambda value: value >= 2 and value % 1 == 0,
    "whole number >= 1, or None": lambda value: value is None or value >= 1,
    "finite number > 9/8": lambda value: 9 / 8 < value < math.inf,
    AT_LEAST_ALPHA_0: lambda value: ALPHA_0 <= value < math.inf,
}


class Parameter(NamedTuple):
    """The name, the default, the meaning and the range of a parameter."""

    name: str
    default: float | None
    meaning: str
    kind: str = "finite number > 0"

    def checked(self, value: Any) -> Any:
        """The value as the learner keeps it; refuse one out of range."""
        if not RANGES[self.kind](value):
            raise ValueError(f"{self.name} = {value}: it is a {self.kind} ({self.meaning})")
        if value is None:
            return None
        return int(value) if self.kind.startswith("whole") else float(value)


class SignatureOfParameters:
    """The `__signature__` of a learner class, from its declared parameters."""

    def __get__(self, learner: object, kind: Any) -> Signature:
        own = kind.__init__
        if hasattr(own, "__code__"):  # a constructor written in Python
            given = list(signature(own).parameters.values())[1:]
            return Signature(given)
        arguments = [Argument("loss", Argument.POSITIONAL_OR_KEYWORD, default=kind.default_loss)]
        defaults = {parameter.name: parameter.default for parameter in kind.parameters}
        defaults["intercept"] = True
        if kind.has_classes:
            defaults["classes"] = 0
        arguments += [
            Argument(name, Argument.KEYWORD_ONLY, default=default)
            for name, default in defaults.items()
        ]
        return Signature(arguments)


def parameters_of(learner: Any) -> dict[str, Any]:
    """The arguments that make a learner like this one.

    >>> from unitless.learners import Coordinate
    >>> parameters_of(Coordinate("hinge", alpha=2.0))
    {'loss': 'hinge', 'alpha': 2.0, 'wealth': 1.0, 'd': None, 'intercept': True}
    """
    given = {name: getattr(learner, name) for name in signature(type(learner)).parameters}
    if "loss" in given:
        given["loss"] = learner.loss.name
    if "classes" in given and learner.loss.name != "softmax":
        given["classes"] = 0
    return given

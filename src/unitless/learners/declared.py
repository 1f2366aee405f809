"""Declared parameters of learners.

A line ``rate: float = parameter(1.0, "the learning rate")`` in the body of a class is enough: the
constructor, its signature, its checks and the docstring follow from it.
"""

import math
from inspect import Parameter as Argument
from inspect import Signature, signature
from typing import Any, ClassVar, NamedTuple

ALPHA_0 = 1.1148186546427592
"""The smallest a with x + exp(-x) <= exp(a x^2 / 2) for all x: all that the paper's lemma needs."""
AT_LEAST_ALPHA_0 = f"finite number >= {ALPHA_0}"

RANGES: dict[str, Any] = {
    "finite number > 0": lambda value: 0 < value < math.inf,
    "number > 0": lambda value: value > 0,
    "finite number >= 0": lambda value: 0 <= value < math.inf,
    "number from 0 to 1": lambda value: 0 <= value <= 1,
    "whole number >= 1": lambda value: value >= 1 and value % 1 == 0,
    "number > 0, at most 1": lambda value: 0 < value <= 1,
    "whole number >= 2": lambda value: value >= 2 and value % 1 == 0,
    "whole number >= 1, or None": lambda value: value is None or value >= 1,
    "finite number > 9/8": lambda value: 9 / 8 < value < math.inf,
    AT_LEAST_ALPHA_0: lambda value: ALPHA_0 <= value < math.inf,
}


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


class Parameter(NamedTuple):
    """The default, the meaning and the range of a parameter."""

    default: float | None
    meaning: str
    kind: str = "finite number > 0"


parameter: Any = Parameter
"""Declares a parameter in the body of a class, where its type is that of the value."""


class Declared:
    """Base of learners with declared parameters, beside `Coordinatewise` or `Learner`."""

    declared: ClassVar[dict[str, Parameter]] = {}
    has_classes: ClassVar[bool] = True
    """Whether it takes the softmax loss, with a number of classes."""
    default_loss: ClassVar[str] = "logistic"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Parameter)}
        cls.declared = cls.declared | own
        defaults: dict[str, Any] = {name: value.default for name, value in cls.declared.items()}
        defaults["intercept"] = True
        if cls.has_classes:
            defaults["classes"] = 0
        arguments = [Argument("loss", Argument.POSITIONAL_OR_KEYWORD, default=cls.default_loss)]
        for name, value in defaults.items():
            arguments.append(Argument(name, Argument.KEYWORD_ONLY, default=value))
        cls.__signature__ = Signature(arguments)  # type: ignore[attr-defined]
        if cls.declared:  # a section after the first paragraph of the docstring
            summary, _, rest = (cls.__doc__ or "").partition("\n\n")
            lines = [
                f"    {name} : {p.kind}\n        {p.meaning}." for name, p in cls.declared.items()
            ]
            section = "\n".join(["    Parameters", "    ----------", *lines])
            cls.__doc__ = f"{summary}\n\n{section}\n\n{rest}"

    def __init__(self, *loss: Any, **given: Any) -> None:
        bound = self.__signature__.bind(*loss, **given)  # type: ignore[attr-defined]
        bound.apply_defaults()
        values = {name: bound.arguments.pop(name) for name in self.declared}
        super().__init__(**bound.arguments)
        for name, value in values.items():
            _, meaning, kind = self.declared[name]
            if not RANGES[kind](value):
                raise ValueError(f"{name} = {value}: it is a {kind} ({meaning})")
            if value is not None:
                value = int(value) if kind.startswith("whole") else float(value)
            setattr(self, name, value)
        self._prepare()  # type: ignore[attr-defined]

    def _parameters(self) -> tuple[float, ...]:
        """The values, as kernels take them: in the order of their declaration."""
        return tuple(float(getattr(self, name)) for name in self.declared)

"""Declare the parameters of a baseline in its class.

A line ``rate: float = positive(1.0, "eta, the learning rate")`` in the class body is enough: the
constructor, its signature, its checks, the docstring and `_parameters` follow from it.
"""

import math
from inspect import Parameter as Argument
from inspect import Signature
from typing import Any, ClassVar, NamedTuple


class Parameter(NamedTuple):
    """The default, the meaning and the range of a parameter."""

    default: float
    meaning: str
    kind: str

    def checked(self, name: str, value: float) -> float:
        """The value as a float (or int); anything else is an error."""
        if self.kind == "whole number >= 1":
            good = value >= 1 and value == int(value)
        elif self.kind == "finite number >= 0":
            good = 0 <= value < math.inf
        else:
            good = value > 0 and (value < math.inf or self.kind == "number > 0")
        if not good:
            raise ValueError(f"{name} = {value}: it is a {self.kind}")
        return int(value) if self.kind.startswith("whole") else float(value)


def positive(default: float, meaning: str, infinite: bool = False) -> Any:
    """A number > 0, finite unless said otherwise."""
    return Parameter(default, meaning, "number > 0" if infinite else "finite number > 0")


def nonnegative(default: float, meaning: str) -> Any:
    """A finite number >= 0."""
    return Parameter(default, meaning, "finite number >= 0")


def count(default: int, meaning: str) -> Any:
    """A whole number >= 1."""
    return Parameter(default, meaning, "whole number >= 1")


class Declared:
    """Base of the baselines, which are made from declared parameters."""

    declared: ClassVar[dict[str, Parameter]] = {}
    has_classes: ClassVar[bool] = True
    """Whether it takes the softmax loss, with a number of classes."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Parameter)}
        cls.declared = cls.declared | own
        defaults: dict[str, Any] = {name: value.default for name, value in cls.declared.items()}
        defaults["intercept"] = True
        if cls.has_classes:
            defaults["classes"] = 0
        arguments = [Argument("loss", Argument.POSITIONAL_OR_KEYWORD, default="logistic")]
        for name, value in defaults.items():
            arguments.append(Argument(name, Argument.KEYWORD_ONLY, default=value))
        cls.__signature__ = Signature(arguments)  # type: ignore[attr-defined]
        cls.__doc__ = _with_parameters(cls.__doc__ or "", cls.declared)

    def __init__(self, *loss: Any, **given: Any) -> None:
        bound = self.__signature__.bind(*loss, **given)  # type: ignore[attr-defined]
        bound.apply_defaults()
        values = {name: bound.arguments.pop(name) for name in self.declared}
        super().__init__(**bound.arguments)
        for name, value in values.items():
            setattr(self, name, self.declared[name].checked(name, value))
        self._prepare()  # type: ignore[attr-defined]

    def _parameters(self) -> tuple[float, ...]:
        """The values, as kernels take them: in the order of their declaration."""
        return tuple(float(getattr(self, name)) for name in self.declared)


def _with_parameters(text: str, declared: dict[str, Parameter]) -> str:
    """A docstring with the section on parameters after its first paragraph."""
    summary, _, rest = text.partition("\n\n")
    lines = [f"    {name} : {p.kind}\n        {p.meaning}." for name, p in declared.items()]
    section = "    Parameters\n    ----------\n" + "\n".join(lines)
    return f"{summary}\n\n{section}\n\n{rest}" if lines else text
